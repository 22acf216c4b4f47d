"""Contact dynamics and impulses as actions, against what Crocoddyl gave (`tests/data/crocoddyl`).

Cases 1, 2, 5, 6, 7 and 11 of the acceptance list of contact dynamics. Where Crocoddyl is wrong (restitution) the stored
central differences count.
"""

# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false, reportOptionalOperand=false
# pyright: reportOptionalCall=false, reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from actions.dense import error
from crocoddyl_cases import DATA, ContactCase, contact_cases, robot_of

from constraints.actions import Actuators, ContactForwardDynamics, ImpulseDynamics
from constraints.loops import Axes, Baumgarte, ConstraintSet, Form, PointContact, SurfaceContact

CASES = list(contact_cases())


def action_of(case: ContactCase) -> ContactForwardDynamics:
    return ContactForwardDynamics(
        case.robot,
        Actuators.floating_base(case.robot),
        case.rows,
        damping=case.damping,
        armature=case.armature,
        with_force_derivatives=True,
    )


@pytest.mark.parametrize("own_rows", [False, True], ids=["usual way", "own rows"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}.{case.seed}")
def test_contact_dynamics_are_crocoddyls(case: ContactCase, own_rows: bool) -> None:
    """Cases 1, 2 and 5: oracle stored arrays, values and derivatives to 1e-10 (relative); pinocchio's calls or not."""
    action = action_of(case)
    if own_rows:
        action = action.replace(rhs=case.rows.rhs)
    done = action.calc(action.state.join(case.stored("q"), case.stored("v")), case.stored("u"))
    found = action.calc_diff(done.or_raise()).or_raise()
    assert (done.trace is None) == (own_rows or not case.rows.size)
    for mine, name in (
        (done.acceleration, "ddq"),
        (done.multipliers, "lam"),
        (found.Fx, "Fx"),
        (found.Fu, "Fu"),
        (found.multipliers_x, "df_dx"),
        (found.multipliers_u, "df_du"),
    ):
        assert error(mine, case.stored(name)) < 1e-10, name


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}.{case.seed}")
def test_quasi_static_controls_are_crocoddyls(case: ContactCase) -> None:
    """Case 6: stored torques to 1e-9 without weights; at rest the robot stays where an equilibrium exists.

    Where contacts have a position error at rest the stored acceleration holds the feedback, and where there is no
    equilibrium what is missing.
    """
    action = action_of(case)
    x = action.state.join(case.stored("q"))
    found = action.quasi_static(x)
    assert error(found.u, case.stored("u_quasistatic")) < 1e-9
    still = action.replace(constraint_set=case.rows.stabilised(_NONE), damping=0.0)
    if found.success:
        assert np.abs(still.calc(x, found.u).acceleration).max() < 1e-8
        assert np.abs(still.calc(x, found.u).multipliers - found.multipliers).max(initial=0.0) < 1e-7
    else:
        assert np.abs(still.calc(x, found.u).acceleration).max() > 1.0


_NONE = Baumgarte()


def contacts_of(name: str, axes: Axes) -> ConstraintSet:
    robot = robot_of(name)
    if name == "anymal":
        feet = ("LF_FOOT", "LH_FOOT", "RF_FOOT", "RH_FOOT")
        return ConstraintSet(robot, [PointContact(robot, f, axes=axes, form=Form.RATES, name=f) for f in feet])
    soles = ("left_sole_link", "right_sole_link")
    return ConstraintSet(robot, [SurfaceContact(robot, f, axes=axes, form=Form.RATES, name=f) for f in soles])


def anymal(**options: Any) -> ContactForwardDynamics:
    rows = contacts_of("anymal", Axes.LOCAL)
    return ContactForwardDynamics(rows.robot, Actuators.floating_base(rows.robot), rows, **options)


def stored_impulses() -> Iterator[tuple[str, Any]]:
    table = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))["impulse"]
    yield from ((name, case) for name, case in table.items() if case["robot"] in ("anymal", "talos_legs"))


