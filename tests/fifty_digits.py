"""What functions are in 50 digits: a judge that knows the formulas of the documentation, and nothing of the library.

Points are lists of leaves: numbers for vectors, rotation matrices, and pairs of a rotation and a translation. Unit
quaternions and rotations of placements, rounded in doubles, are made exact: quaternions normalised, matrices turned to
the rotation next to them. Jacobians are central differences with a step of 1e-18, right to 1e-35.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from mpmath import mp as _mp

from constraints import (
    Affine,
    CenterOfMass,
    ComBetweenFeet,
    Function,
    Orientation,
    Pose,
    Position,
    Rotation,
    Stacked,
    Transformation,
)
from constraints.functions import (
    AngleAbout,
    Constant,
    ConvexShapeContact,
    ConvexShapeContactComplement,
    ConvexShapeContactHold,
    Expression,
    Identity,
    Lifted,
    Polynomial,
    Restriction,
)
from constraints.functions.affine import Straight
from constraints.functions.algebra import Composition, Difference, Sum
from constraints.functions.contact.contact_pose import PoseOfContact
from constraints.functions.frames.frame_function import FrameFunction
from constraints.functions.frames.pose_from_rows import PoseFromRows
from constraints.functions.translation import RightTranslation, Translated
from constraints.loops.contacts import LocalPoint
from constraints.loops.hinges.hinge_fit import ScrewRows
from constraints.loops.hinges.masked_map import MaskedMap
from constraints.loops.hinges.pose_map import LogPose, Rod, Split, TurnedLog
from constraints.loops.hinges.relative_pose import OfRelativePose
from constraints.loops.hinges.rotation_rows import Cross, Turn
from constraints.rows.twin import Twin
from liegroups import SE2, SE3, SO2, SO3, Space
from liegroups.space import as_space

mp: Any = _mp
mp.dps = 50
STEP = 18
Leaf = Any
Point = list[Leaf]


def exact(x: Any) -> Any:
    """Doubles as numbers of 50 digits, an array of objects."""
    return np.array([mp.mpf(float(s)) for s in np.ravel(x)], dtype=object).reshape(np.shape(x))


def eye(n: int) -> Any:
    return exact(np.eye(n))


def _norm(x: Any) -> Any:
    return mp.sqrt(sum(s * s for s in x))


def skew(w: Any) -> Any:
    zero = mp.mpf(0)
    return np.array([[zero, -w[2], w[1]], [w[2], zero, -w[0]], [-w[1], w[0], zero]], dtype=object)


def rotation(w: Any) -> Any:
    """The rotation of a rotation vector (Rodrigues)."""
    angle = _norm(w)
    if angle == 0:
        return eye(3)
    K = skew([s / angle for s in w])
    return eye(3) + K * mp.sin(angle) + (K @ K) * (1 - mp.cos(angle))  # mpmath takes long over a number times an array


def rotation_vector(R: Any) -> Any:
    """The shortest rotation vector of a rotation."""
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]], dtype=object) / 2
    sine, cosine = _norm(axis), (R[0, 0] + R[1, 1] + R[2, 2] - 1) / 2
    if sine == 0:
        return axis
    return axis * (mp.atan2(sine, cosine) / sine)


def of_quaternion(x: Sequence[float]) -> Any:
    """The rotation of a quaternion xyzw of any length."""
    v = exact(x)
    n = _norm(v)
    a, b, c, d = (s / n for s in v)
    u = np.array([a, b, c], dtype=object)
    return eye(3) * (d * d - u @ u) + 2 * np.outer(u, u) + skew(u) * (2 * d)


def next_rotation(R: Any) -> Any:
    """The rotation next to a matrix of doubles: Newton's iteration for the polar factor."""
    return _polar(np.ascontiguousarray(R, dtype=np.float64).tobytes())


@functools.cache
def _polar(R: bytes) -> Any:
    A = exact(np.frombuffer(R).reshape(3, 3))
    for _ in range(6):
        A = A @ (3 * eye(3) - A.T @ A) / 2
    A.setflags(write=False)
    return A


def placed(M: Any) -> tuple[Any, Any]:
    """A placement of pinocchio: rotation and translation."""
    return next_rotation(M.rotation), exact(M.translation)


def product(a: Any, b: Any) -> tuple[Any, Any]:
    return a[0] @ b[0], a[0] @ b[1] + a[1]


