r"""Computed dofs: outputs written into configurations, their derivative E by the chain rule, reduced Jacobians.

.. math:: J_r = J_{:,live} + J_{:,out} E
"""

from __future__ import annotations

from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, kernel
from ..tape.tape import run_tape
from ..tape.trees import place
from .configurations import copy_to


@kernel
def written(I: Integers, W: Floats, writes: int, q: int) -> None:
    """Write outputs into a configuration. At [writes] in I: count, then (where they are in W, entry of q) each."""
    for n in range(I[writes]):
        W[q + I[writes + 2 + 2 * n]] = W[I[writes + 1 + 2 * n]]


@kernel
def _chained(I: Integers, W: Floats) -> None:
    """Replace derivatives by computed dofs by those of their inputs. At [CHAIN] in I: count, then (k, earlier) each."""
    chain, live, computed, E = I[at.CHAIN], I[at.LIVE], I[at.COMPUTED], I[at.EXPLICIT_JACOBIAN]
    for n in range(I[chain]):
        k, earlier = I[chain + 1 + 2 * n], I[chain + 2 + 2 * n]
        through = W[E + (live + earlier) * computed + k]
        if any_of(through != 0.0):
            W[E + (live + earlier) * computed + k] = 0.0
            for c in range(live):
                W[E + c * computed + k] += through * W[E + c * computed + earlier]


@kernel
def resolved(I: Integers, F: Floats, W: Floats, q: int, jacobian: int) -> bool:
    """Read q, and write all computed outputs into it, generation by generation, and E; False where one has no value."""
    generations, here, defined = I[at.GENERATIONS], I[at.Q], True
    copy_to(W, q, I[at.NQ], here)
    if jacobian != 0 and I[I[at.CHAIN]] > 0:
        for i in range(I[at.COMPUTED] * (I[at.LIVE] + I[at.COMPUTED])):
            W[I[at.EXPLICIT_JACOBIAN] + i] = 0.0
    for n in range(I[generations]):
        g = generations + 1 + at.GENERATION_SIZE * n
        place(I, F, W, I[g + at.JOINTS], here, jacobian)
        defined = defined & run_tape(I, F, W, I[g + at.GENERATION_TAPE], jacobian)
        if not any_of(defined):
            return defined
        written(I, W, I[g + at.WRITES], here)
    copy_to(W, here, I[at.NQ], q)
    if jacobian != 0:
        _chained(I, W)
    return defined


@kernel
def reduced(I: Integers, W: Floats, level: int) -> None:
    """Add to the Jacobian of a level what its rows see through computed dofs. At [OUTPUTS]: count, then dofs."""
    outputs, m, live, computed = I[level + at.OUTPUTS], I[level + at.ROWS], I[at.LIVE], I[at.COMPUTED]
    J, E = I[level + at.JACOBIAN], I[at.EXPLICIT_JACOBIAN]
    for c in range(live):
        to, n, by = J + c * m, 0, E + c * computed
        while n + 3 <= I[outputs]:  # three at a time: the column is read and written a third as often
            k, l, t = I[outputs + 1 + n], I[outputs + 2 + n], I[outputs + 3 + n]
            a, b, d = W[by + k], W[by + l], W[by + t]
            if any_of((a != 0.0) | (b != 0.0) | (d != 0.0)):
                o, p, q = J + (live + k) * m, J + (live + l) * m, J + (live + t) * m
                for i in range(m):
                    W[to + i] += a * W[o + i] + b * W[p + i] + d * W[q + i]
            n += 3
        while n < I[outputs]:
            k = I[outputs + 1 + n]
            a, o = W[by + k], J + (live + k) * m
            if any_of(a != 0.0):
                for i in range(m):
                    W[to + i] += a * W[o + i]
            n += 1
