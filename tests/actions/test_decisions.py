"""What actions decide: which way rows are solved, which are on, how often rounding is corrected; beside thresholds too.

Oracle: dense algebra, closed forms, and the same action on its general way.
"""

# pyright: reportOptionalMemberAccess=false, reportArgumentType=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportAttributeAccessIssue=false

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from actions.dense import error
from actions.test_costs import robot_state
from actions.test_stances import box, rest
from actions.test_stored import anymal, contacts_of
from actions.test_use import somewhere
from robots import arm

from constraints import Target, actions
from constraints.actions.actuators import Drive
from constraints.actions.equations import armature_of, damping_of
from constraints.actions.fused import fused_of
from constraints.actions.stance import ROUNDING_OF_A_FORCE, least_within
from constraints.dynamics import DynamicsStatus
from constraints.dynamics.methods.cholesky import LIGHT, REPEATED, by_blocks
from constraints.dynamics.methods.pinocchio_constraints import PinocchioConstraints
from constraints.errors import NotFiniteError, OptionError, SizeError
from constraints.loops import Axes, ConstraintSet, Form, PointContact, SurfaceContact

# Rows that are on.


@pytest.mark.parametrize("on", [*itertools.product([False, True], repeat=3)])
def test_rows_that_are_on_are_counted_from_the_first_one(on: tuple[bool, ...]) -> None:
    """Of three, one and three rows; and what is spread stands in these rows alone."""
    robot = arm()
    names = ("a", "b", "c")
    owners = [
        PointContact(robot, "tool", name="a"),
        PointContact(robot, "elbow", [0.0, 0.0, 1.0], name="b"),
        PointContact(robot, "wrist_pitch", name="c"),
    ]
    rows = ConstraintSet(robot, owners).switched(
        on=[n for n, is_on in zip(names, on, strict=True) if is_on],
        off=[n for n, is_on in zip(names, on, strict=True) if not is_on],
    )
    numbers = np.arange(14.0).reshape(7, 2)
    if all(on):
        assert rows.pick(numbers) is numbers
        assert rows.spread(numbers) is numbers
    blocks = ([0, 1, 2], [3], [4, 5, 6])
    expected = [i for block, is_on in zip(blocks, on, strict=True) if is_on for i in block]
    assert rows.on_rows.tolist() == expected
    assert [owner.name for owner, _ in rows.on] == [n for n, is_on in zip(names, on, strict=True) if is_on]
    assert [i for _, s in rows.on for i in range(s.start, s.stop)] == expected
    np.testing.assert_array_equal(rows.pick(numbers), numbers[expected])
    some = 1.0 + np.arange(2.0 * len(expected)).reshape(-1, 2)
    every = rows.spread(some)
    np.testing.assert_array_equal(every[expected], some)
    assert not every[[i for i in range(7) if i not in expected]].any()


# The quick way.


@pytest.mark.parametrize(("part", "is_quick"), [(1.01, True), (0.99, False), (10.0, True), (0.1, False), (0.0, False)])
@pytest.mark.parametrize("what", ["rows", "mass"])
def test_the_quick_way_is_for_rows_and_masses_that_are_even(what: str, part: float, is_quick: bool) -> None:
    """Two rows, or two masses, that make a pivot beside the limit; both are solved exactly."""
    apart = part * float(np.sqrt(REPEATED if what == "rows" else LIGHT))
    M = np.eye(3)
    J = np.array([[1.0, 0.0, 0.0], [1.0, apart, 0.0]] if what == "rows" else [[0.0, 0.0, 1.0]])
    if what == "mass":
        M[0, 1] = M[1, 0] = 1.0
        M[1, 1] = 1.0 + apart**2
    force, gamma = np.array([0.3, -0.2, 0.5]), np.linspace(0.1, 0.1 * len(J), len(J))
    if what == "mass" and part == 0.0:
        M[1, 1] = 1.0
    found = by_blocks(M, J, force, gamma, 0.0)
    assert (found is not None) == is_quick
    if found is not None:
        a, push = found
        scale = max(1.0, float(np.abs(push).max()), float(np.abs(a).max()))
        assert np.abs(M @ a - J.T @ push - force).max() <= 1e-9 * scale
        assert np.abs(J @ a - gamma).max() <= 1e-6 * scale
    damped = by_blocks(M, J, force, gamma, 0.1)
    if what == "rows":
        a, push = damped
        y = np.linalg.solve(J @ J.T + 0.1 * np.eye(len(J)), gamma - J @ force)
        np.testing.assert_allclose(push, y, atol=1e-12)
        np.testing.assert_allclose(a, force + J.T @ y, atol=1e-12)
    else:
        assert (damped is not None) == is_quick