def inverted(a: Any) -> tuple[Any, Any]:
    return a[0].T, -(a[0].T @ a[1])


def left_jacobian(w: Any) -> Any:
    """Of exp on SO(3): what turns the linear part of a twist into a translation."""
    angle = _norm(w)
    if angle == 0:
        return eye(3)
    K = skew(w)
    a = (1 - mp.cos(angle)) / angle**2
    b = (angle - mp.sin(angle)) / angle**3
    return eye(3) + K * a + (K @ K) * b


def solved(A: Any, b: Any) -> Any:
    return np.array(list(mp.lu_solve(mp.matrix(A.tolist()), mp.matrix(list(b)))), dtype=object)


# Leaves of spaces: from doubles, moved along a tangent vector, and the logarithm of one seen from another. Those of the
# plane are motions of space, about z and along x and y.

TWIST = {SO2.atoms: [5], SO3.atoms: [3, 4, 5], SE2.atoms: [0, 1, 5], SE3.atoms: [0, 1, 2, 3, 4, 5]}
"""Where the tangent vector of a leaf stands in a twist, linear part first."""


def _about_z(c: Any, s: Any) -> Any:
    n, R = mp.sqrt(c * c + s * s), eye(3)
    R[:2, :2] = np.array([[c, -s], [s, c]], dtype=object) / n
    return R


def leaf_of(kind: Space, q: Any) -> Leaf:
    if kind.is_flat:
        return exact(q)
    turn = 4 if kind.atoms in (SO3.atoms, SE3.atoms) else 2
    R, p = of_quaternion(q[-4:]) if turn == 4 else _about_z(*exact(q[-2:])), exact(np.zeros(3))
    p[: len(q) - turn] = exact(q[:-turn])
    return (R, p) if len(q) > turn else R


def leaf_moved(kind: Space, x: Leaf, v: Any) -> Leaf:
    if kind.is_flat:
        return x + v
    twist = exact(np.zeros(6))
    twist[TWIST[kind.atoms]] = v
    R = rotation(twist[3:])
    return product(x, (R, left_jacobian(twist[3:]) @ twist[:3])) if isinstance(x, tuple) else x @ R


def leaf_log(kind: Space, a: Leaf, b: Leaf) -> Any:
    """Of a^-1 b."""
    if kind.is_flat:
        return b - a
    R, p = product(inverted(a), b) if isinstance(a, tuple) else (a.T @ b, exact(np.zeros(3)))
    planar = kind.atoms in (SO2.atoms, SE2.atoms)  # the angle of a half turn has a sign there
    w = exact([0, 0, 1]) * mp.atan2(R[1, 0], R[0, 0]) if planar else rotation_vector(R)
    linear = solved(left_jacobian(w), p) if isinstance(a, tuple) else p
    return np.concatenate([linear, w])[TWIST[kind.atoms]]


def leaf_product(a: Leaf, b: Leaf) -> Leaf:
    if isinstance(a, tuple):
        return product(a, b)
    return a + b if a.ndim == 1 else a @ b


def leaf_inverse(a: Leaf) -> Leaf:
    if isinstance(a, tuple):
        return inverted(a)
    return -a if a.ndim == 1 else a.T


def point_of(space: Space, q: Any) -> Point:
    """A configuration of doubles."""
    return [leaf_of(leaf.space, np.asarray(q)[leaf.q]) for leaf in space.leaves()]


def moved(space: Space, point: Point, v: Any) -> Point:
    """A point moved along a tangent vector."""
    return [leaf_moved(leaf.space, x, v[leaf.v]) for leaf, x in zip(space.leaves(), point, strict=True)]


def log_between(space: Space, a: Point, b: Point) -> Any:
    """The logarithm of b seen from a (nv,)."""
    found = [leaf_log(leaf.space, x, y) for leaf, x, y in zip(space.leaves(), a, b, strict=True)]
    return np.concatenate(found) if found else np.zeros(0, dtype=object)


# Robots.


def _about(axis: Any, angle: Any) -> Any:
    return rotation(np.array(list(axis), dtype=object) * angle)


