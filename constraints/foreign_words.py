"""What other libraries call things, and how the same is said here. Only data: `keywords.answer` reads it.

Words that share an answer stand in one key, with blanks between them; `{}` in an answer is the word itself.
"""

_FROM_FILES = {"package_dirs": "packages=[...]", "root_joint": "base=Base.FREE_FLYER"}
_PICTURES = {"tip": "drawing=Drawing(tips=[...])", "color": "drawing=Drawing(colour=...)"}
_PLOTTED = "`constraints.pictures.plot_path(path)`"
_ANIMATED = "`constraints.pictures.animate(path)`"
_SHOWN = "`constraints.pictures.show(path)`, in a browser"
_SAVED = "`numpy.save(file, path.samples)`; pickle keeps the whole path"
_RESOLUTION = "`resolution` [m]: steps follow from how far solids are apart, so there are no limits of them"
_REPLACE = "`rhs = problem.rhs.replace(name, point)` and `project(q, rhs)`"
_MOVING = "of a motion, `robot.at(q, v)`"
_ROWS = {
    "weight": "Implicit(..., scale=) scales rows, and levels of a Problem set priorities",
    "gain": "Implicit(..., scale=) scales rows",
    "priority": "levels of a Problem set priorities",
    "tolerance tol": "Options(threshold=...) of the projector",
}
_REACHED = {
    "qref q_ref q_nominal q_near reference_configuration": "use near=",
    "link end_effector end_link tip tcp tool body frame_name": "use frame=",
    "mask we orientation_mode no_position": "use Implicit.equal(Pose(robot, frame), target, mask=...), see the example "
    "on the page docs/howto/reach.md",
    "frozen locked fixed": "use joints=, the joints that may move",
    "base root base_link in_frame relative_to": "use reference=",
    "weights": "use Problem(..., weights=), with the constraints of `result.problem`",
    "bounds": "use robot.with_bounds({...})",
    "constraints": "use project(robot, [...], start)",
}
_STARTS = "q q0 q_init qinit q_start initial_position seed_state guess"
_TARGETS = "pose goal T Tep target_pose target_frame position"