def test_the_quick_way_without_rows_and_beyond_numbers() -> None:
    M, force, none = np.diag([2.0, 4.0]), np.array([1.0, -2.0]), np.zeros((0, 2))
    a, push = by_blocks(M, none, force, np.zeros(0), 0.0)
    np.testing.assert_allclose(a, [0.5, -0.5], atol=1e-15)
    assert push.size == 0
    assert by_blocks(M, none, np.array([np.inf, 0.0]), np.zeros(0), 0.0) is None
    assert by_blocks(-M, none, force, np.zeros(0), 0.0) is None
    J = np.array([[1.0, 0.0]])
    assert by_blocks(M, J, np.array([1.0, np.nan]), np.zeros(1), 0.0) is None


def test_dampings_and_armatures_at_their_limits() -> None:
    assert damping_of(0.0, "x") == 0.0
    assert armature_of(0.0, 3).tolist() == [0.0] * 3
    assert armature_of([0.0, 0.5, 2.0], 3).tolist() == [0.0, 0.5, 2.0]
    with pytest.raises(OptionError, match="got -1e-300"):
        armature_of([0.0, -1e-300, 1.0], 3)
    with pytest.raises(OptionError, match="finite number, got inf"):
        damping_of(np.inf, "x")


# Pinocchio's contacts.


KINDS: dict[str, Callable[..., Any]] = {
    "point": PointContact,
    "anchored": lambda *given, **named: PointContact(*given, anchor=[0.3, 0.1, 0.2], **named),
    "surface": SurfaceContact,
    "normal": lambda *given, **named: PointContact(*given, [0.0, 0.6, 0.8], **named),
    "mask": lambda *given, **named: PointContact(*given, mask=[True, False, True], **named),
    "surface, mask": lambda *given, **named: SurfaceContact(*given, mask=[1, 0, 1, 1, 0, 1], **named),
}
WORLD, LOCAL = Axes.LOCAL_WORLD_ALIGNED, Axes.LOCAL
FITS = {
    *((kind, axes, Form.RATES) for kind in ("point", "anchored", "surface") for axes in Axes),
    *((kind, WORLD, Form.DERIVATIVE) for kind in ("point", "anchored")),
    ("surface", LOCAL, Form.DERIVATIVE),
}
"""Contacts whose rows are pinocchio's, turned if need be: in the axes whose velocities are derivatives, or by rates."""


@pytest.mark.parametrize("form", Form, ids=lambda form: form.name)
@pytest.mark.parametrize("axes", Axes, ids=lambda axes: axes.name)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_pinocchio_are_taken_where_they_are_those_of_the_contact(kind: str, axes: Axes, form: Form) -> None:
    """Whatever the way: accelerations, forces and derivatives are those of the general one."""
    robot = arm()
    rows = ConstraintSet(robot, [KINDS[kind](robot, "tool", axes=axes, form=form, name="c")])
    action = actions.ContactForwardDynamics(robot, None, rows, with_force_derivatives=True)
    general = action.replace(rhs=rows.rhs)
    x, u = robot_state(action.state, 3), np.linspace(-2.0, 2.0, action.nu)
    pairs = [each.calc(x, u) for each in (action, general)]
    slopes = [each.calc_diff(done) for each, done in zip((action, general), pairs, strict=True)]
    assert error(pairs[0].acceleration, pairs[1].acceleration) < 1e-9
    assert error(pairs[0].multipliers, pairs[1].multipliers) < 1e-9
    for field in ("Fx", "Fu"):
        assert error(getattr(slopes[0], field), getattr(slopes[1], field)) < 1e-8, field
    is_fused = fused_of(rows, 0.0, np.zeros(robot.nv))[0] is not None
    assert is_fused == ((kind, axes, form) in FITS)
    moved = Target(lambda t: np.full(rows.size, t))
    driven = KINDS[kind](robot, "tool", axes=axes, form=form, name="c", target=moved)
    for other in (rows.switched(off=["c"]), ConstraintSet(robot, [driven])):
        assert fused_of(other, 0.0, np.zeros(robot.nv)) == (None,)


