r"""The law that a target must keep: its velocity and acceleration are the derivatives of what it gives.

>>> import numpy as np
>>> from constraints import Target
>>> from constraints.testing import check_target
>>> circle = Target(
...     lambda t: [0.4, 0.1 * np.cos(t), 0.3 + 0.1 * np.sin(t)],
...     velocity=lambda t: [0.0, -0.1 * np.sin(t), 0.1 * np.cos(t)],
... )
>>> check_target(circle, np.linspace(0.0, 6.0, 7))
"""

from __future__ import annotations

import numpy as np

from liegroups import Rn, Space
from liegroups.arguments import expect
from liegroups.arrays import ArrayLike
from liegroups.space import as_space

from ..errors import SizeError
from ..rows.target import Target
from .failure import require


def check_target(target: Target, times: ArrayLike, space: Space | None = None, tolerance: float = 1e-3) -> None:
    r"""Check at some times that a target's velocity and acceleration are the derivatives of its value.

    .. math:: \nu(t) = \lim_{h \to 0} \frac{y(t + h) \ominus y(t)}{h}, \quad \dot\nu(t)

    both in the body frame of the moving point. At a kink any value between the slopes of both sides passes.

    Args:
        target: the target; derivatives that it does not give are differences already.
        times: one or several times [s]; avoid special times, such as zeros of a sine.
        space: the output group of its constraint, as SE3; R^n by default.
        tolerance: largest error against differences, relative to 1 + the largest entry.

    Raises:
        CheckFailed: a rate is not the derivative; names which, the time, and both numbers.
        OptionError: a time outside the interval of the target.
    """
    expect(target, Target, "target to be checked")
    instants = np.atleast_1d(np.asarray(times, dtype=np.float64)).ravel().tolist()
    if not instants:
        raise SizeError("times of a target to be checked", "at least one", 0)
    group = Rn(target.at(instants[0]).size) if space is None else as_space(space, "space of a target")
    for t in instants:
        seen = target.disagreement(t, group, tolerance)
        mend = "check signs and units of the derivative, or leave it out: differences are then used"
        require("velocity and acceleration are derivatives, in the body frame", not seen, mend, seen, t=t)