def _joint(joint: Any, kind: str, leaves: list[Leaf]) -> tuple[Any, Any]:
    """The motion of a joint, which takes its leaves from the front of the list."""
    still, here = exact(np.zeros(3)), eye(3)
    unit = {"X": here[0], "Y": here[1], "Z": here[2]}
    if kind == "Composite":
        whole, M = joint.extract() if hasattr(joint, "extract") else joint, (here, still)
        for part, placement in zip(whole.joints, whole.jointPlacements, strict=True):
            M = product(M, product(placed(placement), _joint(part, _kind(part), leaves)))
        return M
    x = leaves.pop(0)
    whole = joint.extract() if hasattr(joint, "extract") else joint

    def axis() -> Any:
        if kind[-1] in unit:
            return unit[kind[-1]]
        if kind == "RevoluteUnboundedUnaligned":
            memory = whole.createData()
            whole.calc(memory, np.array([1.0, 0.0]))
            a = exact(np.array(memory.S).ravel()[3:])
        else:
            a = exact(whole.axis)
        return a / _norm(a)

    if kind in ("RX", "RY", "RZ", "RevoluteUnaligned"):
        return _about(axis(), x[0]), still
    if kind in ("RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned"):
        return _about(axis(), mp.atan2(x[1, 0], x[0, 0])), still
    if kind in ("PX", "PY", "PZ", "PrismaticUnaligned"):
        return here, axis() * x[0]
    if kind in ("HX", "HY", "HZ", "HelicalUnaligned"):
        return _about(axis(), x[0]), axis() * (mp.mpf(float(whole.pitch)) * x[0])
    if kind == "Planar":
        return x
    if kind == "Spherical":
        return x, still
    if kind == "SphericalZYX":
        return _about(unit["Z"], x[0]) @ _about(unit["Y"], x[1]) @ _about(unit["X"], x[2]), still
    if kind == "FreeFlyer":
        return x
    if kind == "Translation":
        return here, x
    if kind == "Universal":
        a, b = exact(whole.axis1), exact(whole.axis2)
        return _about(a / _norm(a), x[0]) @ _about(b / _norm(b), x[1]), still
    raise NotImplementedError(kind)


def _kind(joint: Any) -> str:
    return str(joint.shortname()).removeprefix("JointModel").removesuffix("Tpl")


def frames_of(robot: Any, point: Point) -> list[tuple[Any, Any]]:
    """Placements of the joints in the world; the world itself first."""
    model, leaves = robot.model, list(point)
    found = [(eye(3), exact(np.zeros(3)))]
    for j in range(1, model.njoints):
        own = product(placed(model.jointPlacements[j]), _joint(model.joints[j], _kind(model.joints[j]), leaves))
        found.append(product(found[model.parents[j]], own))
    return found


def _relative(f: Any, point: Point) -> tuple[Any, Any]:
    frames = frames_of(f.robot, point)
    a, b = (product(frames[frame.joint], placed(frame.placement)) for frame in (f.frame_a, f.frame_b))
    return product(inverted(a), b)


def _center(f: CenterOfMass, point: Point) -> Any:
    frames, total, mass = frames_of(f.robot, point), exact(np.zeros(3)), mp.mpf(0)
    for j in f.moving_joints:
        body = f.robot.model.inertias[j]
        R, p = frames[j]
        own = mp.mpf(float(body.mass))
        total, mass = total + own * (R @ exact(body.lever) + p), mass + own
    a = product(frames[f.frame_a.joint], placed(f.frame_a.placement))
    R, p = inverted(a)
    return R @ (total / mass) + p


def _between_feet(f: ComBetweenFeet, point: Point) -> Any:
    frames = frames_of(f.robot, point)
    named = [f.robot.frame(x) for x in (f.left, f.right, f.reference)]
    (_, left), (_, right), (R, x) = (product(frames[one.joint], placed(one.placement)) for one in named)
    c = _center(CenterOfMass(f.robot, f.joints, f.subtrees), point)
    u, middle = right - left, (left + right) / 2
    return np.array([(c - x)[2], (R.T @ (skew(c - middle) @ u))[2], (c - left) @ u, (c - right) @ u], dtype=object)


# Operators.


def _by_row(apply: Callable[..., Any]) -> Callable[..., Any]:
    def rows(*vectors: Any) -> Any:
        n = max(map(len, vectors))
        wide = [v if len(v) == n else [v[0]] * n for v in vectors]
        return np.array([apply(*entries) for entries in zip(*wide, strict=True)], dtype=object)

    return rows


