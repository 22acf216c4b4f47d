"""How actions are used: bad input, threads, copies, right-hand sides in time, cheap switches, words.

Cases 17 and 18 of the acceptance list of contact dynamics at the level of actions. Oracle: closed forms, and numpy.
"""

# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false, reportOptionalOperand=false
# pyright: reportOptionalCall=false, reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from actions.dense import differences, error
from actions.test_costs import rich, robot_state
from actions.test_stored import anymal, contacts_of
from crocoddyl_cases import robot_of
from robots import arm, two_arms

from constraints import Implicit, Position, Robot, Target
from constraints.actions import (
    Actuators,
    ContactForwardDynamics,
    Cost,
    FrameVelocity,
    ImpulseDynamics,
    Quadratic,
    QuadraticBarrier,
    RungeKutta4,
    SemiImplicitEuler,
    StageConstraint,
    StateSpace,
)
from constraints.errors import (
    ConstraintError,
    DuplicateNameError,
    FailedError,
    NotFiniteError,
    NotNormalizedError,
    OptionError,
    OtherForcesError,
    RobotMismatchError,
    SizeError,
    SpaceMismatchError,
    UnknownFrameError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.functions import FromCallable, Identity, Stacked
from constraints.loops import Axes, Baumgarte, ConstraintSet, Form, PointContact, SurfaceContact
from liegroups import ProductSpace, Rn

RNG = np.random.default_rng


def somewhere(action: Any, seed: int = 1) -> tuple[Any, Any]:
    return robot_state(action.state, seed), 5.0 * RNG(seed).standard_normal(action.nu)


@pytest.mark.parametrize("cost", [False, True])
def test_results_of_either_way_have_the_same_fields(cost: bool) -> None:
    """Pinocchio's contacts make results field by field (`frozen`): no field is missing, none is misspelt (case 20)."""
    fast = anymal(with_force_derivatives=True, armature=0.1)
    fast = fast.replace(constraint_set=fast.constraint_set.stabilised(Baumgarte(40.0, 9.0)))
    if cost:
        fast = fast.replace(costs=[Cost(fast.stage.control(), name="effort")])
    general = fast.replace(rhs=fast.constraint_set.rhs)
    at = somewhere(fast)
    pairs = [[action.calc(*at) for action in (fast, general)]]
    pairs.append([action.calc_diff(done) for action, done in zip((fast, general), pairs[0], strict=True)])
    assert pairs[0][0].trace is not None
    for one, other in pairs:
        names = [field.name for field in fields(one)]
        assert vars(one).keys() <= set(names)
        for name in names:
            mine, theirs = getattr(one, name), getattr(other, name)
            if isinstance(mine, np.ndarray):
                assert error(mine, theirs) < 1e-10, name
            else:
                assert isinstance(mine, type(theirs)) or name in ("trace", "mass_matrix"), name


@pytest.mark.parametrize("columns", [range(6, 18), range(3), range(5, 6), [7, 6], [2, 4], range(18)])
def test_controls_that_are_coordinates_are_copied(columns: Any) -> None:
    """Consecutive coordinates take columns of the derivatives by the joint forces, others their product with B."""
    fast = anymal()
    B = np.eye(18)[:, list(columns)]
    action = fast.replace(actuators=Actuators.matrix(fast.robot, B))
    whole = fast.replace(actuators=Actuators.full(fast.robot))
    x, u = somewhere(action)
    done = action.calc(x, u)
    assert done.trace is not None
    assert error(action.calc_diff(done).Fu, whole.calc_diff(whole.calc(x, B @ u)).Fu @ B) < 1e-13


class TestBadInput:
    """Every mistake ends in a typed error that names the culprit."""

    @pytest.mark.parametrize(
        ("options", "kind", "said"),
        [
            ({"damping": -1e-3}, WrongObjectError, "damping of contact dynamics"),
            ({"damping": np.nan}, WrongObjectError, "damping"),
            ({"damping": np.inf}, OptionError, "damping"),
            ({"armature": -0.1}, OptionError, "armature"),
            ({"armature": np.ones(3)}, SizeError, "armature"),
            ({"armature": [np.nan] * 18}, NotFiniteError, "armature"),
            ({"with_force_derivatives": 1}, WrongObjectError, "with_force_derivatives"),
            ({"costs": [3.0]}, WrongObjectError, "cost 0"),
            ({"costs": "cost"}, WrongObjectError, "costs"),
            ({"constraints": [Cost]}, WrongObjectError, "constraint 0"),
            ({"rhs": 0.0}, WrongObjectError, "rhs"),
        ],
    )
    def test_arguments_of_the_constructor(self, options: Any, kind: type[Exception], said: str) -> None:
        with pytest.raises(kind, match=said):
            anymal(**options)
        with pytest.raises(kind, match=said):
            anymal().replace(**options)

    def test_parts_of_another_robot(self) -> None:
        rows, other = contacts_of("talos_legs", Axes.LOCAL), robot_of("anymal")
        for options in ({"constraint_set": rows}, {"actuators": Actuators.full(rows.robot)}):
            with pytest.raises(RobotMismatchError, match="another robot"):
                ContactForwardDynamics(other, **options)
            with pytest.raises(RobotMismatchError, match="another robot"):
                anymal().replace(**options)
        with pytest.raises(RobotMismatchError, match="another robot"):
            ImpulseDynamics(other, rows)
        with pytest.raises(RobotMismatchError, match="another robot"):
            StateSpace(other).with_controls(12, rows)
        with pytest.raises(ConstraintError):
            anymal(costs=[Cost(Position(rows.robot, "left_sole_link"))])

    @pytest.mark.parametrize("what", [None, 3, "anymal", "model"])
    def test_what_is_no_part(self, what: Any) -> None:
        robot = robot_of("anymal")
        for make in (ContactForwardDynamics, StateSpace, Actuators.full, Actuators.floating_base):
            with pytest.raises(WrongObjectError):
                make(what)
        for options in ({"actuators": 3}, {"constraint_set": [3]}):
            with pytest.raises(WrongObjectError):
                ContactForwardDynamics(robot, **options)
        with pytest.raises(WrongObjectError):
            ImpulseDynamics(robot, what)
        with pytest.raises(WrongObjectError, match="integrated"):
            SemiImplicitEuler(what, 0.1)
        with pytest.raises(WrongObjectError):
            Cost(what)
        with pytest.raises(WrongObjectError):
            StageConstraint(what)

    @pytest.mark.parametrize("step", [0.0, -1.0, np.nan, np.inf, "x"])
    def test_steps_that_are_none(self, step: Any) -> None:
        for scheme in (SemiImplicitEuler, RungeKutta4):
            with pytest.raises(ConstraintError, match="step of an integrated action"):
                scheme(anymal(), step)

    def test_states_and_controls(self) -> None:
        action = anymal()
        x, u = somewhere(action)
        for wrong, kind in (
            (x[:-1], SizeError),
            (np.full(37, np.nan), NotFiniteError),
            (x * np.where(np.arange(37) == 6, 9.0, 1.0), NotNormalizedError),
        ):
            for each in (action, SemiImplicitEuler(action, 0.1), RungeKutta4(action, 0.1)):
                with pytest.raises(kind):
                    each.calc(wrong, u)
                with pytest.raises(kind):
                    each.calc(wrong)
        for wrong, kind in ((u[:-1], SizeError), (np.full(12, np.inf), NotFiniteError)):
            with pytest.raises(kind, match="control"):
                action.calc(x, wrong)
        with pytest.raises(SizeError, match="control"):
            ImpulseDynamics(action.robot, action.constraint_set).calc(x, u)

    def test_calculations_of_another_action(self) -> None:
        action, other = anymal(), anymal()
        x, u = somewhere(action)
        step = SemiImplicitEuler(action, 0.1)
        hit = ImpulseDynamics(action.robot, action.constraint_set)
        for asked, done in ((action, other.calc(x, u)), (step, SemiImplicitEuler(action, 0.1).calc(x, u))):
            with pytest.raises(OptionError, match="another action"):
                asked.calc_diff(done)
        for asked in (action, step, hit):
            for wrong in (None, 3, {}):
                with pytest.raises(WrongObjectError, match="calculation"):
                    asked.calc_diff(wrong)
        with pytest.raises(WrongObjectError, match="calculation"):
            step.calc_diff(action.calc(x, u))
        with pytest.raises(OptionError, match="another action"):
            action.switched(off=[0]).calc_diff(action.calc(x, u))

    def test_unknown_names(self) -> None:
        action = anymal(with_force_derivatives=True)
        x, u = somewhere(action)
        done = action.calc(x, u)
        with pytest.raises(UnknownNameError, match="LF_FOOT"):
            action.switched(off=["LF_FOT"])
        with pytest.raises(UnknownNameError, match="LF_FOOT"):
            done.multipliers_of("LF_FOT")
        with pytest.raises(UnknownNameError, match="LF_FOOT"):
            action.calc_diff(done).wrench("LF_FOT")
        with pytest.raises(UnknownNameError, match="damping"):
            action.replace(dampng=0.1)
        with pytest.raises(UnknownNameError, match="restitution"):
            ImpulseDynamics(action.robot, action.constraint_set).replace(restituton=0.1)
        with pytest.raises(UnknownFrameError):
            FrameVelocity(action.robot, "nowhere")

    def test_functions_of_something_else(self) -> None:
        action, other = anymal(), arm()
        for function in (Position(other, "tool"), Identity(StateSpace(other).space)):
            with pytest.raises(ConstraintError, match=r"another robot|inputs of"):
                action.replace(costs=[Cost(function)])
        with pytest.raises(DuplicateNameError):
            action.replace(costs=[Cost(action.stage.control()), Cost(action.stage.control())])
        with pytest.raises(SizeError):
            action.replace(costs=[Cost(action.stage.control(), activation=np.ones(3))])
        with pytest.raises(SizeError):
            action.replace(constraints=[StageConstraint(action.stage.control(), np.zeros(3))])

    def test_numbers_of_costs(self) -> None:
        control = anymal().stage.control()
        for weight in (-1.0, np.nan, np.inf):
            with pytest.raises(ConstraintError, match="weight of a cost"):
                Cost(control, weight=weight)
        with pytest.raises(OptionError, match="negative"):
            Quadratic([-1.0])
        with pytest.raises(OptionError, match="bounds"):
            QuadraticBarrier([1.0], [0.0])
        with pytest.raises(OptionError, match="bounds"):
            StageConstraint(control, lower=1.0, upper=0.0)
        with pytest.raises(OptionError, match="equalities"):
            StageConstraint(control, lower=np.zeros(12), upper=np.append(np.zeros(11), 1.0))

    @pytest.mark.parametrize("axes", ["WORLD", "world", pin.WORLD])
    def test_world_axes_are_refused_with_the_reason(self, axes: Any) -> None:
        robot = robot_of("anymal")
        for make in (PointContact, SurfaceContact, FrameVelocity):
            with pytest.raises(OptionError, match="Crocoddyl reads it as LOCAL_WORLD_ALIGNED"):
                make(robot, "LF_FOOT", axes=axes)
        with pytest.raises(WrongObjectError, match="axes"):
            PointContact(robot, "LF_FOOT", axes="LOCALE")

    @pytest.mark.parametrize(
        ("options", "kind"),
        [
            ({"mask": [True, False]}, SizeError),
            ({"mask": [False] * 3}, OptionError),
            ({"mask": [0.5, 0, 1]}, WrongObjectError),
            ({"mask": [True, False, True], "normal": [0, 0, 1]}, OptionError),
            ({"error_axes": Axes.LOCAL_WORLD_ALIGNED}, OptionError),
            ({"error_axes": Axes.LOCAL, "axes": Axes.LOCAL_WORLD_ALIGNED, "anchor": [0, 0, 0]}, OptionError),
        ],
    )
    def test_masks(self, options: Any, kind: type[Exception]) -> None:
        with pytest.raises(kind):
            PointContact(robot_of("anymal"), "LF_FOOT", **{"axes": Axes.LOCAL, **options})

    def test_efforts_without_limits_are_infinite(self) -> None:
        """A model without limits has the largest float there; a solver takes that for a bound."""
        model = pin.Model()
        for i, name in enumerate(("free", "limited")):
            joint = model.addJoint(i, pin.JointModelRZ(), pin.SE3.Identity(), name)
            model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
        model.upperEffortLimit[1], model.lowerEffortLimit[1] = 3.0, -2.0
        assert model.upperEffortLimit[0] > 1e300
        action = ContactForwardDynamics(Robot(model, "two"))
        assert action.u_lower.tolist() == [-np.inf, -2.0]
        assert action.u_upper.tolist() == [np.inf, 3.0]

    def test_limits_of_efforts_go_through_the_factor(self) -> None:
        """tau = B u is within the limits of the joints if, and only if, u is within its bounds."""
        model = pin.Model()
        for i in range(4):
            joint = model.addJoint(i, pin.JointModelRZ(), pin.SE3.Identity(), f"joint_{i}")
            model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
        model.upperEffortLimit[:3], model.lowerEffortLimit[:3] = [6.0, 3.0, 0.0], [-4.0, -3.0, 0.0]
        robot = Robot(model, "four")
        B = np.zeros((4, 6))
        B[0, 0], B[0, 1], B[2, 2], B[3, 3], B[:2, 4] = 2.0, -0.5, 3.0, -2.0, 1.0  # the last one drives nothing
        made, inf = Actuators.matrix(robot, B), np.inf
        assert made.lower.tolist() == [-2.0, -12.0, 0.0, -inf, -inf, -inf]
        assert made.upper.tolist() == [3.0, 8.0, 0.0, inf, inf, inf]
        for k in (0, 1):
            ends = sorted(made.tau(robot.neutral, u * np.eye(6)[k])[0] for u in (made.lower[k], made.upper[k]))
            assert ends == [-4.0, 6.0]
        seven = arm()
        assert np.array_equal(Actuators.matrix(seven, 2.0 * np.eye(7)).upper, 0.5 * Actuators.full(seven).upper)
        assert np.isfinite(Actuators.full(seven).upper).all()
        assert np.array_equal(Actuators.matrix(seven, np.eye(7)).lower, Actuators.full(seven).lower)

    def test_actuators(self) -> None:
        robot = two_arms()
        with pytest.raises(SizeError, match="actuation matrix"):
            Actuators.matrix(robot, np.zeros((3, 2)))
        with pytest.raises(OptionError, match="free joint"):
            Actuators.floating_base(robot)
        with pytest.raises(ConstraintError, match="nowhere"):
            Actuators.joints(robot, ["nowhere"])
        with pytest.raises(WrongObjectError):
            Actuators.function(robot, np.eye(3))
        shrinking = iter([np.zeros((robot.nv, 2)), np.zeros((robot.nv, 1))])
        grown = Actuators.function(robot, lambda q: next(shrinking))
        with pytest.raises(SizeError, match="actuation matrix"):
            grown.tau(robot.neutral, np.zeros(2))


class TestForcesOfOtherConstraints:
    """A function of forces knows whose forces it sees: a set of equal shape does not take its place silently."""

    def feet(self, *names: str, places: str = "", **sizes: int) -> ConstraintSet:
        """Contacts of one robot by name, at its feet in this order; of three rows, or as many as are asked for."""
        robot = robot_of("anymal")
        at = places.split() or [f"{name}_FOOT" for name in names]
        mask = {name: np.arange(3) < sizes.get(name, 3) for name in names}
        return ConstraintSet(
            robot, [PointContact(robot, p, mask=mask[n], name=n) for n, p in zip(names, at, strict=True)]
        )

    def pushing(self, rows: ConstraintSet, name: str = "LF", kind: str = "dynamics") -> Any:
        """An action with a cost and rows of the force of one foot."""
        nu = 0 if kind == "impact" else 12
        force = StateSpace(rows.robot).with_controls(nu, rows).force(name)
        costs, limits = [Cost(force, name="push")], [StageConstraint(force, lower=-1.0, name="friction")]
        if kind == "impact":
            return ImpulseDynamics(rows.robot, rows, 0.0, costs, limits)
        return ContactForwardDynamics(rows.robot, Actuators.floating_base(rows.robot), rows, costs, limits)

    @pytest.mark.parametrize("kind", ["dynamics", "impact"])
    def test_other_sets_are_refused(self, kind: str) -> None:
        said = r"inputs of force of LF: it sees the force 'LF\[0\]' \(of 3 rows\), and this stage has the force "
        for mine, theirs, there in (
            (self.feet("LF"), self.feet("RF"), r"'RF\[0\]' \(of 3 rows\)"),
            (self.feet("LF", "RF"), self.feet("RF", "LF"), r"'RF\[0\]' \(of 3 rows\)"),
            (self.feet("LF", "RF", RF=1), self.feet("LF", "RF", LF=1), r"'LF\[0\]' \(of 1 row\)"),
            (self.feet("RF", "LF", RF=2), self.feet("RF", "LF", LF=2), r"'RF\[2\]' \(of 3 rows\)"),
        ):
            action = self.pushing(mine, kind=kind)
            with pytest.raises(OtherForcesError, match=said + there) as raised:
                action.replace(constraint_set=theirs)
            assert raised.value.function == "force of LF"
            assert isinstance(raised.value, SpaceMismatchError)
            with pytest.raises(OtherForcesError, match=said + there):
                type(action)(action.robot, **parts_of(action), constraint_set=theirs)

    @pytest.mark.parametrize("kind", ["dynamics", "impact"])
    def test_the_same_constraints_go_on_to_work(self, kind: str) -> None:
        rows = self.feet("LF", "RF")
        action = self.pushing(rows, kind=kind)
        x, u = somewhere(action)
        assert (action.ng, action.ng_terminal) == (3, 3 if kind == "impact" else 0)  # an impact has no terminal node
        again = self.feet("LF", "RF")
        others = (rows.switched(off=["RF"]), rows.stabilised(Baumgarte(1.0, 2.0)), again, again.switched(off=["RF"]))
        for other in (*others, ConstraintSet(rows.robot, list(rows.stack), {"LF": Baumgarte(3.0)})):
            done = action.replace(constraint_set=other).calc(x, u).or_raise()
            forces = done.impulses if kind == "impact" else done.multipliers
            assert np.array_equal(done.residuals, forces[:3])
            assert np.array_equal(done.g, forces[:3])
        pickled = pickle.loads(pickle.dumps(action.stage.force("LF")))
        assert action.replace(costs=[Cost(pickled)]).nr == 3

    def test_rows_that_a_function_does_not_see_may_change(self) -> None:
        """Only the rows that it sees count: those of the last foot may be of another one."""
        action = self.pushing(self.feet("LF", "RF"))
        other = action.replace(constraint_set=self.feet("LF", "LH"))
        x, u = somewhere(other)
        done = other.calc(x, u)
        assert np.array_equal(done.residuals, done.multipliers_of("LF"))
        stage = action.stage
        control = [Cost(stage.control()), Cost(stage.velocity()), Cost(stage.lift(Position(action.robot, "LF_FOOT")))]
        assert action.replace(costs=control, constraints=[], constraint_set=self.feet("RH", "LH")).nr == 12 + 18 + 3

    def test_functions_made_of_functions_of_forces(self) -> None:
        """Sums, compositions, parts, and functions of a user on the space of a stage."""
        mine, theirs = self.feet("LF"), self.feet("RF")
        stage, other = (StateSpace(rows.robot).with_controls(12, rows) for rows in (mine, theirs))
        push = stage.force("LF")
        own = FromCallable(lambda y: y[-3:], stage.space, Rn(3))
        for f in (2.0 * push, np.eye(3) @ push, push.restricted([1]), push - push, Stacked(push, push), own):
            assert stage.lift(f) is f
            with pytest.raises(OtherForcesError, match="'RF"):
                other.lift(f)
        mixed = push + other.force("RF")
        for each in (stage, other):
            with pytest.raises(OtherForcesError):
                each.lift(mixed)

    def test_controls_are_no_forces(self) -> None:
        """15 controls and 12 controls with three forces are spaces of equal structure."""
        rows = self.feet("LF")
        state = StateSpace(rows.robot)
        plain, stage = state.with_controls(15), state.with_controls(12, rows)
        assert plain.space == stage.space
        with pytest.raises(OtherForcesError, match=r"it sees control\[12\], and this stage has the force 'LF\[0\]'"):
            stage.lift(plain.control())
        with pytest.raises(OtherForcesError, match=r"it sees the force 'LF\[0\]' .* has control\[12\]"):
            plain.lift(stage.force("LF"))
        by_hand = ProductSpace([state.space, Rn(15)])
        used = np.arange(by_hand.nv) < state.ndx + 12
        free, whole = (FromCallable(lambda y: y[-15:-3], by_hand, Rn(12), used=u, trace=False) for u in (used, None))
        assert stage.lift(free) is free
        assert plain.lift(whole) is whole
        with pytest.raises(OtherForcesError, match=r"it sees control\[12\]"):
            stage.lift(whole)


def parts_of(action: Any) -> dict[str, Any]:
    """Costs, constraints, and actuators where there are any, of an action, for another one."""
    found = {"costs": action.costs.costs, "constraints": action.constraints.constraints}
    return {**found, "actuators": action.actuators} if isinstance(action, ContactForwardDynamics) else found


def test_actuators_that_turn_with_the_robot() -> None:
    """A matrix of q, with and without its derivative."""
    robot = arm()

    def B(q: Any) -> Any:
        return np.outer(np.cos(q), [1.0, 2.0]) + np.eye(7)[:, :2]

    def slope(q: Any, u: Any) -> Any:
        return np.diag(-np.sin(q) * (u[0] + 2.0 * u[1]))

    for derivative, limit in ((slope, 1e-9), (None, 1e-7)):
        action = ContactForwardDynamics(robot, Actuators.function(robot, B, derivative))
        x, u = somewhere(action)
        known = differences(lambda d, a=action: a.calc(a.state.integrate(x, d), u).acceleration, 14)  # noqa: B023
        assert error(action.calc_diff(action.calc(x, u)).Fx, known) < limit
    assert Actuators.full(robot).names == tuple(robot.joint_names)
    some = Actuators.joints(robot, robot.joint_names[2:4])
    assert np.array_equal(some.upper, robot.model.upperEffortLimit[2:4])


class TestSharing:
    """Values: nothing stale, threads share, copies are the same."""

    def test_derivatives_do_not_depend_on_what_was_calculated_in_between(self) -> None:
        for axes in Axes:
            action = rich(axes, with_force_derivatives=True)
            nodes = [somewhere(action, seed) for seed in range(4)]
            alone = [action.calc_diff(action.calc(x, u)) for x, u in nodes]
            done = [action.calc(x, u) for x, u in nodes]
            for i in (2, 0, 3, 1, 0):
                found = action.calc_diff(done[i])
                for name in ("Fx", "Fu", "multipliers_x", "multipliers_u", "Lx", "Lxx", "Gx", "Hu"):
                    assert np.array_equal(getattr(found, name), getattr(alone[i], name)), name

    def test_threads_share_an_action(self) -> None:
        action = rich(with_force_derivatives=True)
        nodes = [somewhere(action, seed) for seed in range(8)]
        known = [action.calc_diff(action.calc(x, u)) for x, u in nodes]

        def work(i: int) -> bool:
            x, u = nodes[i % 8]
            found = action.calc_diff(action.calc(x, u))
            return all(np.array_equal(getattr(found, n), getattr(known[i % 8], n)) for n in ("Fx", "Fu", "Lx", "Gx"))

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, range(400)))

    def test_what_was_returned_is_the_callers(self) -> None:
        action = anymal(with_force_derivatives=True)
        x, u = somewhere(action)
        done = action.calc(x, u)
        found = action.calc_diff(done)
        kept = [np.array(each) for each in (done.acceleration, done.multipliers, found.Fx, found.multipliers_x)]
        action.calc_diff(action.calc(*somewhere(action, 2)))
        for a, b in zip(kept, (done.acceleration, done.multipliers, found.Fx, found.multipliers_x), strict=True):
            assert np.array_equal(a, b)
        x[:] = 0.0
        assert done.x.any()

    @pytest.mark.parametrize("make", [lambda a: a, lambda a: SemiImplicitEuler(a, 0.1), lambda a: RungeKutta4(a, 0.1)])
    def test_actions_and_calculations_pickle(self, make: Any) -> None:
        action = make(rich())
        x, u = somewhere(action)
        done = action.calc(x, u)
        known = action.calc_diff(done)
        other, again = pickle.loads(pickle.dumps((action, done)))
        assert np.array_equal(other.calc_diff(again).Fx, known.Fx)
        assert np.array_equal(other.calc_diff(other.calc(x, u)).Lx, known.Lx)
        hit = ImpulseDynamics(contacts_of("anymal", Axes.LOCAL).robot, contacts_of("anymal", Axes.LOCAL))
        assert np.array_equal(pickle.loads(pickle.dumps(hit)).calc(x).impulses, hit.calc(x).impulses)

    def test_switches_are_cheap(self) -> None:
        """Nothing is built: far cheaper than an action (which takes more than a millisecond)."""
        import time

        action = rich()

        def least(f: Any) -> float:
            times = []
            for _ in range(20):
                start = time.perf_counter()
                f()
                times.append(time.perf_counter() - start)
            return min(times)

        made = least(rich)
        assert least(lambda: action.switched(off=[1])) < 0.1 * made
        assert least(lambda: action.replace(damping=1e-3)) < 0.1 * made

    def test_a_calculation_that_overflows_has_no_success(self) -> None:
        action = anymal()
        x, u = somewhere(action)
        x[19:] = 1e200
        for each in (action, SemiImplicitEuler(action, 0.1), RungeKutta4(action, 0.1)):
            with np.errstate(all="ignore"):
                done = each.calc(x, u)
            assert not done.success
            with pytest.raises(FailedError):
                done.or_raise()
            assert not each.calc_diff(done).success
            assert np.isnan(each.calc_diff(done).Fx).all()

    def test_derivatives_that_overflow_have_no_success(self) -> None:
        """From speeds on whose squares are the largest numbers; rows that repeat others are no error there."""
        action = anymal()
        owner = action.constraint_set.stack.owners[0]
        twice = ConstraintSet(action.robot, [owner, replace(owner, name="again")])
        x, u = somewhere(action)
        ways = (action, action.replace(rhs=action.constraint_set.rhs), action.replace(constraint_set=twice))
        for each, size in itertools.product(ways, (1e10, 1e100, 10.0**153.3, 10.0**153.6, 1e200)):
            at = np.concatenate([x[:19], size * x[19:]])
            with np.errstate(all="ignore"):
                done = each.calc(at, u)
                found = each.calc_diff(done)
            assert done.success == np.isfinite(done.acceleration).all()
            assert done.success or size > 1e150
            assert found.success == np.isfinite(found.Fx).all()
            assert found.success or size > 1e150


