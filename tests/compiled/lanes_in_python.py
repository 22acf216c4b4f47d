"""Kernels in lanes as plain Python: numbers of the memory are arrays, whose comparisons have no truth value.

A branch on a number is an error here as it is for the compiler, and what a lane does to others shows without one.
"""

from __future__ import annotations

import builtins
import functools
from types import ModuleType
from typing import Any

import numpy as np
from compiled.guarded import plain_modules

LANES = 4


class Memory:
    """Memory in lanes: (n, LANES); entries are read as copies."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers = np.repeat(numbers[:, None], LANES, axis=1)

    def __getitem__(self, i: int) -> np.ndarray:
        assert i >= 0
        return self.numbers[i].copy()

    def __setitem__(self, i: int, x: Any) -> None:
        assert i >= 0
        self.numbers[i] = x


def _in_lanes(x: Any, y: Any = 0.0, z: Any = 0.0) -> bool:
    return isinstance(x, np.ndarray) or isinstance(y, np.ndarray) or isinstance(z, np.ndarray)


def _chosen(m: Any, x: Any, y: Any) -> Any:
    if _in_lanes(m, x, y):
        return np.where(m, x, y)
    return float(x) if m else float(y)


def _smallest(x: Any, y: Any) -> Any:
    return np.where(y < x, y, x) if _in_lanes(x, y) else builtins.min(x, y)


def _largest(x: Any, y: Any) -> Any:
    return np.where(y > x, y, x) if _in_lanes(x, y) else builtins.max(x, y)


def _bits(x: Any) -> Any:
    return np.atleast_1d(np.asarray(x, dtype=np.float64)).view(np.int64)


def _like(x: Any, found: np.ndarray) -> Any:
    return found if _in_lanes(x) else found[0]


IN_LANES = {
    "sqrt": lambda x: np.sqrt(x) if _in_lanes(x) else float(np.sqrt(x)),
    "min": _smallest,
    "max": _largest,
    "chosen": _chosen,
    "off": lambda m: ~m if _in_lanes(m) else not m,
    "any_of": lambda m: bool(m.any()) if isinstance(m, np.ndarray) else bool(m),
    "which_of": lambda m: sum(1 << k for k, true in enumerate(np.atleast_1d(m)) if true),
    "is_odd": lambda x: _like(x, _bits(x) & 1 == 1),
    "signed": lambda t, x: _like(x, np.where(_bits(t) & 2 == 2, -np.atleast_1d(x), x)),
    "has_same_bits": lambda x, y: _like(x, _bits(x) == _bits(y)),
    "rounded": np.rint,
    "ceiling": np.ceil,
    "sine_by_library": np.sin,
    "cosine_by_library": np.cos,
    "exponential_by_library": np.exp,
    "logarithm_by_library": np.log,
    "count_of": lambda W: LANES if isinstance(W, Memory) else 1,
    "one_by_one": lambda W: W.numbers.reshape(-1) if isinstance(W, Memory) else W,
}
"""What kernels take from elsewhere, for arrays and for single numbers."""


@functools.cache
def in_lanes() -> dict[str, ModuleType]:
    """Modules of kernels, by name without their room, that take memory in lanes."""
    modules = {name.rpartition(".")[2]: module for name, module in plain_modules.__wrapped__().items()}
    for name, module in modules.items():
        if name in ("jit", "lanes"):
            continue
        for what, function in IN_LANES.items():
            if what in ("min", "max") or hasattr(module, what):
                setattr(module, what, function)
    return modules


def projected(I: Any, F: Any, W: Any, starts: np.ndarray, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # noqa: E741
    """Ends and figures of rows, side by side."""
    ends, figures, turn = np.empty_like(starts), np.empty((len(starts), 4)), np.zeros(1, dtype=np.int64)
    memories = [Memory(W) for _ in range(3)]
    with np.errstate(all="ignore"):
        in_lanes()["many"].project_in_lanes(I, F, W.copy(), *memories, turn, starts, sides, ends, figures)
    return ends, figures


def projected_alone(I: Any, F: Any, W: Any, starts: np.ndarray, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # noqa: E741
    """The same of each row by itself."""
    ends, figures, many = np.empty_like(starts), np.empty((len(starts), 4)), in_lanes()["entry"]
    with np.errstate(all="ignore"):
        for n, start in enumerate(starts):
            own = W.copy()
            in_lanes()["many"].take_sides(I, own, sides[n if len(sides) > 1 else 0])
            figures[n] = many.project_row((I, F, own), start, ends[n])
    return ends, figures