def _cross(a: Any, b: Any) -> Any:
    return skew(a) @ b


def _alone(x: Any) -> Any:
    return np.array([x], dtype=object)


OPERATORS: dict[str, Callable[..., Any]] = {
    "product": _by_row(lambda x, y: x * y),
    "quotient": _by_row(lambda x, y: x / y),
    "dot": lambda x, y: _alone(x @ y),
    "cross": _cross,
    "norm": lambda x: _alone(_norm(x)),
    "rotated": lambda R, p: R @ p,
    "minimum": _by_row(min),
    "maximum": _by_row(max),
    "sqrt": _by_row(mp.sqrt),
    "sin": _by_row(mp.sin),
    "cos": _by_row(mp.cos),
    "atan2": _by_row(mp.atan2),
    "exp": _by_row(mp.exp),
    "log": _by_row(mp.log),
}


def _expression(f: Expression, point: Point) -> Point:
    operands = [value_at(g, point) for g in f.functions]
    if f.operator == "inverse":
        return [leaf_inverse(x) for x in operands[0]]
    vectors = [_joined(x) if g.outputs.is_flat else x[0] for g, x in zip(f.functions, operands, strict=True)]
    if f.operator == "power":
        c = int(f.number or 0) if f.number == int(f.number or 0) else mp.mpf(f.number)
        return [_by_row(lambda x: x**c)(*vectors)]
    if f.operator == "smooth_abs":
        w = mp.mpf(f.number)
        return [_by_row(lambda x: mp.sqrt(x * x + w * w) - w)(*vectors)]
    return [OPERATORS[f.operator](*vectors)]


def _joined(point: Point) -> Any:
    return np.concatenate(point) if point else np.zeros(0, dtype=object)


def _vector_part(space: Space, point: Point) -> Any:
    """By tangent column: coordinates of vectors, zero elsewhere."""
    x = np.array([mp.mpf(0)] * space.nv, dtype=object)
    for leaf, own in zip(space.leaves(), point, strict=True):
        if leaf.space.is_flat:
            x[leaf.v] = own
    return x


def _split(space: Space, vector: Any) -> Point:
    """A vector as the leaves of a flat space."""
    return [vector[leaf.v] for leaf in space.leaves()]


def value_at(f: Function, point: Point) -> Point:
    """The value of a function of the library.

    Raises:
        NotImplementedError: no formula here for its class.
    """
    return _merged(f.outputs, _of_its_class(f, point))


def _of_its_class(f: Function, point: Point) -> Point:
    """The same, cut into leaves in any way."""
    if isinstance(f, FrameFunction):
        return _of_frames(f, point)
    if isinstance(f, CenterOfMass):
        return [_center(f, point)]
    if isinstance(f, ComBetweenFeet):
        return [_between_feet(f, point)]
    if isinstance(f, Expression):
        return _expression(f, point)
    if isinstance(f, AngleAbout):
        return value_at(f.written, point)
    if isinstance(f, Straight):
        return _straight(f, point)
    if isinstance(f, Polynomial):
        s = exact(np.asarray(f.weights)) @ _vector_part(as_space(f.inputs, f.name), point) + mp.mpf(float(f.offset))
        return [_alone(sum(mp.mpf(float(a)) * s**k for k, a in enumerate(np.asarray(f.coefficients))))]
    if isinstance(f, PoseFromRows):
        x = _joined(point)
        return [(rotation(x[3:]), x[:3])]
    if isinstance(f, (ConvexShapeContact, ConvexShapeContactComplement, ConvexShapeContactHold)):
        return _contact(f, point)
    if isinstance(f, PoseOfContact):
        h, turn = _joined(point[:-1]), point[-1]
        about = eye(3)
        about[1:, 1:] = turn[:2, :2]
        p = np.array([h[0] - mp.mpf(f.margin), h[1] + h[5], h[2] + h[6]], dtype=object)
        return [(rotation([mp.mpf(0), h[3], h[4]]) @ about, p)]
    return _of_others(f, point)