def circle() -> Target:
    """A point that goes round, with its derivatives."""

    def turned(t: float, phase: float, height: float) -> Any:
        return np.array([0.3 * np.cos(t + phase), 0.3 * np.sin(t + phase), height])

    return Target(lambda t: turned(t, 0.0, 0.4), lambda t: turned(t, 0.5 * np.pi, 0.0), lambda t: turned(t, np.pi, 0.0))


class TestRightHandSides:
    """Case 18: right-hand sides that move, and rows of one side."""

    def action(self) -> tuple[ContactForwardDynamics, ConstraintSet]:
        robot = arm()
        follow = Implicit.equal(Position(robot, "tool"), circle(), name="follow")
        rows = ConstraintSet(robot, [follow]).stabilised(Baumgarte(25.0, 8.0))
        return ContactForwardDynamics(robot, None, rows, rhs=rows.rhs_at(0.7), with_force_derivatives=True), rows

    def test_errors_follow_their_equation(self) -> None:
        """e'' = r'' - beta (e' - r') - alpha (e - r), to 1e-9; pinocchio's classical acceleration is the oracle."""
        action, _ = self.action()
        x, u = somewhere(action)
        done = action.calc(x, u).or_raise()
        q, v = action.state.split(x)
        model = action.robot.model
        data, f = model.createData(), model.getFrameId("tool")
        pin.forwardKinematics(model, data, q, v, done.acceleration)
        pin.updateFramePlacements(model, data)
        world = pin.LOCAL_WORLD_ALIGNED
        p = data.oMf[f].translation
        rate = pin.getFrameVelocity(model, data, f, world).linear
        second = pin.getFrameClassicalAcceleration(model, data, f, world).linear
        r, dr, ddr = (each(0.7) for each in (circle().value, circle().velocity, circle().acceleration))
        assert error(second, ddr - 8.0 * (rate - dr) - 25.0 * (p - r)) < 1e-9

    def test_derivatives_with_a_moving_right_hand_side(self) -> None:
        action, _ = self.action()
        x, u = somewhere(action)
        found = action.calc_diff(action.calc(x, u)).or_raise()
        known = differences(lambda d: action.calc(action.state.integrate(x, d), u).acceleration, 14, 5e-4)
        assert error(found.Fx, known) < 1e-7

    def test_rows_that_are_zero_refuse_one(self) -> None:
        action, rows = self.action()
        still = ConstraintSet(action.robot, [Implicit.zero(Position(action.robot, "tool"), name="follow")])
        with pytest.raises(ConstraintError):
            still.rhs.replace("follow", [0.1, 0.0, 0.0])
        with pytest.raises(ConstraintError):
            action.replace(constraint_set=still)
        assert action.replace(constraint_set=still, rhs=None).rhs is None
        assert rows.size == 3

    def test_poses_near_half_a_turn(self) -> None:
        """An SE(3)-valued right-hand side near pi: continuous values, finite derivatives."""
        robot = arm()
        rng = RNG(0)
        q = robot.random(rng)
        start: Any = robot.at(q).placement("tool")
        x, u = np.concatenate([q, np.zeros(7)]), np.zeros(7)
        seen = []
        for angle in (np.pi - 1e-5, np.pi - 2e-5):
            anchor = start * pin.SE3(pin.exp3(np.array([angle, 0.0, 0.0])), np.zeros(3))
            held = SurfaceContact(robot, "tool", anchor=anchor, form=Form.RATES)
            rows = ConstraintSet(robot, [held]).stabilised(Baumgarte(10.0, 2.0))
            action = ContactForwardDynamics(robot, None, rows)
            done = action.calc(x, u).or_raise()
            assert np.isfinite(action.calc_diff(done).or_raise().Fx).all()
            seen.append(done.acceleration)
        assert error(*seen) < 1e-4

    @pytest.mark.parametrize("side", [-1.0, 1.0])
    def test_inequalities_enter_only_where_they_are_missed(self, side: float) -> None:
        robot = arm()
        rng = RNG(2)
        q, v, u = robot.random(rng), rng.standard_normal(7), rng.standard_normal(7)
        height = float(robot.at(q).placement("tool").translation[2])
        above = Implicit.above(
            Position(robot, "tool"), [0, 0, height + side * 0.1], mask=[False, False, True], name="a"
        )
        rows = ConstraintSet(robot, [above]).stabilised(Baumgarte(30.0, 5.0))
        action = ContactForwardDynamics(robot, None, rows, with_force_derivatives=True)
        x = action.state.join(q, v)
        done = action.calc(x, u).or_raise()
        free = ContactForwardDynamics(robot).calc(x, u).acceleration
        assert (error(done.acceleration, free) < 1e-10) == (side < 0.0)
        found = action.calc_diff(done).or_raise()
        known = differences(lambda d: action.calc(action.state.integrate(x, d), u).acceleration, 14, 1e-4)
        assert error(found.Fx, known) < 1e-7