FOREIGN_WORDS: dict[str, dict[str, dict[str, str]]] = {
    "constraints.robot": {
        "Robot.from_urdf": _FROM_FILES,
        "Robot.with_bounds": {
            "": "give bounds by joint, {'elbow': (lower, upper)}, or all at once, Bounds(robot.space, lower, upper)"
        },
        "Robot.configuration": {"": "give values by joint, {'elbow': 1.0}; from two lists: dict(zip(names, values))"},
        "Robot.velocity": {"": "give numbers by joint, {'elbow': 1.0}; of a frame: robot.at(q, v).velocity(frame)"},
        "Robot.plot Robot.animate": _PICTURES,
        "Robot": {
            "fk forward_kinematics frame_placement placement pose": "`robot.at(q).placement(frame)`, of a posture",
            "position": "`robot.at(q).placement(frame).translation`, of a posture",
            "jacobian frame_jacobian": "`robot.at(q).jacobian(frame)`, of a posture",
            "center_of_mass com": "`robot.at(q).center_of_mass()`, of a posture",
            "mass_matrix": "`robot.at(q, v).mass_matrix()`, of a motion",
            "inverse_kinematics ik": "`project(robot, [Implicit.equal(Pose(robot, frame), target)], q)`",
            "addFrame add_frame": "another robot, `with_frame(name, on, placement)`",
            "data createData": "`robot.model.createData()`, for pinocchio; `robot.at(q)` has its own",
            "collision_model geometry": "`CollisionModel(robot, urdfs=path)`",
            "q0": "`neutral`, or `reference(name)`",
            "home": "`reference('home')`, if the model has this posture",
            "dof": "`nv`",
            "sample": "`random(rng)`",
            "lower upper": "`bounds.{}`",
            "joint_limits": "`bounds`",
        },
        "description.Drawn": {
            "draw plot_robot": "`plot(q)`; in a browser, `constraints.pictures.show(robot, q)`",
            "show display visualize view viewer viz": "`constraints.pictures.show(robot, q)`, in a browser; `plot(q)` "
            "draws a figure",
        },
        "space.RobotSpace": {"distance": "`numpy.linalg.norm(space.difference(q0, q1))`"},
        "Posture": {
            "v": f"`v` {_MOVING}",
            "velocity twist": f"`velocity(frame)` {_MOVING}",
            "acceleration drift_acceleration": f"`drift_acceleration(frame)` {_MOVING}",
            "mass_matrix bias_force": f"`{{}}()` {_MOVING}",
            "pose fk forward_kinematics": "`placement(frame)`",
            "position translation": "`placement(frame).translation`",
            "rotation orientation": "`placement(frame).rotation`",
            "J frame_jacobian": "`jacobian(frame)`",
            "com": "`center_of_mass()`",
            "frame_names": "`robot.frame_names`",
            "plot draw show display": "`robot.plot(posture.q)`, or `constraints.pictures.show`",
        },
        "Posture.placement": {
            "": "the pose of one frame seen from another is the value of Pose(robot, frame, reference=other)"
        },
        "Posture.jacobian": {
            "": "its rows are in the axes of the frame; multiply them by `placement(frame).rotation` for world axes"
        },
        "Motion": {
            "twist": "`velocity(frame)`",
            "acceleration": "`drift_acceleration(frame)`, at zero joint acceleration",
            "M mass": "`mass_matrix()`",
            "nle bias": "`bias_force()`",
            "placement jacobian": "`posture.{}(frame)`",
            "center_of_mass": "`posture.center_of_mass()`",
        },
    },
    "constraints.functions": {},
    "constraints.rows": {
        "double_support explicit_contact explicit_relative_pose linear_coupling locked_joint mimic_constraints": {},
        "RowOwner": {
            "set_target set_rhs set_right_hand_side set_value update_target right_hand_side": f"{_REPLACE}: "
            "constraints are immutable"
        },
        "Implicit.zero": _ROWS | {"": "for a right-hand side use Implicit.equal(function, rhs)"},
        "Implicit.equal Implicit.above Implicit.below Implicit.between": _ROWS,
        "RightHandSide.replace": {
            "": "one constraint per call: rhs.replace(name, point)",
            "*": "for a constraint with this name use rhs.replace('{}', point)",
        },
    },
    "constraints.problem": {
        "Problem.__init__": {
            "limits": "bounds=",
            "costs": "weights=",
            "priorities": "give a list of constraints for each level",
        },
        "Problem": {
            "add add_constraint append": "`problem | Problem(robot, [b])`, or make a new one, `Problem(robot, [a, b])`"
            ": problems are immutable",
            "+": "a | b, or a.merged(b), has the constraints of both",
            "remove": "a new one, `Problem(robot, [a])`: problems are immutable",
            "project solve apply": "`Projector(problem).project(q)`",
            "set_rhs": _REPLACE,
        },
    },
    "constraints.solvers": {
        "Options.__init__": {"": "options are given by name, Options(max_iterations=1000)"},
        "Projector.__init__ Projector.project Projector.project_batch project": {},
        "reach": {_STARTS: "use start=", _TARGETS: "use target="} | _REACHED,
        "reach_batch": {_STARTS: "use starts=", _TARGETS: "use targets="} | _REACHED,
        "Projector": {
            "apply solve run projected optimize": "`project(q)`",
            "solve_batch project_many map": "`project_batch(Q)`",
            "step": "`one_step(q)`",
            "sample": "`project(problem.robot.random(rng))`",
            "rhs": "`problem.rhs`; give others to `project(q, rhs)`",
        },
        "result.Verdict": {
            "x solution configuration": "`q`",
            "converged": "`success`",
            "message": "`status`",
            "fun cost": "`residual`",
            "nit": "`iterations`",
            "samples": "`or_raise().samples`, of its path",
        },
        "Projection": {"save": "`report(path)`"},
        "ProjectionBatch": {"diagnose": "`batch[i].diagnose()`, of one row"},
    },
    "constraints.loops": {
        "ConstraintSet.__init__ to_joint": {},
        "Hinge": {
            "revolute continuous rotational hinge": "`Hinge.pin(axis)`",
            "prismatic sliding": "`Hinge.slider(axis)`",
            "fixed weld": "`Hinge.locked()`",
            "spherical": "`Hinge.ball()`",
            "screw": "`Hinge.helical(axis, pitch)`",
            "cylinder": "`Hinge.cylindrical(axis)`",
            "cardan": "`Hinge.universal(first, second)`",
            "floating": "`Hinge.free()`",
        },
        "Hinge.pin Hinge.slider Hinge.helical Hinge.cylindrical Hinge.two_sliders Hinge.planar": {
            "": "an axis is one argument, [0, 0, 1] or 'z'"
        },
        "Assembly": {"diagnose": "`assembly.projection.diagnose()`"},
        "assemble_position assemble_velocity": {},
    },
    "constraints.dynamics": {
        "impact constrained_system dynamics_derivatives": {},
        "simulate": {"tau": "forces=lambda motion, t: tau", "external": "what acts is forces=[...]"},
        "forward_dynamics inverse_dynamics": {"forces": "what acts is external=[...]"},
    },
    "constraints.actions": {
        "CostStack.__init__ ConstraintStack.__init__ ImpulseDynamics.__init__ QuasiStatic.__init__": {},
        "SemiImplicitEuler.__init__": {},
        "ContactForwardDynamics.__init__": {"forces laws springs": "external="},
        "Actuators.__init__": {"": "Actuators.joints(robot, names), full, floating_base, matrix or function"},
    },
    "constraints.reduced": {
        "MinimalCoordinates": {
            "u qu nu nqu": "`independent`, names, or `partition.independent`, columns",
            "c qc nc nqc": "`driven`, names, or `partition.driven`, columns",
            "v qv nqv": "`dependent`, names, or `partition.dependent`, columns",
            "h hu rows": "`partition.rows`",
            "hv": "`redundant`, names, or `partition.redundant`, rows",
            "robot": "`constraint_set.robot`",
            "B lu velocity acceleration": "`coordinates.at(q, v).{}`, of a closed state",
        },
        "MinimalCoordinates.close MinimalCoordinates.step MinimalCoordinates.at minimal_coordinates": {},
        "reduced_system reduced_residual reduced_forward_dynamics reduced_inverse_dynamics": {},
        "sweep branches modes Mode.configurations": {},
        "equilibrium linearisation": {"forces": "what acts is external=[...]"},
    },
    "constraints.models": {"load": _FROM_FILES, "Mechanism.minimal_coordinates": {}},
    "constraints.paths": {
        "interpolate": {
            "": "q0 and q1 are one configuration each, Path.through(problem, Q) takes rows; "
            "options are named: max_angle=, max_length=, options=Options.local()"
        },
        "Interpolation": {
            "at eval evaluate": "of its path, `or_raise()(time)`",
            "plot": f"of its path, `or_raise()`: {_PLOTTED}",
            "animate": f"of its path, `or_raise()`: {_ANIMATED}",
            "show": f"of its path, `or_raise()`: {_SHOWN}",
            "save": f"of its path, `or_raise()`: {_SAVED}",
            "duration start end samples times pieces max_error max_jump reversed lasting": "of its path, "
            "`or_raise().{}`",
        },
        "Path": {
            "at eval evaluate value q sample position configuration interpolate": "`path(time)`, the configuration at "
            "a time in seconds",
            "waypoints configurations": "`samples`",
            "reverse": "`reversed()`",
            "concatenate append": "`path + other`",
            "plot draw": _PLOTTED,
            "animate": _ANIMATED,
            "show display": _SHOWN,
            "save": _SAVED,
            "success or_raise": "an attribute of the interpolation; a Path is always whole",
        },
    },
    "constraints.collisions": {
        "CollisionModel.__init__": {},
        "CollisionModel": {
            "in_collision is_in_collision is_colliding check_collision check_collisions": "`not is_free(q)`; "
            "`collisions(q)` names the pairs",
            "is_valid is_collision_free": "`is_free(q)`; of a path, `first_collision(path) is None`",
            "sample": "`random_free(rng)`",
            "attach hold grasp": "`attached(shape, frame)`, a new model",
            "add add_shape add_obstacle with_obstacle": "`added(shape)`, a new model",
            "remove detach delete without_obstacle": "`removed(name)`, a new model",
            "move place set_placement": "`moved({name: placement})`, a new model",
        },
        "CollisionModel.first_collision": {"": _RESOLUTION, "max_angle max_length": _RESOLUTION},
    },
    "constraints.manipulation": {
        "ConstraintGraph.__init__ grasp pregrasp placement preplacement read_semantics": {},
        "ConstraintGraph": {
            "generateTargetConfig": "`target(transition, q_start, q)`",
            "applyConstraints applyNodeConstraints applyStateConstraints": "`Projector(graph.problem_of(state))"
            ".project(q)`",
            "applyEdgeLeafConstraints applyLeafConstraints": "`problem, rhs = graph.path_problem(transition, q_leaf)`, "
            "then `Projector(problem).project(q, rhs)`",
            "getConfigErrorForNode getConfigErrorForState getConfigErrorForEdge getConfigErrorForTransition "
            "getConfigErrorForEdgeLeaf": "`errors(q, q_start)`",
            "addConstraints addNumericalConstraintsToGraph": "`ConstraintGraph(..., constraints=[...])`: a graph is "
            "made again from its parts",
            "getState": "`state_of(q)`",
            "getTransition": "`transition(name)`",
            "initialize": "nothing: a graph is ready when it is made",
            "setSecurityMarginForEdge": "`ConstraintGraph(..., margins=SecurityMargins(default, pairs))`, of the "
            "whole graph",
        },
        "ConstraintGraphFactory": {
            "sample states transitions state transition transitions_from state_of path_problem": "`factory.generate()"
            ".{}`, of the graph"
        },
        "TargetConfiguration": {"diagnose": "`target.projections[-1].diagnose()`"},
    },
    "constraints.planning": {
        "plan connect follow shorten straight_line": {},
        "walk": {
            "": "walk(graph, q_start, transitions, rng=numpy.random.default_rng(0))",
            "seconds": "limits=Limits(seconds=5.0)",
            "tries patience": "limits=Limits(sequences=100)",
            "detours": "nothing: motions are searched",
        },
        "timed": {
            "": "timed(path, velocity, acceleration): limits of nv numbers, one number for all, or by joint",
            "max_velocity": "`velocity`",
            "max_acceleration": "`acceleration`",
            "path_constraints": "of the path",
        },
        "Trajectory": {
            "at eval evaluate position velocity acceleration": "`trajectory(time)`, with its `q`, `v` and `a`",
            "samples points waypoints resample": "`sample(rate)`",
            "to_ros to_msg joint_trajectory": "`as_joint_trajectory(rate)`",
            "times": "`sample(rate).times`",
            "success": "an exception says that a path could not be timed; a Trajectory is always whole",
        },
    },
    "constraints.pictures.configurations": {"plot_robot plot_configurations": _PICTURES},
    "constraints.pictures.paths": {"plot_path animate": _PICTURES},
    "constraints.pictures.browser": {"render": {}, "show": {"host": "page=PageOptions(address=...)"}},
}
"""Room -> what it has -> words -> what to say.

Words of a class, or of a base class in one of its modules, are attributes that it does not have, and "+"; those of a
function or method are arguments. There "" is said where arguments are too many or too few (by default which options are
named), and "*" of any other word.
"""