def _nearest(polygon: Any, p: Any) -> Any:
    """The nearest point of a convex polygon, counter-clockwise."""
    candidates = list[Any]()
    corners = exact(polygon)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        t = b - a
        if t[0] * (p[1] - a[1]) - t[1] * (p[0] - a[0]) < 0:
            candidates.append(a + min(max((t @ (p - a)) / (t @ t), mp.mpf(0)), mp.mpf(1)) * t)
    return min(candidates, key=lambda x: (x - p) @ (x - p)) if candidates else p


def contact_rows(R: Any, p: Any, polygon: Any, margin: float) -> tuple[Any, Any, tuple[Any, Any]]:
    """The rows of a contact, its place, and (cos, sin) of the turn about the normal, of a pose seen from the floor.

    The swing is the rotation vector that leads e_x to the normal.
    """
    near, sine = _nearest(polygon, p[1:]), _norm(R[1:, 0])
    tilt = np.array([-R[2, 0], R[1, 0]], dtype=object) * (mp.atan2(sine, R[0, 0]) / sine if sine else 1)
    c, s = R[1, 1] + R[2, 2], R[2, 1] - R[1, 2]
    n = mp.sqrt(c * c + s * s)
    return np.concatenate([[p[0] + mp.mpf(margin)], p[1:] - near, tilt]), near, (c / n, s / n)


def _contact(f: Any, point: Point) -> Point:
    """Rows of the pair with the least contact."""
    found = [contact_rows(*_relative(pair, point), pair.floor.polygon, f.margin) for pair in f._pairs]
    rows, near, turn = min(found, key=lambda entry: entry[0] @ entry[0])
    if isinstance(f, ConvexShapeContact):
        return [rows]
    if isinstance(f, ConvexShapeContactComplement):
        return [near, _about_z(*turn)]
    return [np.concatenate([rows, near]), _about_z(*turn)]


def _of_frames(f: Any, point: Point) -> Point:
    R, p = _relative(f, point)
    if isinstance(f, Position):
        return [p]
    if isinstance(f, Orientation):
        return [rotation_vector(R)]
    if isinstance(f, Rotation):
        return [R]
    if isinstance(f, Transformation):
        return [np.concatenate([p, rotation_vector(R)])]
    if isinstance(f, Pose):
        return [(R, p)] if f.outputs == SE3 else [p, R]
    if isinstance(f, OfRelativePose):
        return [_of_map(f.pose_map, R, p)]
    raise NotImplementedError(type(f).__name__)


def _of_map(rows: Any, R: Any, p: Any) -> Any:
    """Rows of a closure."""
    if isinstance(rows, MaskedMap):
        return _of_map(rows.whole, R, p)[rows.rows]
    if isinstance(rows, Split):
        turned = [] if rows.rotation is None else [_of_turns(rows.rotation, R)]
        return np.concatenate([exact(rows.directions) @ p, *turned])
    if isinstance(rows, Rod):
        return _alone((p @ p - mp.mpf(rows.length) ** 2) / 2)
    if isinstance(rows, LocalPoint):
        return exact(rows.directions) @ (R.T @ p)
    if isinstance(rows, ScrewRows):
        axis, pitch = exact(rows.screw.axis), mp.mpf(rows.screw.pitch)
        v = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]], dtype=object)
        turn = 2 * mp.atan2(axis @ v, 1 + R[0, 0] + R[1, 1] + R[2, 2])
        turn += 2 * mp.pi * mp.nint((axis @ p / pitch - turn) / (2 * mp.pi))
        found = _of_map(rows.split, R, p)
        found[2] -= pitch * turn
        return found
    w = rotation_vector(R)
    log = np.concatenate([solved(left_jacobian(w), p), w])
    if isinstance(rows, LogPose):
        return log
    if isinstance(rows, TurnedLog):
        C = exact(rows.turn) @ R
        return np.concatenate([C @ log[:3], C @ log[3:]])
    raise NotImplementedError(type(rows).__name__)


def _of_turns(rows: Any, R: Any) -> Any:
    """Rows of a rotation."""
    if isinstance(rows, Turn):
        w = rotation_vector(R)
        return w if rows.axes is None else exact(rows.axes) @ w
    a, d = exact(rows.a), R @ exact(rows.b)
    if isinstance(rows, Cross):
        return _alone(-mp.asin(a @ d))
    sine = _norm(_cross(a, d))
    return exact(rows.across) @ d * (mp.atan2(sine, a @ d) / sine if sine else 1)


