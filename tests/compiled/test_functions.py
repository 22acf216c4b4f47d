"""Packed functions against the readable ones: value and Jacobian, at random and at bad places."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, humanoid, mixed_tree, two_arms
from samples import SAMPLES, arm_frames, humanoid_frames, mixed_frames, two_arms_frames

import constraints.functions
from constraints import (
    Affine,
    CenterOfMass,
    ConvexShapeContactHold,
    Function,
    Implicit,
    Orientation,
    Pose,
    Position,
    Problem,
    Robot,
    Rotation,
    Stacked,
    Surface,
    Transformation,
)
from constraints.errors import UndefinedError
from constraints.functions import Constant, Identity, Polynomial
from constraints.functions.contact.contact_pose import PoseOfContact
from constraints.functions.pose_from_rows import PoseFromRows
from constraints.functions.translation import RightTranslation, Translated
from constraints.functions.twin import Twin
from liegroups import SE2, SE3, SO2, SO3, ProductSpace, R3xSO3, Rn, Space

pytest.importorskip("numba")

from constraints.solvers.compiled import layout
from constraints.solvers.compiled.engine import why_not
from constraints.solvers.compiled.functions import TABLE, pack_function
from constraints.solvers.compiled.kernels import jit
from constraints.solvers.compiled.kernels.tape import run_tape
from constraints.solvers.compiled.kernels.trees import place
from constraints.solvers.compiled.packing import Argument, NotPacked, Packer

Floats, Integers, Numbers, Vector = jit.Floats, jit.Integers, jit.Numbers, jit.Vector


@jit.entrance
def _run(integers: Numbers, floats: Vector, work: Vector, joints: int, tape: int, jacobian: int) -> bool:
    """Place joints, and run a tape."""
    I, F, W = jit.address(integers), jit.address(floats), jit.address(work)
    place(I, F, W, joints, I[layout.Q], jacobian)
    return run_tape(I, F, W, tape, jacobian)


class Packed:
    """A function alone, packed."""

    def __init__(self, f: Function) -> None:
        space, packer = f.inputs, Packer(f.inputs.nv)
        self.f, header = f, packer.header
        header[layout.Q] = packer.filled(space.neutral)
        header[layout.TWISTS] = packer.memory(6 * space.nv)
        argument = Argument(header[layout.Q], np.arange(space.nv, dtype=np.int64), is_configuration=True)
        self.q, self.result = header[layout.Q], packer.own_jacobian(f)
        self.tape = packer.recorded(lambda: pack_function(packer, f, argument, self.result))
        tree = packer.joints
        self.joints = packer.counted([]) if tree is None else tree.table(tree.with_carriers(packer.used))
        self.arrays = packer.arrays()

    def value(self, q: Any) -> Any:
        """The value alone."""
        f, work = self.f, self.arrays[2]
        work[self.q : self.q + f.inputs.nq] = q
        if not _run(*self.arrays, self.joints, self.tape, layout.VALUES):
            raise UndefinedError(f.name)
        return work[self.result.value : self.result.value + f.outputs.nq].copy()

    def linearise(self, q: Any) -> tuple[Any, Any]:
        """Value and Jacobian."""
        f, work = self.f, self.arrays[2]
        work[self.q : self.q + f.inputs.nq] = q
        if not _run(*self.arrays, self.joints, self.tape, layout.WITH_JACOBIAN):
            raise UndefinedError(f.name)
        end = self.result.jacobian + f.inputs.nv * f.outputs.nv
        J = work[self.result.jacobian : end].reshape(f.inputs.nv, f.outputs.nv).T
        return work[self.result.value : self.result.value + f.outputs.nq].copy(), J.copy()


def places(space: Space, seed: int, count: int = 6) -> list[Any]:
    """Random points, the neutral one, and points next to it."""
    rng = np.random.default_rng(seed)
    steps = [rng.normal(0.0, 1.0, space.nv) for _ in range(count)]
    steps += [0.0 * steps[0], 1e-9 * steps[1], 1e-4 * steps[2], 3.0 * steps[3]]
    return [space.integrate(space.neutral, step) for step in steps]


def close(a: Any, b: Any) -> bool:
    """To 1e-12 of the largest entry."""
    return bool(np.abs(a - b).max(initial=0.0) <= 1e-12 * max(1.0, float(np.abs(b).max(initial=0.0))))


def same_value(space: Space, a: Any, b: Any) -> bool:
    """Numbers of a point, rotations up to the sign of their quaternion where a half turn leaves it free."""
    if close(a, b):
        return True
    flipped = a.copy()
    for block in space.unit_blocks:
        if block.stop - block.start == 4 and abs(b[block.stop - 1]) < 1e-12:
            flipped[block] *= np.sign(a[block] @ b[block])
    return close(flipped, b)


def check(packed: Packed, q: Any) -> None:
    """Value, value with Jacobian, and Jacobian at one place."""
    f = packed.f
    expected = f.linearise(q)
    value, jacobian = packed.linearise(q)
    assert same_value(f.outputs, value, expected.value), (value, expected.value)
    assert close(jacobian, expected.jacobian), np.abs(jacobian - expected.jacobian).max(axis=0)
    assert np.array_equal(packed.value(q), value)


def packed_or_skipped(f: Function) -> Packed:
    """A packed function; joints that are not packed are tested elsewhere."""
    try:
        return Packed(f)
    except NotPacked as reason:
        if "joint" in str(reason):
            pytest.skip(str(reason))
        raise


REFUSED = ("FromCallable", "DistanceBetween", "through a robot", "Lifted, by differences", "Composition, to a group")
"""Samples that are, or hold, what is not packed."""


@pytest.mark.parametrize("name", [name for name in SAMPLES if not name.startswith(REFUSED) and REFUSED[2] not in name])
def test_sample_is_the_readable_function(name: str) -> None:
    packed = packed_or_skipped(SAMPLES[name]())
    for q in places(packed.f.inputs, 1):
        check(packed, q)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.startswith(REFUSED) or REFUSED[2] in name])
def test_sample_that_is_not_packed_says_why(name: str) -> None:
    with pytest.raises(NotPacked, match=r"a FromCallable|a DistanceBetween|computed by other functions"):
        Packed(SAMPLES[name]())