OPTIONS = {
    "tolerance tol eps epsilon epsabs atol rtol ftol gtol xtol abstol reltol precision accuracy residual "
    "errorthreshold errortolerance solvertolerance constrainttolerance convergencethreshold stopthreshold "
    "nrerr": "threshold",
    "maxiter maxiters maxiteration maxiterations maxit iter iters iterations niter nit itmax imax itermax numiter "
    "numiters numiterations numberofiterations iterationlimit maxnriter maxnfev maxfev nfev maxfun maxeval maxsteps "
    "nsteps budget": "max_iterations",
    "restart numrestarts nrestarts maxrestarts multistart multistarts retries retry tries ntries attempts nattempts "
    "numseeds randomrestarts searches nsearches": "restarts",
    "randomseed rng rngseed randomstate": "seed",
    "wrapangles wraptopi wrapping normalizeangles": "wrap",
    "verbose verbosity history log debug disp callback fulloutput keepiterates returnall": "trace",
    "stepsize steplength alpha dt gain learningrate linesearch linesearchtype globalization": "step_control",
    "lambda lambda_ lamb lambd mu lm lmdamping lmlambda levenberg regularization regularisation dampingfactor "
    "dampingcoefficient wn": "damping",
    "maxstep maxstepsize steplimit maxdelta maxdq maxmove trustradius trustregion stepcap velocitylimit": "cap",
    "patience stallcountlimit": "patience_count",
    "closest near minimalmotion mindistance minimumnorm qref qnominal reference nullspace": "nearest",
    "optimizelast lastisoptional lastisoptionallevel lastoptional secondary": "optimise_last",
    "refinementiterations maxrefineiterations": "refine_iterations",
    "timeout timelimit timelimits maxtime time maxseconds maxwalltime walltime deadline maxcputime": "seconds",
    "candidates nsamples numsamples samples": "screen",
}
"""Options elsewhere, in small letters without underscores -> the option here."""

OPTION_CALLS = {
    "Projector": "Projector(problem, {})",
    "Projector.project": "Projector(problem, {}).project(q)",
    "Projector.project_batch": "Projector(problem, {}).project_batch(Q)",
    "project": "project(robot, constraints, q, {})",
    "reach": "reach(robot, frame, target, options={})",
    "reach_batch": "reach_batch(robot, frame, targets, options={})",
}
"""What takes no options by their names -> how they are given to it."""

STATUSES = {
    "SUCCESS SUCCEEDED SOLVED OK OPTIMAL": "CONVERGED",
    "INFEASIBLE": "STATIONARY",
    "ERROR_INCREASED": "STALLED",
    "MAX_ITERATION_REACHED": "MAX_ITERATIONS",
}
"""Members of statuses elsewhere -> the member here."""