# Balances at rest.


def test_corrections_of_rounding_are_counted_and_end() -> None:
    action = box(points=[(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1)])
    x = rest(action)
    assert action.quasi_static(x).iterations == 0
    lifted = action.switched(on=[], off=list(action.constraint_set.names))
    assert not lifted.quasi_static(x).success
    for most in (0, 1, 5):
        assert lifted.quasi_static(x, max_iterations=most).iterations == 0  # nothing gets better
        strict = action.quasi_static(x, max_iterations=most, tolerance=0.0)
        assert 0 <= strict.iterations <= most
        assert (strict.iterations > 0) == (most > 0) or strict.residual == 0.0
        assert strict.limit == 0.0
        assert strict.success == (strict.residual == 0.0)


@pytest.mark.parametrize("gravity", [1.0, 1e-6, 1e-15])
def test_what_contacts_carry_is_said_of_the_smallest_forces_too(gravity: float) -> None:
    slope = 0.2
    action = box(slope=slope)
    model: Any = action.robot.model
    assert ROUNDING_OF_A_FORCE == 1e-12
    weak = model.copy()
    weak.gravity.linear = gravity * np.array(model.gravity.linear)
    robot = type(action.robot)(weak)
    held = SurfaceContact(robot, action.constraint_set.stack.owners[0].frame, name="sole")
    light = actions.ContactForwardDynamics(robot, actions.Actuators.floating_base(robot), ConstraintSet(robot, [held]))
    found = light.quasi_static(rest(light))
    weight = pin.computeGeneralizedGravity(weak, weak.createData(), rest(light)[: robot.nq])
    assert found.limit == pytest.approx(1e-9 * max(np.abs(weight).max(), 1.0))
    assert found.friction_needed["sole"] == pytest.approx(np.tan(slope), rel=1e-3)
    assert found.loads["sole"].normal_force == pytest.approx(2.0 * 9.81 * gravity * np.cos(slope), rel=1e-3)
    assert set(found.centre_of_pressure) == {"sole"}


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_equations_count_from_a_part_of_the_largest_on(scale: float) -> None:
    """1e-12 for each row, or column where there are more: below it what is asked is not asked."""
    for part, counts in ((1.2e-12, False), (2.8e-12, True), (3.2e-12, True), (5e-12, True)):
        for n, edge in ((2, 2e-12), (3, 3e-12)):
            A = scale * np.array([[1.0, 0.0, 0.0], [0.0, part, 0.0]])[:, :n]
            found = least_within(A, np.array([scale, scale * part]), np.zeros((0, n)))
            assert counts or part < edge
            np.testing.assert_allclose(found, [1.0, float(part > edge), 0.0][:n], atol=1e-9)
    limited = least_within(scale * np.array([[1.0, 1.0]]), np.array([2.0 * scale]), np.array([[0.0, 3.0]]))
    np.testing.assert_allclose(limited, [2.0, 0.0], atol=1e-9)
    assert least_within(np.array([[1.0, 0.0]]), np.array([1.0]), np.array([[1.0, 0.0]])) is None
    pushed = least_within(np.array([[1.0, 1.0]]), np.array([2.0 * scale**3]), np.array([[1.0, 0.0]]))
    assert pushed is not None
    np.testing.assert_allclose(pushed / scale**3, [0.0, 2.0], atol=1e-7)  # forces of any size


