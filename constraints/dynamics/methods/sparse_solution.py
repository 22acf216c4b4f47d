"""Forward dynamics by sparsity: its cost grows with the number of bodies, not with the cube of the coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Vector

from ...loops.constraint_set import ConstraintSet
from ...loops.frame_rows import FrameRows
from ...loops.hinges.pose_map import PoseMap
from ...robot import Motion
from ...rows.right_hand_side import RightHandSide
from ...rows.stack import Stack
from ...workspace import kept_with
from ..sparse.independent_rows import (
    Block,
    Choice,
    Paths,
    independent_by_elimination,
    independent_in_closures,
    independent_of_all,
    least_norm,
    least_norm_of_all,
    paths_of,
)
from ..sparse.maximal_coordinates import Bodies, Ends, MaximalSystem, SeenClosures, seen_at
from ..sparse.rank import is_rank_certain
from ..sparse.relative_rows import RelativeRows, RowsOfAKind, closure_rows, rows_by_kind
from .row_space import BALANCED
from .status import DynamicsStatus

MET = 1e-9
"""Rows are met, and equations are, where what is left is at most this part of the terms that they are made of."""
TRUSTED = 1e-7
"""Error of accelerations, relative, up to which factors are those of a regular matrix: found for a known vector."""
DETERMINED = 1e-4
"""Error of multipliers, relative, beyond which rows may depend on each other: also found for a known vector."""


@final
@dataclass(frozen=True, eq=False)
class SparseSolution:
    r"""Accelerations and multipliers, with their status, rank and accuracy.

    Attributes:
        acceleration: of the joints (nv,); not to be used where the status is no success.
        multipliers: (size,), least-norm; zero on rows that are off.
        status: how it ended.
        independent: (size,) true for the rows that were kept; their number is the rank.
        redundant: (size,) true for the other rows that are on: they follow from the kept ones, or nothing moves them.
        unmet: the largest part of the terms of a row that is left of it.
        error: relative error of accelerations for a vector that is known: what the matrix does to rounding.
        entries: how many numbers the factors of the matrix have, to which time and memory are proportional.
    """

    acceleration: Vector
    multipliers: Vector
    status: DynamicsStatus
    independent: BoolVector
    redundant: BoolVector
    unmet: float
    error: float
    entries: int

    @property
    def is_solved(self) -> bool:
        """Whether the acceleration is that of the constrained motion."""
        return self.status.is_success

    @property
    def rank(self) -> int:
        """Number of independent rows."""
        return int(self.independent.sum())


def why_not(constraint_set: ConstraintSet) -> Iterator[tuple[str, str]]:
    """Constraints of the set, on or off, that the sparse method does not take, each with the reason.

    It takes every joint that a Robot has, and every closure, rod and contact of `constraints.loops`.
    """
    for name, owner in zip(constraint_set.names, constraint_set.stack, strict=True):
        if not isinstance(owner, FrameRows):
            yield name, "its rows are functions of the whole configuration, not of one frame seen from another"


def is_long_and_sparse(constraint_set: ConstraintSet) -> bool:
    """Whether this method takes the set, and loops are as many as its matrix is made for: a row for two freedoms."""
    return 2 * constraint_set.size >= constraint_set.robot.nv and not any(why_not(constraint_set))


def solve_sparse(
    constraint_set: ConstraintSet,
    motion: Motion,
    tau: Vector | None = None,
    *,
    acceleration: Vector | None = None,
    rhs: RightHandSide | None = None,
) -> SparseSolution:
    r"""Accelerations of :math:`M a + h = \tau + J^T \lambda`, :math:`J a = \gamma`, in maximal coordinates.

    With :math:`\gamma = wanted - drift - stabilisation`. Neither M nor J is made: each body has six coordinates of its
    own (`MaximalSystem`), the rows of closures are those of relative twists, and a sparse LU decomposition solves, of a
    cost that is proportional to the number of bodies where closures are between neighbours. Nothing is regularised.

    Independent rows are chosen first: among those of each closure, by pivots above the `rounding` of the set. Where the
    matrix is singular then, closures depend on each other, and the rows are chosen among all: by an elimination that
    keeps rows short, or, where it cannot or was not enough, by a dense QR of cost n^3. The rank of dynamics counts
    singular values of all rows above `rounding` of the largest: the least of the kept rows is estimated by a sparse
    factorisation, what is left of the others is bounded, and where one of them is within a factor of 3 of that limit
    the status is SINGULAR_SPARSE. So it is where the factors are not to be trusted, which a vector that is known shows:
    its joint accelerations must come back to 1e-7.

    Args:
        constraint_set: of a kind that it takes (`why_not` names what it does not).
        motion: `robot.at(q, v)`.
        tau: generalised forces (nv,), external ones among them; zero by default.
        acceleration: wanted accelerations of rows (size,); zero by default.
        rhs: right-hand sides with rates, `constraint_set.rhs_at(t)`.

    Raises:
        OtherConstraintsError: right-hand sides of other constraints.
    """
    structure, size = _structure(constraint_set.stack, constraint_set.robot.model), constraint_set.size
    forces = (0.0 if tau is None else tau) - motion.bias_force()
    sides = constraint_set.rhs if rhs is None else rhs.on(constraint_set.stack)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite has a status
        state = _state(structure, constraint_set, motion, acceleration, sides)
        if not all(np.isfinite(array).all() for array in (forces, state.gamma, state.values.D)):
            none, a, multipliers = np.zeros(size, dtype=np.bool_), np.full(forces.size, np.nan), np.full(size, np.nan)
            return SparseSolution(a, multipliers, DynamicsStatus.NOT_FINITE, none, none, np.inf, np.inf, 0)
        return _judged(state, _found(structure, state, forces))


def _found(structure: _Structure, state: _State, forces: Vector) -> _Found:
    """Choose independent rows and solve: again with fewer, where the matrix turns out to be singular."""
    kept, rest = independent_in_closures(state.blocks, state.on, state.rounding)
    found = _attempt(structure, state, forces, kept)._replace(rest=rest)
    for choose in (independent_by_elimination, partial(independent_of_all, nv=forces.size)):
        choice = None if found.is_determined else choose(state.blocks, kept)
        if choice is not None and choice.rows.sum() < kept.sum():
            again = _attempt(structure, state, forces, choice.rows)
            found = again._replace(choice=choice, rest=float(np.hypot(rest, choice.rest)))
    return found


class _Structure(NamedTuple):
    """The part of a stack that does not depend on the motion; `placed` are position rows where velocity rows differ."""

    kinds: list[RowsOfAKind]
    placed: list[RowsOfAKind] | None
    paths: list[Paths]
    system: MaximalSystem
    owners: Indices
    known: Vector


class _State(NamedTuple):
    """Rows at a motion."""

    bodies: Bodies
    closures: SeenClosures
    values: RelativeRows
    blocks: list[Block]
    J: Any
    on: BoolVector
    gamma: Vector
    scale: float
    rounding: float


class _Found(NamedTuple):
    """A solution of the sparse system: `left` is the residual of its equations, relative, `rest` that of other rows."""

    a: Vector
    multipliers: Vector
    kept: BoolVector
    error: float
    error_of_multipliers: float
    left: float
    load: float = 0.0
    entries: int = 0
    choice: Choice | None = None
    rest: float = 0.0

    @property
    def is_determined(self) -> bool:
        """Whether the matrix is regular, as far as a known vector tells."""
        return self.error <= TRUSTED and self.error_of_multipliers <= DETERMINED


@kept_with
def _structure(stack: Stack, model: Any) -> _Structure:
    owners: list[Any] = list(stack)
    ends = Ends.of([o.predecessor for o in owners]), Ends.of([o.successor for o in owners])
    kinds = rows_by_kind([o.moving.pose_map for o in owners], stack.slices)
    places: list[PoseMap] = [o.function.pose_map for o in owners]
    placed = None if all(o.moving is o.function for o in owners) else rows_by_kind(places, stack.slices)
    joints = [(o.predecessor.joint, o.successor.joint) for o in owners]
    counts = [s.stop - s.start for s in stack.slices]
    of_rows = np.repeat(np.arange(len(owners), dtype=np.intp), counts)
    system = MaximalSystem(model, *ends, of_rows)
    paths = paths_of(joints, stack.slices, model)
    return _Structure(kinds, placed, paths, system, of_rows, system.known())


def _state(
    structure: _Structure, constraint_set: ConstraintSet, motion: Motion, asked: Vector | None, rhs: RightHandSide
) -> _State:
    motion.posture.with_jacobians()
    k = motion.with_drift()
    bodies: Bodies = motion.posture.workspace.resource(k, "bodies", Bodies, k)
    system, owners = structure.system, structure.owners
    closures = seen_at(bodies, system.predecessors, system.successors)
    rows = closure_rows(structure.kinds, closures.motions, constraint_set.size)
    if structure.placed is not None:
        rows = rows._replace(value=closure_rows(structure.placed, closures.motions, constraint_set.size).value)
    wanted = np.zeros(constraint_set.size) if asked is None else asked
    blocks = [p.block(rows.D, k.world_jacobian, closures.rotation, closures.translation) for p in structure.paths]
    on = constraint_set.active[owners]
    drift = rows.second if rhs.acceleration is None else rows.second - rhs.acceleration
    pull = _stabilisation(constraint_set, rows, closures, owners, rhs)
    scale = max(float(np.abs(part[on]).max(initial=0.0)) for part in (wanted, rows.second, drift, pull))
    gamma = np.where(on, wanted - drift - pull, 0.0)
    return _State(bodies, closures, rows, blocks, k.world_jacobian, on, gamma, scale, constraint_set.rounding)


def _stabilisation(
    constraint_set: ConstraintSet, rows: RelativeRows, closures: SeenClosures, owners: Indices, rhs: RightHandSide
) -> Vector:
    """As `ConstraintSet.stabilisation`."""
    gains = constraint_set.gains
    if gains is None:
        return np.zeros(owners.size)
    rate = (rows.D * closures.motions.twist[owners]).sum(1)
    if rhs.velocity is not None:
        rate -= rhs.velocity
    placed = np.array([owner.has_position for owner in constraint_set.stack])[owners]
    return gains[0] * np.where(placed, rows.value - rhs.vector, 0.0) + gains[1] * rate


def _attempt(structure: _Structure, state: _State, forces: Vector, kept: BoolVector) -> _Found:
    """Factorise and solve, beside a vector whose solution is known."""
    system, known = structure.system, structure.known
    unit = np.zeros(kept.size)  # rows of unit length, as ranks are of
    for block in state.blocks:
        unit[block.paths.rows] = block.lengths
    unit = np.divide(1.0, unit, out=np.zeros_like(unit), where=kept)
    D = state.values.D * unit[:, None]
    factors = system.factorised(system.values(state.bodies, state.J, state.closures, D, kept))
    if factors is None:
        return _Found(np.full(forces.size, np.nan), np.full(kept.size, np.nan), kept, np.inf, np.inf, np.inf)
    b = system.right_side(forces, unit * state.gamma)
    x, tried = factors.solve(np.column_stack([b, factors.times(known)])).T
    errors = system.errors(tried, known)
    left = float(np.abs(factors.times(x) - b).max(initial=0.0)) / max(float(np.abs(x).max(initial=0.0)), 1.0)
    return _Found(
        system.accelerations(x), unit * system.multipliers(x), kept, *errors, left, system.load(x), factors.entries
    )


def _judged(state: _State, found: _Found) -> SparseSolution:
    """Whether all rows are met and the equations are, and the multipliers of least norm."""
    on, kept, a = state.on, found.kept, found.a
    multipliers, redundant = np.where(on, found.multipliers, 0.0), on & ~kept
    unmet = np.inf
    if not found.is_determined:
        status = DynamicsStatus.SINGULAR_SPARSE
    elif not np.isfinite(a).all():
        status = DynamicsStatus.NOT_FINITE
    else:
        unmet = _unmet(state, a, BALANCED * found.load, on)
        if unmet > MET and _unmet(state, a, BALANCED * found.load, kept) <= MET and unmet > state.rounding:
            status = DynamicsStatus.INCONSISTENT
        elif (  # rows that are nearly met, or nearly repeat others: the direct method decides which of them count
            unmet > MET
            or found.left > MET
            or not is_rank_certain(state.blocks, kept, found.rest, a.size, state.rounding)
        ):
            status = DynamicsStatus.SINGULAR_SPARSE
        else:
            status = DynamicsStatus.RANK_DEFICIENT if redundant.any() else DynamicsStatus.SOLVED
            if found.choice is None:
                multipliers = least_norm(state.blocks, on, kept, multipliers)
            else:
                multipliers = least_norm_of_all(state.blocks, on, found.choice, multipliers, a.size)
    return SparseSolution(a, multipliers, status, kept, redundant, unmet, found.error, found.entries)


def _unmet(state: _State, a: Vector, least: float, which: BoolVector) -> float:
    """The largest |J a - gamma| of some rows, by the terms of all that are on, or by `least` where these are less."""
    left, scale = 0.0, max(state.scale, least)
    for block in state.blocks:
        rows = block.paths.rows
        off = ~state.on[rows]
        scale = max(scale, float(np.where(off, 0.0, block.sizes(a)).max(initial=0.0)))
        missed = np.where(which[rows], block.times(a) - state.gamma[rows], 0.0)
        left = max(left, float(np.abs(missed).max(initial=0.0)))
    return left / scale if scale > 0.0 else 0.0