def _straight(f: Any, point: Point) -> Point:
    if isinstance(f, Affine):
        x = exact(np.asarray(f.A)) @ _vector_part(as_space(f.inputs, f.name), point) + exact(np.asarray(f.b))
        return _split(f.outputs, x)
    if isinstance(f, Identity):
        return point
    if isinstance(f, Constant):
        return point_of(as_space(f.outputs, f.name), np.asarray(f.constant))
    if isinstance(f, RightTranslation):
        c = point_of(f.space, f.constant)
        return [leaf_product(x, y) for x, y in zip(point, c, strict=True)]
    raise NotImplementedError(type(f).__name__)


def _of_others(f: Any, point: Point) -> Point:
    if isinstance(f, Composition):
        return value_at(f.outer, _as_leaves(f.outer.inputs, f.inner.outputs, value_at(f.inner, point)))
    if isinstance(f, Stacked):
        return _merged(f.outputs, [x for g in f.functions for x in value_at(g, point)])
    if isinstance(f, Sum):
        parts = [
            _joined(value_at(g, point)) * mp.mpf(float(c))
            for g, c in zip(f.functions, np.asarray(f.factors), strict=True)
        ]
        return _split(f.outputs, sum(parts))
    if isinstance(f, Difference):
        a, b = value_at(f.right, point), value_at(f.left, point)
        return [_joined(b) - _joined(a) if f.left.outputs.is_flat else log_between(f.left.outputs, a, b)]
    if isinstance(f, Twin):
        pairs = zip(value_at(f.f, point), value_at(f.g, point), strict=True)
        return [leaf_product(leaf_inverse(x), y) for x, y in pairs]
    if isinstance(f, Translated):
        c = point_of(f.inner.outputs, f.constant)
        inside = [leaf_product(x, y) for x, y in zip(value_at(f.inner, point), c, strict=True)]
        return inside if f.outer is None else value_at(f.outer, inside)
    if isinstance(f, Restriction | Lifted):
        space, block = (f.function.outputs, cast(Any, f.rows)) if isinstance(f, Restriction) else (f.space, f.block)
        whole = value_at(f.function, point) if isinstance(f, Restriction) else point
        part = _taken(space, whole, block.v)
        own = f.outputs if isinstance(f, Restriction) else f.function.inputs
        inside = _merged(own, part)
        return inside if isinstance(f, Restriction) else value_at(f.function, inside)
    raise NotImplementedError(type(f).__name__)


def _taken(space: Space, point: Point, columns: Sequence[int]) -> Point:
    found = list[Leaf]()
    for leaf, x in zip(space.leaves(), point, strict=True):
        inside = [k - leaf.v.start for k in range(leaf.v.start, leaf.v.stop) if k in columns]
        if inside:
            found.append(x[inside] if leaf.space.is_flat else x)
    return found


def _merged(space: Space, parts: Point) -> Point:
    """Leaves of vectors joined, or cut, as the space has them."""
    waiting, found = list(parts), list[Leaf]()
    for leaf in space.leaves():
        if not leaf.space.is_flat:
            while isinstance(waiting[0], np.ndarray) and waiting[0].ndim == 1 and not len(waiting[0]):
                waiting.pop(0)
            found.append(waiting.pop(0))
            continue
        numbers = np.zeros(0, dtype=object)
        while len(numbers) < leaf.space.nv:
            numbers = np.concatenate([numbers, waiting.pop(0)])
        if len(numbers) > leaf.space.nv:
            waiting.insert(0, numbers[leaf.space.nv :])
        found.append(numbers[: leaf.space.nv])
    return found


def _as_leaves(space: Space, given: Space, point: Point) -> Point:
    """A point of an equal space that is cut into other leaves."""
    return _merged(space, point) if len(space.leaves()) != len(given.leaves()) else point


def column_at(f: Function, point: Point, k: int) -> Any:
    """Column k of the Jacobian (outputs.nv,), by a central difference."""
    h = mp.mpf(10) ** -STEP
    e = np.array([mp.mpf(0)] * f.inputs.nv, dtype=object)
    e[k] = h
    here, ahead, back = (value_at(f, moved(f.inputs, point, s * e)) for s in (0, 1, -1))
    forward, behind = (log_between(f.outputs, here, there) for there in (ahead, back))
    return (forward - behind) / (2 * h)