def test_a_barrier_is_flat_up_to_its_bounds() -> None:
    """At them too: no value, no slope, no curvature; beyond, those of half a square."""
    barrier = actions.QuadraticBarrier([-1.0, 0.0], [2.0, np.inf])
    for r, out in (([-1.0, 0.0], [0.0, 0.0]), ([2.0, 9.0], [0.0, 0.0]), ([-1.5, -3.0], [-0.5, -3.0]),
                   ([2.25, 0.5], [0.25, 0.0])):  # fmt: skip
        at, beyond = np.array(r), np.array(out)
        assert barrier.value(at) == 0.5 * beyond @ beyond
        np.testing.assert_array_equal(barrier.gradient(at), beyond)
        np.testing.assert_array_equal(barrier.curvature(at), (beyond != 0.0).astype(float))


# Actuators.


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_matrix_of_the_configuration_is_looked_at_each_time(bad: float) -> None:
    robot = arm()

    def of_q(q: Any) -> Any:
        B = np.eye(7)
        B[2, 3] = bad if q[0] > 0.5 else q[0]
        return B if q[1] < 2.0 else B[:, :3]

    actuators = actions.Actuators.function(robot, of_q)
    assert not actuators.is_constant
    assert actions.Actuators.full(robot).is_constant
    q = robot.neutral
    assert actuators.B(q)[2, 3] == q[0]
    q = np.zeros(7)
    q[0] = 0.6
    with pytest.raises(NotFiniteError, match="actuation matrix"):
        actuators.B(q)
    q[:2] = 0.0, 2.5
    with pytest.raises(SizeError, match="actuation matrix"):
        actuators.B(q)
    for slope, kind in ((bad * np.ones((7, 7)), NotFiniteError), (np.zeros((7, 6)), SizeError)):
        given = actions.Actuators.function(robot, lambda q: np.eye(7), lambda q, u, slope=slope: slope)
        with pytest.raises(kind, match="derivative of the actuation"):
            given.slope(robot.neutral, np.ones(7))


