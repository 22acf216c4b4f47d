"""Problems, options, projectors, inverse kinematics, steps for other optimisers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pinocchio as pin
from bad_values import Good, at_least_zero, free, key, number, placement, point, positive, thing, typo, vector
from robots import arm, two_arms

import constraints as lc
from constraints import interop
from constraints.solvers import Sensitivity, diagnose
from liegroups import SE3, Rn, Segments

from .things import HAND, HOME, MOVING, OF_SPACE, POSE, PROBLEM, SPACE, UP, projector, twin

ARM, RHS = free(arm()), vector(PROBLEM.constraints.rhs_size, PROBLEM.rhs.vector)
NEUTRAL, WHICH = free(arm().neutral), [key("hand", "up"), 2, -3, 1.5, MOVING]


def of_problems(good: Good) -> None:
    call = good(lc.Problem, arm(), [HAND], bounds=arm().bounds, weights=free(np.ones(7)), frozen=free(["elbow"]))
    good(lc.Problem, free(arm()), free([[HAND], [UP]]), optional_last=True)
    call.blamed(where="space of a problem", constraints="constraint")
    call.but("constraints of a problem", constraints=[3, None, print, "x", {}, HAND])
    call.but("constraint 1", constraints=[thing("list Sequence").within(lambda x: [HAND, x])])
    masked = lc.Implicit.zero(POSE, mask=[False] * 6)
    call.but("row", constraints=[[], [[]], [[], []], (), [masked]])
    call.but("hand", constraints=[[HAND, HAND], [[HAND], [HAND]]], where=[two_arms(), twin()])
    call.but("whole", constraints=[[*OF_SPACE.constraints]])
    call.but("bounds", bounds=[two_arms().bounds, lc.Bounds.none(Rn(3))])
    costs = ["x", -1.0, np.nan, np.inf, [1.0, 2.0], None, {}]
    call.but(("weights", "joint"), weights=[vector(7)]).but("weights", weights=[{"elbow": cost} for cost in costs])
    call.but("joint", weights=[key(*arm().joint_names).within(lambda x: {x: 1.0})])
    frozen = ["elbow", 3, None, 2.5, print, [3], [None], Segments.coordinates(Rn(9), [8])]
    call.but(("frozen", "joint"), frozen=[*frozen, key(*arm().joint_names).within(lambda x: [x])])
    call = good(PROBLEM.merged, PROBLEM).blamed(others0="problem").but("problem", others0=[OF_SPACE])
    call.but("two robots", others0=[lc.Problem(twin(), [lc.Implicit.zero(lc.Position(twin(), "tool"))])])
    call = good(PROBLEM.rhs_from_parts, PROBLEM.rhs).blamed(parts0="part").but("part", parts0=[OF_SPACE.rhs])
    low, high = (lc.Problem(arm(), [HAND], arm().bounds.replace({"elbow": box})) for box in ((0.0, 0.1), (0.2, 0.3)))
    good(low.merged, free(low)).but("elbow", others0=[high])
    dear, dearer = (lc.Problem(arm(), [HAND], weights={"elbow": cost}) for cost in (2.0, 3.0))
    good(dear.merged, free(dear)).but("elbow", others0=[dearer])


def of_questions(good: Good) -> None:
    for problem in (PROBLEM, OF_SPACE):
        of_values = (problem.residual, problem.jacobian, problem.rows, problem.error, problem.is_satisfied)
        for of_point in (
            *of_values,
            problem.tangent_basis,
            problem.dimension,
            problem.rhs_from,
            problem.at,
            problem.check,
        ):
            good(of_point, point(problem.space))
    good(PROBLEM.project_tangent, NEUTRAL, vector(7)).blamed(v="velocity")
    for of_one in (PROBLEM.error, PROBLEM.is_satisfied):
        good(of_one, NEUTRAL, free("hand")).but("constraint", constraint=WHICH)
    call = good(PROBLEM.is_satisfied, NEUTRAL, threshold=free(1e-6))
    call.but("threshold", threshold=["x", None, {}, [1.0, 2.0], np.nan, print, 1j, -1.0])
    good(PROBLEM.residual, NEUTRAL, RHS)
    good(lc.Problem(arm(), [MOVING]).rhs_at, number(0.5)).blamed(t="time")
    good(PROBLEM.at, NEUTRAL, thing("None Workspace"))
    call = good(PROBLEM.plot_dependencies, free(None), ax=thing("None")).but("path", path=[3, [1], {}, print, 1.5])


def of_options(good: Good) -> None:
    above_zero = dict.fromkeys(("threshold", "cap", "stall_ratio", "patience_ratio"), positive(0.01))
    whole = ("max_iterations", "seed", "saturating_passes", "stall_count", "patience_count", "restart_table", "screen")
    flags = dict.fromkeys(("restarts", "wrap", "trace"), True)
    for make in (lc.Options, lc.Options.local):
        call = good(make, damping=at_least_zero(), **above_zero, **dict.fromkeys(whole, 3), **flags)
        call.blamed(**{name: f"'{name}'" for name in call.good})
    for make in (lc.Options, lc.Options.local, partial(replace, lc.Options())):
        call = good(make)
        for wrong in ("thresold", "max_iteration", "Seed", "restart", "wraps", "tolerance", "maxiter"):
            call.given(wrong, **{wrong: 1})


def of_projection(good: Good) -> None:
    good(lc.Projector, PROBLEM, lc.Options(), thing("None", "readable"))
    project, size = projector().project, PROBLEM.constraints.rhs_size
    good(project, vector(7), RHS)
    good(lc.Projector(OF_SPACE).project, point(SPACE))
    good(project, NEUTRAL).given("nearest=True", near=arm().neutral)
    good(lc.Projector(PROBLEM, lc.Options(nearest=True)).project, NEUTRAL, near=vector(7))
    Q_good = np.zeros((3, 7))
    call = good(projector().project_batch, free(Q_good), free(None), thing("None"), chunk=2)
    call.but("Q", Q=[Q_good[0], Q_good[None], Q_good[:, :-1], thing("ndarray")])
    call.but("row 1 of Q", Q=[np.where(np.arange(21).reshape(3, 7) == at, bad, 0.0)
                              for at in range(7, 14) for bad in (np.nan, np.inf, -np.inf)])  # fmt: skip
    of_four = vector(size).within(lambda x: [x] * 4)
    call.but(("right-hand side", "of rhs"), rhs=[vector(size), of_four, [OF_SPACE.rhs] * 3, [PROBLEM.rhs] * 2])
    call.but("chunk", chunk=[0, 2.0]).but("progress", progress=[3, "bar", [], {}, 0.5, Q_good])
    result = project(HOME)
    good(diagnose, result, iterations=3, trials=3, seed=0)
    good(result.diagnose, iterations=3, trials=3, seed=0)
    good(result.error, free("hand")).but("constraint", constraint=WHICH)
    hand = lc.Problem(arm(), [lc.Implicit.equal(POSE, name="hand")])
    reached = lc.Projector(hand).project(HOME, hand.rhs_from(HOME)).or_raise()
    good(Sensitivity, reached)
    sensitivity = reached.sensitivity()
    good(sensitivity.rhs_of, free("hand")).but("constraint", constraint=[key("hand"), 2, -3, 1.5, MOVING])
    call = good(sensitivity.parameter, free(lambda value: hand), free(1.0))
    call.but("problem_at", problem_at=[thing("Callable"), type, thing().within(lambda x: lambda value: x)])
    call.but("other parameters", problem_at=[lambda value: OF_SPACE])
    wrong = ["one", None, [np.nan], np.zeros((2, 2)), [True], {}, [[1.0], [2.0, 3.0]], np.inf]
    call.but("value of a parameter", value=wrong)
    call = good(lc.project, arm(), free([HAND]), vector(7), lc.Options()).blamed(where="space of a problem")
    call.but("constraint", constraints=[3, None, HAND, ["x"], [3]])


def of_reach(good: Good) -> None:
    at, tool, posture = [0.4, 0.1, 0.3], free("tool"), "reference posture"
    call = good(lc.reach, arm(), typo("tool"), free(at), options=lc.Options(), joints=["elbow"])
    wrong = [[np.nan, 0.0, 0.3], [0.0] * 6 + [np.inf], np.full((4, 4), np.nan), thing("ndarray")]
    wrong += [*map(np.zeros, ((0,), 2, 5, 6, 8, (3, 1), (2, 7), (4, 3)))]
    call.blamed(robot="robot of reach").but("target of reach", target=wrong)
    call = good(lc.reach, ARM, tool, free(at), start=vector(7), near=vector(7), reference=placement())
    call.blamed(start=("start", posture), near=("near", posture), reference="reference of reach")
    points = np.tile(at, (4, 1))
    call = good(lc.reach_batch, ARM, tool, free(points), executor=thing("None"))
    wrong = [*map(np.zeros, ((0,), 2, 5, 6, 8, (5, 4), (2, 6), (2, 3, 4))), thing("ndarray")]
    call.but("targets of reach_batch", targets=wrong)
    for bad in (np.nan, np.inf, -np.inf):
        rows = points.copy()
        rows[1, 2] = bad
        call.but("row 1 of targets", targets=[rows, rows.tolist()])
    call.but("starts of reach_batch", starts=[np.zeros((n, 7)) for n in (1, 2, 3, 5)])
    good(lc.reach_batch, ARM, tool, free(at), point(arm().space, rows=True)).blamed(starts=("start", posture))


def of_other_libraries(good: Good) -> None:
    for make in (interop.TangentSteps, interop.as_nonlinear_constraint):
        good(make, PROBLEM, point(arm().space, HOME), RHS)
    steps = interop.TangentSteps(PROBLEM, arm().neutral)
    for of_step in (steps.rows, steps.jacobian, steps.configuration):
        good(of_step, vector(7))
    anchor = pin.PointAnchorConstraintModel(arm().model, 3)
    call = good(interop.from_constraint_model, arm(), anchor).blamed(robot="robot of a constraint model")
    call.blamed(model="constraint model").but(
        "joint", model=[pin.PointAnchorConstraintModel(two_arms().model, joint) for joint in (8, 12)]
    )
    hand = lc.Implicit.equal(lc.Pose(arm(), "tool"), name="hand")
    for make in (interop.as_anchor_constraint_model, interop.as_rigid_constraint_model):
        call = good(make, hand, vector(7, SE3.neutral)).blamed(constraint="constraint for pinocchio")
        call.blamed(rhs="right-hand side of 'hand'")
