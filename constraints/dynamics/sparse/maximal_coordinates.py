r"""Dynamics in maximal coordinates: each body has six of its own, so that the matrix is sparse whatever the tree.

With :math:`\delta_i` the acceleration of body i beyond that at zero joint accelerations, :math:`f_i` the wrench that
its joint transmits, :math:`X_i` the change of axes from its parent, S_i its motion subspace,

.. math::

    \delta_i - X_i\,\delta_{p(i)} - S_i\,\ddot q_i &= 0 \\
    I_i\,\delta_i - f_i + \sum_{j: p(j) = i} X_j^T f_j - \sum_c Q_{c,i}^T \lambda_c &= 0 \\
    S_i^T f_i + A_i\,\ddot q_i &= \tau_i - h_i \\
    \sum_i Q_{c,i}\,\delta_i &= \gamma_c

all in the axes of the bodies. With :math:`-f` and :math:`-\lambda` as unknowns the matrix is symmetric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.csgraph import structural_rank
from scipy.sparse.linalg import splu

from liegroups.arrays import BoolVector, Indices, Matrix, Vector
from liegroups.formulas.batch_algebra import cross, skew

from ...robot.model.joints import type_name
from ...robot.model.pinocchio import Model, pin
from ...robot.posture import Kinematics
from .many_vectors import inverse_actions, turned, turned_back, turned_rows
from .relative_rows import RelativeMotions

MOVING_SUBSPACES = ("SphericalZYX", "Universal", "Ellipsoid", "Composite")
"""Types of joints whose motion subspace depends on their coordinates."""


class Bodies:
    """Views of what pinocchio computes for the bodies, for copies of all of them at once.

    Args:
        kinematics: memory of a workspace, for as long as that lives.
    """

    def __init__(self, kinematics: Kinematics) -> None:
        data = kinematics.data
        self._lists: dict[str, list[Any]] = {
            "R": [placement.rotation for placement in data.oMi],
            "p": [placement.translation for placement in data.oMi],
            "local R": [placement.rotation for placement in data.liMi],
            "local p": [placement.translation for placement in data.liMi],
            "twist": [twist.vector for twist in data.v],
            "acceleration": [acceleration.vector for acceleration in data.a],
        }

    def vectors(self, what: str) -> Vector:
        """A copy (njoints, n) of vectors."""
        views = self._lists[what]
        return np.concatenate(views).reshape(len(views), -1)

    def matrices(self, what: str) -> Matrix:
        """A copy (njoints, 3, 3) of rotations."""
        return np.concatenate(self._lists[what]).reshape(-1, 3, 3)


class Ends(NamedTuple):
    """The frames of closures on one side.

    Attributes:
        joints: (k,).
        rotation, translation: of the frames on their joints (k, 3, 3), (k, 3).
        actions: that take twists of the joints into the frames (k, 6, 6).
    """

    joints: Indices
    rotation: Matrix
    translation: Vector
    actions: Matrix

    @classmethod
    def of(cls, frames: Sequence[Any]) -> Ends:
        """Those of frames."""
        R = np.array([frame.placement.rotation for frame in frames]).reshape(-1, 3, 3)
        p = np.array([frame.placement.translation for frame in frames]).reshape(-1, 3)
        return cls(np.array([frame.joint for frame in frames], dtype=np.intp), R, p, inverse_actions(R, p))

    def seen(self, twists: Vector) -> Vector:
        """Twists or spatial accelerations (njoints, 6) of the joints, in the frames (k, 6)."""
        return turned(self.actions, twists[self.joints])

    def placed(self, R: Matrix, p: Vector) -> tuple[Matrix, Vector]:
        """The frames in the world, from the joints in the world."""
        at = R[self.joints]
        return at @ self.rotation, turned(at, self.translation) + p[self.joints]


class SeenClosures(NamedTuple):
    """Closures at a motion.

    Attributes:
        motions: successors seen from predecessors.
        actions: that take twists of predecessors into successors (k, 6, 6).
        rotation, translation: of the successors in the world.
    """

    motions: RelativeMotions
    actions: Matrix
    rotation: Matrix
    translation: Vector


def seen_at(bodies: Bodies, predecessors: Ends, successors: Ends) -> SeenClosures:
    """Relative motions of closures, as `FrameFunction.relative_motion` has them."""
    R, p = bodies.matrices("R"), bodies.vectors("p")
    Ra, pa = predecessors.placed(R, p)
    Rb, pb = successors.placed(R, p)
    rotation, translation = Ra.transpose(0, 2, 1) @ Rb, turned_back(Ra, pb - pa)
    actions = inverse_actions(rotation, translation)
    twists, accelerations = bodies.vectors("twist"), bodies.vectors("acceleration")
    carried = turned(actions, predecessors.seen(twists))
    twist = successors.seen(twists) - carried
    acceleration = successors.seen(accelerations) - turned(actions, predecessors.seen(accelerations))
    v, w, u, o = twist[:, :3], twist[:, 3:], carried[:, :3], carried[:, 3:]
    acceleration[:, :3] += cross(w, u) + cross(v, o)
    acceleration[:, 3:] += cross(w, o)
    return SeenClosures(RelativeMotions(rotation, translation, twist, acceleration), actions, Rb, pb)


class _Pattern(NamedTuple):
    """Where the entries that are not zero go, for one set of them.

    Attributes:
        present: which entries are not zero.
        chosen: these, in the order of the matrix.
        indices, indptr: of the matrix, its columns in the order of elimination.
        order: which unknown each column is.
    """

    present: BoolVector
    chosen: Indices
    indices: Indices
    indptr: Indices
    order: Indices


@final
class MaximalSystem:
    """The sparse matrix of a tree with closures: its entries, and an order of elimination that keeps it sparse.

    Args:
        model: the tree.
        predecessors, successors: frames of the closures.
        owners: the closure of each row (size,).
    """

    def __init__(self, model: Model, predecessors: Ends, successors: Ends, owners: Indices) -> None:
        tree: Any = model
        n = model.njoints - 1
        self.predecessors, self.successors, self._owners = predecessors, successors, owners
        self._parents = np.array(list(model.parents), dtype=np.intp)[1:]
        self._carried = np.flatnonzero(self._parents)  # bodies on bodies
        nvs = np.array(list(tree.nvs), dtype=np.intp)[1:]
        starts = np.array(list(tree.idx_vs), dtype=np.intp)[1:]
        first = 12 * np.arange(n) + np.concatenate([[0], np.cumsum(nvs)])[:-1]
        self._body, self._joint = first, first + 6 + nvs
        self._coordinates = np.zeros(model.nv, dtype=np.intp)  # the unknown of each tangent coordinate
        self._column_joint = np.zeros(model.nv, dtype=np.intp)  # and the body that it moves
        for i in range(n):
            columns = slice(starts[i], starts[i] + nvs[i])
            self._coordinates[columns], self._column_joint[columns] = first[i] + 6 + np.arange(nvs[i]), i
        self.unknowns = 12 * n + model.nv + owners.size
        self._rows = np.arange(12 * n + model.nv, self.unknowns)
        self._subspaces, moving = _subspaces(model)
        self._moving = np.flatnonzero(moving)
        self._inertias = np.array([model.inertias[i].matrix() for i in range(1, n + 1)]).reshape(-1, 36)
        self._armature = np.array(tree.armature, dtype=np.float64)
        self._entries()
        self._patterns: list[_Pattern] = []  # the last two: of rows chosen by closure, and among all

    def _entries(self) -> None:
        """Rows and columns of all entries, in the order in which `values` writes them."""
        six, three = np.arange(6), np.arange(3)
        a, f, c = self._body, self._joint, self._coordinates
        parts: list[tuple[Indices, Indices]] = []

        def grid(rows: Indices, columns: Indices) -> tuple[Indices, Indices]:
            shape = (rows.shape[0], rows.shape[1], columns.shape[1])
            i, j = np.broadcast_to(rows[:, :, None], shape), np.broadcast_to(columns[:, None, :], shape)
            return i.reshape(-1), j.reshape(-1)

        def both(i: Indices, j: Indices) -> None:
            parts.extend(((i, j), (j, i)))

        parts.append(grid(a[:, None] + six, a[:, None] + six))
        parts.append((c, c))
        both((f[:, None] + six).reshape(-1), (a[:, None] + six).reshape(-1))
        both(*grid(f[self._column_joint][:, None] + six, c[:, None]))
        own, on = f[self._carried], a[self._parents[self._carried] - 1]
        for i, j in ((0, 0), (3, 3), (0, 3)):
            both(*grid(own[:, None] + i + three, on[:, None] + j + three))
        for ends in (self.predecessors, self.successors):
            joints = ends.joints[self._owners]
            held = np.flatnonzero(joints)
            both(*grid(self._rows[held][:, None], a[joints[held] - 1][:, None] + six))
        parts.append((self._rows, self._rows))
        self._places = np.concatenate([rows for rows, _ in parts]), np.concatenate([columns for _, columns in parts])

    def values(self, bodies: Bodies, J: Matrix, closures: SeenClosures, D: Matrix, kept: BoolVector) -> Vector:
        """The entries at a motion, in the order of their places.

        Args:
            bodies: where.
            J: joint Jacobians (6, nv), spatial, in the world frame.
            closures: at the motion.
            D: rows on the relative twists (size, 6); zero where one does not count.
            kept: rows that count; the multiplier of another one is zero.
        """
        R, p = bodies.matrices("local R")[1:][self._carried], bodies.vectors("local p")[1:][self._carried]
        back = R.transpose(0, 2, 1)  # matrices by columns come out transposed: see `matrices`
        shifted = back @ skew(p)
        S = -self._subspaces_at(bodies, J).reshape(-1)
        ones = np.ones(6 * self._parents.size)
        owners = self._owners
        to_successor = turned_rows(D, self.successors.actions[owners])
        to_predecessor = -turned_rows(turned_rows(D, closures.actions[owners]), self.predecessors.actions[owners])
        ends = (to_predecessor[self.predecessors.joints[owners] > 0], to_successor[self.successors.joints[owners] > 0])
        turns, shifts = -back.reshape(-1), shifted.reshape(-1)
        parts = [self._inertias.reshape(-1), self._armature, ones, ones, S, S, turns, turns, turns, turns]
        parts += [shifts, shifts, *(end.reshape(-1) for end in ends for _ in range(2)), np.where(kept, 0.0, -1.0)]
        return np.concatenate(parts)

    def _subspaces_at(self, bodies: Bodies, J: Matrix) -> Matrix:
        """Motion subspaces by column (nv, 6), each in the axes of its body."""
        if not self._moving.size:
            return self._subspaces
        S = self._subspaces.copy()
        joints = self._column_joint[self._moving] + 1
        R, p = bodies.matrices("R")[joints], bodies.vectors("p")[joints]
        columns = J.T[self._moving]
        S[self._moving, :3] = turned_back(R, columns[:, :3] + cross(columns[:, 3:], p))
        S[self._moving, 3:] = turned_back(R, columns[:, 3:])
        return S

    def right_side(self, forces: Vector, gamma: Vector) -> Vector:
        """The right side, from forces less the bias (nv,), and gamma (size,), zero where a row does not count."""
        b = np.zeros(self.unknowns)
        b[self._coordinates], b[self._rows] = forces, gamma
        return b

    def known(self) -> Vector:
        """A test vector of unknowns, to judge factors by: accelerations of size 1, forces of the size of inertias."""
        masses = self._inertias[:, 0]
        turning = self._inertias[:, [21, 28, 35]].mean(1)
        typical = masses.mean() if masses.any() else 1.0
        x = np.ones(self.unknowns)
        x[self._joint[:, None] + np.arange(3)] = masses[:, None]
        x[self._joint[:, None] + np.arange(3, 6)] = turning[:, None]
        ends = np.stack([end.joints[self._owners] for end in (self.predecessors, self.successors)])
        of_ends = np.concatenate([[0.0], masses])[ends].max(0, initial=0.0)
        x[self._rows] = np.where(of_ends > 0.0, of_ends, typical)
        return x * np.random.default_rng(0).choice([-1.0, 1.0], self.unknowns)

    def errors(self, x: Vector, known: Vector) -> tuple[float, float]:
        """Relative errors of the factors on the test vector: of joint accelerations, and of multipliers."""
        off = np.abs(x - known)
        multipliers = off[self._rows] / np.abs(known[self._rows])
        return float(off[self._coordinates].max(initial=0.0)), float(multipliers.max(initial=0.0))

    def load(self, x: Vector) -> float:
        """The largest force that a joint transmits in a solution, divided by the mean mass [m/s2]."""
        masses = self._inertias[:, 0]
        forces = np.abs(x[self._joint[:, None] + np.arange(3)]).max(initial=0.0)
        return float(forces / masses.mean()) if masses.any() else 0.0

    def accelerations(self, x: Vector) -> Vector:
        """Joint accelerations (nv,) in a solution."""
        return x[self._coordinates]

    def multipliers(self, x: Vector) -> Vector:
        """Multipliers (size,) in a solution."""
        return -x[self._rows]

    def factorised(self, values: Vector) -> Factors | None:
        """The sparse LU decomposition; None where a pivot is zero."""
        present = values != 0.0
        try:
            known = (pattern for pattern in self._patterns if np.array_equal(pattern.present, present))
            pattern = next(known, None) or self._ordered(values, present)
            if pattern is None:
                return None
            shape = (self.unknowns, self.unknowns)
            matrix: Any = csc_matrix((values[pattern.chosen], pattern.indices, pattern.indptr), shape=shape)
            return Factors(matrix, _lu(matrix, permc_spec="NATURAL"), pattern.order)
        except RuntimeError:  # "Factor is exactly singular"
            return None

    def _ordered(self, values: Vector, present: BoolVector) -> _Pattern | None:
        """Find the order of elimination, which depends on the places of the entries alone.

        None where these places alone make the matrix singular: SuperLU (SciPy 1.17) gives BLAS wrong arguments then,
        and in the end writes outside of its memory.
        """
        chosen = np.flatnonzero(present)
        places = self._places[0][chosen], self._places[1][chosen]
        shape = (self.unknowns, self.unknowns)
        matrix: Any = csc_matrix((values[chosen], places), shape=shape)
        if structural_rank(matrix) < self.unknowns:
            return None
        order = np.argsort(_lu(matrix, permc_spec="COLAMD").perm_c)
        numbered: Any = csc_matrix((chosen + 1.0, places), shape=shape)[:, order]
        numbered.sort_indices()
        pattern = _Pattern(present, numbered.data.astype(np.intp) - 1, numbered.indices, numbered.indptr, order)
        self._patterns = [pattern, *self._patterns[:1]]
        return pattern


@final
class Factors:
    """A factorised matrix, its columns in the order of elimination.

    Args:
        matrix: the matrix.
        lu: its factors.
        order: which unknown each column is.

    Attributes:
        entries: how many numbers the factors have.
    """

    def __init__(self, matrix: Any, lu: Any, order: Indices) -> None:
        self._matrix, self._lu, self._order = matrix, lu, order
        self.entries = int(lu.nnz)

    def solve(self, b: Matrix) -> Matrix:
        """Solve for columns (n, k), refined once with the matrix itself."""
        y = self._lu.solve(b)
        y += self._lu.solve(b - self._matrix @ y)
        x = np.empty_like(y)
        x[self._order] = y
        return x

    def times(self, x: Vector) -> Vector:
        """The matrix times x."""
        return self._matrix @ x[self._order]


_lu: Callable[..., Any] = partial(splu, relax=1)
"""Small supernodes: the blocks of a mechanism are. With `panel_size=1` too, SuperLU (SciPy 1.17) writes outside of its
memory where the matrix is exactly singular, as that of rows given twice is."""


def _subspaces(model: Model) -> tuple[Matrix, BoolVector]:
    """Motion subspaces by column (nv, 6) where they are constant, and where they are not (nv,)."""
    S, moving = np.zeros((model.nv, 6)), np.zeros(model.nv, dtype=np.bool_)
    neutral = pin.neutral(model)
    for i in range(1, model.njoints):
        joint = model.joints[i]
        columns = slice(joint.idx_v, joint.idx_v + joint.nv)
        if type_name(joint) in MOVING_SUBSPACES:
            moving[columns] = True
            continue
        data = joint.createData()
        joint.calc(data, neutral)
        S[columns] = np.asarray(data.S).reshape(6, joint.nv).T
    return S, moving