def test_derivatives_go_on_from_the_memory_that_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same one, unless it holds another calculation, or none: then it solves again, and says the same."""
    rows, rng = contacts_of("anymal", Axes.LOCAL), np.random.default_rng(0)
    (fused,) = fused_of(rows, 0.0, np.zeros(rows.robot.nv))
    assert fused is not None
    drive, solved = Drive(np.eye(18), np.zeros((18, 18)), None), list[int]()
    usual = PinocchioConstraints.solve

    def counted(self: Any, q: Any, v: Any, tau: Any) -> Any:
        solved.append(1)
        return usual(self, q, v, tau)

    monkeypatch.setattr(PinocchioConstraints, "solve", counted)
    states = [(rows.robot.random(rng), rng.standard_normal(18), rng.standard_normal(18)) for _ in range(2)]
    found = []
    for q, v, tau in states:
        a, push, trace = fused.solve(q, v, tau) or pytest.fail("it is regular")
        assert trace.memory is not None
        assert fused._pool.free == [trace.memory]
        found.append((a, push, trace))
    slopes = []
    for i, more in ((1, 0), (1, 1), (0, 1)):  # the last one; again, where nothing is held; the one before
        (q, v, tau), (_, push, trace), before = states[i], found[i], len(solved)
        slopes.append(fused.slopes(np.r_[q, v], tau, push, trace, drive))
        assert len(solved) == before + more
        assert fused._pool.free == [trace.memory]
    for one, other in zip(slopes[0], slopes[1], strict=True):
        np.testing.assert_allclose(np.hstack(one), np.hstack(other), atol=1e-12)
    q, v, tau = states[0]
    steps = 1e-6 * np.eye(18)
    for by, ahead, behind in (
        (slopes[2][0][0][:, 18:], lambda e: (q, v + e, tau), lambda e: (q, v - e, tau)),
        (slopes[2][0][1], lambda e: (q, v, tau + e), lambda e: (q, v, tau - e)),
    ):
        columns = [(fused.solve(*ahead(e))[0] - fused.solve(*behind(e))[0]) / 2e-6 for e in steps]  # type: ignore[index]
        np.testing.assert_allclose(by, np.array(columns).T, atol=1e-5 * np.abs(by).max())


def test_an_action_is_the_same_from_its_own_parts() -> None:
    action = anymal()
    x, u = somewhere(action)
    again = actions.ContactForwardDynamics(action.robot, action.actuators, action.constraint_set)
    assert error(again.calc(x, u).acceleration, action.calc(x, u).acceleration) == 0.0


def test_an_impact_whose_cost_is_no_number_says_so() -> None:
    """It is solved, and no success: no derivatives of the dynamics, of the sizes that they would have."""
    rows = contacts_of("anymal", Axes.LOCAL)
    plain = actions.ImpulseDynamics(rows.robot, rows, 0.2)
    assert "restitution 0.2" in repr(plain)
    assert "restitution 0)" in repr(plain.replace(restitution=0.0))
    assert plain.u_lower.shape == plain.u_upper.shape == (0,)
    dear = plain.replace(costs=[actions.Cost(plain.stage.velocity(), weight=1e308, name="speed")])
    x = plain.state.join(rows.robot.neutral, 1e3 * np.ones(18))
    done = plain.calc(x)
    assert done.success
    assert done.reason == str(done.status)
    with np.errstate(over="ignore", invalid="ignore"):
        bad = dear.calc(x)
        slopes = dear.calc_diff(bad)
    assert (bad.success, bad.reason) == (False, "the cost is not finite")
    assert bad.status is done.status
    assert slopes.status is DynamicsStatus.NOT_SOLVED
    assert slopes.Fx is not None
    assert slopes.multipliers_x is not None
    assert (slopes.Fx.shape, slopes.multipliers_x.shape) == ((36, 36), (rows.size, 36))
    assert slopes.Fu.shape == plain.calc_diff(done).Fu.shape == (36, 0)
    assert np.isnan(slopes.Fx).all()
    assert np.isnan(slopes.multipliers_x).all()


def test_a_step_of_order_four_is_the_classical_one_on_vectors() -> None:
    """States, cost and their weights, against the scheme by numpy and pinocchio's accelerations; Euler's beside it."""
    robot, rng = arm(), np.random.default_rng(3)
    plain = actions.ContactForwardDynamics(robot, actions.Actuators.full(robot), ConstraintSet(robot, []))
    action = plain.replace(
        costs=[actions.Cost(plain.stage.velocity(), name="speed"), actions.Cost(plain.stage.control(), name="u")]
    )
    q, v, u, h = robot.random(rng), rng.standard_normal(7), 3.0 * rng.standard_normal(7), 0.02
    model: Any = robot.model
    data = model.createData()

    def rate(x: Any) -> Any:
        a = np.array(pin.aba(model, data, x[:7], x[7:14], u))
        return np.concatenate([x[7:14], a, [0.5 * x[7:14] @ x[7:14] + 0.5 * u @ u]])

    x = np.concatenate([q, v, [0.0]])
    k1 = rate(x)
    k2 = rate(x + 0.5 * h * k1)
    k3 = rate(x + 0.5 * h * k2)
    after = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(x + h * k3))
    done = actions.RungeKutta4(action, h).calc(x[:14], u).or_raise()
    np.testing.assert_allclose(done.next_state, after[:14], rtol=1e-10)
    assert done.cost == pytest.approx(after[14], rel=1e-12)
    euler = actions.SemiImplicitEuler(action, h).calc(x[:14], u).or_raise()
    faster = v + h * k1[7:14]
    np.testing.assert_allclose(euler.next_state, np.concatenate([q + h * faster, faster]), rtol=1e-10)
    assert euler.cost == pytest.approx(h * k1[14], rel=1e-12)


def test_a_step_with_another_length_or_of_another_action() -> None:
    """What is not given stays."""
    action = anymal()
    other = action.replace(damping=1e-3)
    made = actions.RungeKutta4(action, 0.01)
    longer, damped = made.replace(step=0.02), made.replace(other)
    assert (longer.differential, longer.step) == (action, 0.02)
    assert (damped.differential, damped.step) == (other, 0.01)
    assert made.replace(other, 0.03).step == 0.03
