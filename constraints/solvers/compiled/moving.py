"""What kernels that move between configurations of a problem have beside it: tables of their own, memory of both."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Vector

from ...problem.problem import Problem
from ...workspace import Pool
from ..kernels.loading import entrances
from ..machine import layout
from .packing import Integers, Packer
from .problem import Packed
from .search import moves_of


class MovingMemory(NamedTuple):
    """What one thread writes into.

    Attributes:
        where: addresses of the tables and memories of the problem, then of the kernel's own.
        sides: the right-hand sides in it.
        own: the kernel's own memory.
        held: what `where` has the addresses of.
        packed: the problem.
    """

    where: Any
    sides: Vector
    own: Vector
    held: tuple[Any, ...]
    packed: Packed

    def raise_stopped(self) -> None:
        """Raise what stopped the kernels in it; it is not given back then."""
        self.packed.raise_stopped(self.held[2])


def moving_packer(problem: Problem) -> Packer:
    """A packer with the space of a problem, how its points move, and memory for one difference.

    Raises:
        NotPacked: a group that is not one of the library's.
    """
    space, packer = problem.space, Packer(problem.space.nv)
    header = packer.header
    header[layout.NQ], header[layout.LIVE] = space.nq, space.nv
    header[layout.SPACE] = packer.group(space)
    header[layout.MOVES] = moves_of(packer, space, np.arange(space.nv), space.nv)
    header[layout.DIFFERENCE] = packer.memory(space.nv)
    return packer


def moving_memory(packed: Packed, own: tuple[Integers | Vector, ...]) -> Pool[MovingMemory]:
    """Memories of a packed problem and of a kernel's own.

    Args:
        packed: the problem, with the options of the projections.
        own: arrays of the kernel, its memory last.
    """
    return Pool(partial(_made, packed, own))


def _made(packed: Packed, own: tuple[Any, ...]) -> MovingMemory:
    held = packed.integers, packed.floats, packed.work.copy(), *own[:-1], own[-1].copy()
    first = int(packed.integers[layout.RHS])
    sides = held[2][first : first + int(packed.integers[layout.RHS_SIZE])]
    return MovingMemory(entrances().places(*held), sides, held[-1], held, packed)
