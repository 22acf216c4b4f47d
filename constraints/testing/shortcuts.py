"""What a function may offer the solver beside `evaluate`: rows for a step, and frames that may be seen elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from liegroups.arrays import Vector

from ..functions.frame_function import Framed, kinematics_at
from ..functions.function import Function
from ..point import place
from ..robot import Frame
from ..robot.posture import Kinematics
from ..rows.step_rows import function_step_rows
from ..workspace import Workspace
from .failure import largest, require, within
from .places import evaluated

EXACT = 1e-10
"""Largest difference, relative to 1 + the largest entry, of what is computed twice by other products."""
CLEAR = 1e-3
"""Singular values of a Jacobian below this leave open which matrix turned it into another one."""


def check_step_rows(f: Function, q: Vector) -> None:
    r"""Rows for a step are :math:`T h, T J` with T invertible and the norm of h kept in each block of `mixed_rows`.

    Args:
        f: the function; one without such rows is left alone.
        q: where.
    """
    steps, blocks = function_step_rows(f)
    if not (f.outputs.is_flat and steps and blocks):
        return
    (h, J), (e, Je) = evaluated(f, q, Workspace()), evaluated(f, q, Workspace(), method=STEP)
    alone, _ = evaluated(f, q, Workspace(), method=STEP, with_jacobian=False)
    mend = "mixed_rows lists each block of rows that T mixes; what is in none must stay as evaluate writes it"
    mixed = np.zeros(f.outputs.nv, dtype=np.bool_)
    for block in blocks:
        mixed[block] = True
        within(
            f"|T h| = |h| in rows {block.start} to {block.stop - 1} of {f.name}", _off(e, h, block), EXACT, mend, q=q
        )
    kept = np.array_equal(e[~mixed], h[~mixed]) and np.array_equal(Je[~mixed], J[~mixed])
    seen = f"a row for a step of {f.name} in no block of mixed_rows is another than that of evaluate"
    require("rows in no block of mixed_rows are those of evaluate", kept, mend, seen, q=q)
    seen = f"rows for a step of {f.name} are others without a Jacobian"
    require("rows for a step are the same without a Jacobian", np.array_equal(alone, e), mend, seen, q=q)
    quiet = not Je[:, ~f.columns].any()
    seen = f"rows for a step of {f.name} have an entry in a column that is not declared"
    require("rows for a step leave columns that are not declared at zero", quiet, mend, seen, q=q)
    if np.linalg.svd(J, compute_uv=False)[-1] < CLEAR or J.shape[0] > J.shape[1]:
        return
    T = Je @ np.linalg.pinv(J)
    mend = "evaluate_for_step multiplies the value and the Jacobian of evaluate by one invertible matrix"
    size = 1.0 + largest(J) + largest(h)
    within(f"rows for a step of {f.name}: T J", largest(T @ J - Je) / size, EXACT / CLEAR, mend, q=q)
    within(f"rows for a step of {f.name}: T h", largest(T @ h - e) / size, EXACT / CLEAR, mend, q=q)
    require(f"rows for a step of {f.name}: T is invertible", bool(np.linalg.cond(T) < 1.0 / CLEAR), mend, q=q)


def check_frames(f: Function, q: Vector, elsewhere: Vector) -> None:
    """With `sees_only_frames` the value follows the placements of the frames, whatever carries them.

    Args:
        f: the function; one that does not say so is left alone.
        q: where.
        elsewhere: another configuration, of frames that stay where they are at q.
    """
    if not (isinstance(f, Framed) and f.sees_only_frames):
        return
    h, J = evaluated(f, q, Workspace())
    k = kinematics_at(place(f.inputs, q, Workspace()), None)
    in_world = [tuple(k.oMi[frame.joint] * frame.placement for frame in (p.frame_a, p.frame_b)) for p in f.parts]
    mend = "ask relative_placement and write_jacobian, never frame_a, frame_b or point.q; or drop sees_only_frames"
    workspace = Workspace()
    point = place(f.inputs, elsewhere, workspace)
    still = _anchored(f, [(0, 0)] * len(f.parts), in_world, kinematics_at(point, None))
    value = np.full(f.outputs.nq, np.nan)
    still.evaluate(point, value)
    law = f"{f.name} has the same value for frames in the same places"
    apart = largest(f.outputs.difference(h, value)) if f.outputs.is_normalized(value, 1e-9) else np.inf
    within(law, apart / (1.0 + largest(h)), EXACT, mend, q=q, elsewhere=elsewhere)
    point = place(f.inputs, q, workspace)
    joints = [(p.frame_a.joint, p.frame_b.joint) for p in f.parts]
    on_joints = [(p.frame_a.placement, p.frame_b.placement) for p in f.parts]
    moved = _anchored(f, joints, on_joints, kinematics_at(point, J))
    jacobian = np.zeros_like(J)
    moved.evaluate(point, value, jacobian)
    law = f"{f.name} has the same Jacobian for frames in the same places"
    within(law, largest(jacobian - J) / (1.0 + largest(J)), EXACT, mend, q=q)


def _anchored(
    f: Framed, joints: Sequence[tuple[int, int]], placements: Sequence[tuple[Any, ...]], k: Kinematics
) -> Function:
    """The function with the two frames of each part on other joints, at placements that only the memory knows."""
    parts = [
        part.between(Frame(part.frame_a.name, a), Frame(part.frame_b.name, b))
        for part, (a, b) in zip(f.parts, joints, strict=True)
    ]
    for part, pair in zip(parts, placements, strict=True):
        k.relative(part, part.frame_a, part.frame_b).anchor(*pair)
    return f.with_parts(parts)


STEP = "evaluate_for_step"


def _off(e: Vector, h: Vector, block: slice) -> float:
    """How far two vectors differ in the norm of a block."""
    a, b = (float(np.sqrt(v[block] @ v[block])) for v in (e, h))
    return abs(a - b) / (1.0 + b)