class TestWords:
    def test_names_and_words(self) -> None:
        action = rich(damping=1e-3)
        words = action.describe()
        for part in (
            "contact dynamics of 'anymal'",
            "LF_FOOT",
            "cost 'push'",
            "inequality 'friction'",
            "damping 0.001",
        ):
            assert part in words
        assert "off" in str(action.switched(off=[0]))
        assert "nu 12" in repr(action)
        step = RungeKutta4(action, 0.01)
        assert "0.01 s" in step.describe()
        assert "RungeKutta4" in repr(step)
        assert "restitution 0.2" in ImpulseDynamics(action.robot, action.constraint_set, 0.2).describe()
        x, u = somewhere(action)
        assert "cost" in str(action.calc(x, u))
        assert "terminal" in str(action.calc(x))
        assert "SOLVED" in repr(action.calc_diff(action.calc(x, u)))
        with pytest.raises(ConstraintError, match="success"):
            bool(action.calc(x, u))


@pytest.mark.parametrize("mask", [None, (True, False, True, False, True, False)])
@pytest.mark.parametrize("axes", list(Axes))
def test_one_contact_has_three_levels(axes: Axes, mask: Any) -> None:
    """Case 17: errors, rates and accelerations of six rows, 1.5 rad from the anchor, with a target that moves."""
    robot, rng = arm(), RNG(5)
    q, v, a = robot.random(rng), rng.standard_normal(7), rng.standard_normal(7)
    there: Any = robot.at(q).placement("tool")
    anchor = there * pin.exp6(np.array([0.3, -0.2, 0.1, 0.9, -1.0, 0.7]))
    size = 6 if mask is None else sum(mask)
    drive = Target(lambda t: np.full(size, 0.1 * t * t), lambda t: np.full(size, 0.2 * t), lambda t: np.full(size, 0.2))
    rows = ConstraintSet(robot, [SurfaceContact(robot, "tool", anchor, axes=axes, mask=mask, target=drive)])
    space, sides = robot.space, rows.rhs_at(0.5)
    by_q = differences(lambda d: rows.position_error(space.integrate(q, d), sides), 7)
    assert error(rows.jacobian(q, sides), by_q) < 1e-7

    def moved(t: Any) -> Any:
        """Errors along a motion with that velocity and acceleration at time zero."""
        at = space.integrate(q, t[0] * v + 0.5 * t[0] ** 2 * a)
        return rows.position_error(at, rows.rhs_at(0.5 + t[0]))

    h = 1e-3
    rate = differences(moved, 1, h)[:, 0]
    steps = [-3, -2, -1, 0, 1, 2, 3]
    weights = np.array([1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90])
    second = weights @ np.array([moved([k * h]) for k in steps]) / h**2
    assert error(rows.velocity_error(q, v, sides), rate) < 1e-8
    assert error(rows.jacobian(q, sides) @ a + rows.drift(q, v, sides), second) < 1e-7