@pytest.mark.parametrize(("name", "case"), list(stored_impulses()), ids=lambda x: x if isinstance(x, str) else "")
def test_impulses_are_crocoddyls(name: str, case: Any) -> None:
    """Cases 7 and 11: oracle stored arrays; with restitution the derivatives are the stored differences, to 1e-7."""
    with np.load(DATA / f"{case['robot']}.npz") as arrays:
        stored = {key.rsplit(".", 1)[1]: arrays[key] for key in arrays.files if key.startswith(f"{name}.0.")}
    axes = Axes.LOCAL if case["type"] == "LOCAL" else Axes.LOCAL_WORLD_ALIGNED
    rows = contacts_of(case["robot"], axes)
    action = ImpulseDynamics(rows.robot, rows, restitution=case["r_coeff"], damping=case["damping"])
    done = action.calc(action.state.join(stored["q"], stored["v"])).or_raise()
    found, nv = action.calc_diff(done).or_raise(), rows.robot.nv
    assert error(done.next_state[rows.robot.nq :], stored["v_after"]) < 1e-12
    assert error(done.impulses, stored["impulse"]) < 1e-12
    assert error(found.Fx[nv:], stored["Fx_fd"]) < 1e-7
    assert error(found.multipliers_x, stored["df_dx_fd"]) < 1e-7
    if not case["r_coeff"]:
        assert error(found.Fx, stored["Fx"]) < 1e-10
        assert error(found.multipliers_x, stored["df_dx"]) < 1e-10


class TestActiveSets:
    """Case 5: contacts that are on and off, switched between calls."""

    def action(self) -> ContactForwardDynamics:
        return anymal(with_force_derivatives=True)

    def state(self, seed: int = 0) -> tuple[Any, Any]:
        action, rng = self.action(), np.random.default_rng(seed)
        x = action.state.join(action.robot.random(rng), rng.standard_normal(18))
        return x, rng.standard_normal(12)

    def test_nothing_on_is_free_dynamics(self) -> None:
        """0 of 4: pinocchio's aba, to 1e-12, with multipliers of zero and sizes that stay."""
        action, (x, u) = self.action().switched(on=[]), self.state()
        done = action.calc(x, u)
        q, v = action.state.split(x)
        model = action.robot.model
        known = pin.aba(model, model.createData(), q, v, np.concatenate([np.zeros(6), u]))
        assert error(done.acceleration, known) < 1e-12
        assert done.multipliers.shape == (12,)
        assert not done.multipliers.any()
        found = action.calc_diff(done).or_raise()
        assert found.multipliers_x.shape == (12, 36)
        assert not found.multipliers_x.any()

    def test_no_contacts_at_all_have_no_rows(self) -> None:
        """0 of 0: shapes (0, n)."""
        whole, (x, u) = self.action(), self.state()
        action = ContactForwardDynamics(whole.robot, whole.actuators, with_force_derivatives=True)
        done = action.calc(x, u)
        found = action.calc_diff(done)
        assert done.multipliers.shape == (0,)
        assert found.multipliers_x.shape == (0, 36)
        assert found.multipliers_u.shape == (0, 12)
        assert np.array_equal(done.acceleration, whole.switched(on=[]).calc(x, u).acceleration)

    @pytest.mark.parametrize("damping", [0.0, 1e-3])
    @pytest.mark.parametrize("axes", [Axes.LOCAL, Axes.LOCAL_WORLD_ALIGNED])
    def test_a_switched_action_is_one_of_fewer_contacts(self, axes: Axes, damping: float) -> None:
        x, u = self.state(3)
        rows = contacts_of("anymal", axes)
        whole = self.action().replace(constraint_set=rows, damping=damping)
        some = whole.switched(off=["RF_FOOT"])
        kept = [owner for owner in rows.stack if owner.name != "RF_FOOT"]
        alone = whole.replace(constraint_set=ConstraintSet(rows.robot, kept))
        mine, known = some.calc_diff(some.calc(x, u)), alone.calc_diff(alone.calc(x, u))
        on = [0, 1, 2, 3, 4, 5, 9, 10, 11]
        assert error(mine.Fx, known.Fx) < 1e-10
        assert error(mine.multipliers_x[on], known.multipliers_x) < 1e-10
        assert error(mine.multipliers_u[on], known.multipliers_u) < 1e-10
        assert not mine.multipliers_x[6:9].any()

    def test_toggling_rebuilds_nothing_and_forgets_nothing(self) -> None:
        """On, off, on: the same numbers; stacks, stage and the table of pinocchio's contacts are shared."""
        action, (x, u) = self.action(), self.state()
        before = action.calc(x, u)
        off = action.switched(off=[1])
        off.calc_diff(off.calc(x, u))
        on = off.switched(on=[0, 1, 2, 3])
        assert np.array_equal(on.calc(x, u).acceleration, before.acceleration)
        assert np.array_equal(action.calc_diff(before).Fx, on.calc_diff(on.calc(x, u)).Fx)
        assert on.costs is action.costs
        assert on.stage is action.stage

    def test_switching_off_what_is_off_changes_no_size(self) -> None:
        """Beyond Crocoddyl, where this lowers the active size."""
        action, (x, u) = self.action().switched(off=[2]), self.state()
        again = action.switched(off=[2])
        assert again.calc(x, u).multipliers.shape == (12,)
        assert np.array_equal(again.calc(x, u).multipliers, action.calc(x, u).multipliers)
