"""Curves through points, of a parameter that a problem solves for."""

from __future__ import annotations

import numpy as np

from liegroups.arguments import finite_vector, real_numbers
from liegroups.arrays import ArrayLike

from ...errors import OptionError, SizeError
from ..affine import Affine
from ..expression import maximum, stack
from ..function import Function
from .directions import vector_of


def curve(parameter: Function, points: ArrayLike, parameters: ArrayLike | None = None) -> Function:
    r"""The point of a smooth curve through given points, at a parameter.

    .. math:: f(q) = c(s(q)), \quad c(s) = c_0 + c_1 s + c_2 s^2 + c_3 s^3
        + \textstyle\sum_k d_k \max(0, s - s_k)^3

    a cubic spline, twice differentiable, with :math:`s_k` its inner knots ("not a knot" at its ends). `tip - curve(s,
    points)` equal to 0 puts a point onto it. To solve for the parameter too give the problem one more number,
    `space = robot.space * Rn(1)`, and take `s = Identity(Rn(1)).on(space)`; the bounds of the problem,
    `robot.bounds.on(space).replace({"R1": (0, 1)})`, keep it on the curve, which goes on beyond its ends as the cubics
    there. Where the curve stands still the parameter has no influence.

    Args:
        parameter: s, a function into R^1.
        points: (n, d), four at least.
        parameters: where the curve is at each of them, (n,), increasing; 0 to 1 in equal steps by default.

    Shapes:
        value (d,): in the units of the points; jacobian (d, nv).

    Raises:
        SizeError: fewer than four points, or another number of parameters.
        OptionError: parameters that do not increase.

    Example:
        >>> import numpy as np
        >>> from constraints import Implicit, Position
        >>> from constraints.functions import Identity, curve
        >>> from constraints.models import sample_arm
        >>> from liegroups import Rn
        >>> arm = sample_arm()
        >>> space, angles = arm.space * Rn(1), np.linspace(0.0, 2 * np.pi, 9)
        >>> circle = np.stack((0.4 + 0.1 * np.cos(angles), 0.1 * np.sin(angles), np.full(9, 0.3)), axis=1)
        >>> s = Identity(Rn(1)).on(space)
        >>> on_the_circle = Implicit.zero(Position(arm, "tool").on(space) - curve(s, circle))

    Source: `scipy.interpolate.CubicSpline`.
    """
    s, knots = vector_of(parameter, "parameter of a curve", 1), real_numbers(points, "points of a curve", finite=True)
    if knots.ndim != 2 or len(knots) < 4:
        raise SizeError("points of a curve", "(n, d), four at least", knots.shape)
    n = len(knots)
    at = np.linspace(0.0, 1.0, n) if parameters is None else finite_vector(parameters, n, "parameters of a curve")
    if not (np.diff(at) > 0.0).all():
        raise OptionError("parameters of a curve: expected increasing numbers, got some that do not increase")
    from scipy.interpolate import CubicSpline  # 0.1 s to import, only for who draws a curve

    spline = CubicSpline(at, knots)
    bends, third = at[2:-2], spline.c[0]  # "not a knot": the first and last inner knots bend nothing
    first = spline.c[:, 0]  # of the first piece, of s - at[0]
    shifted = s - float(at[0])
    parts = [shifted, shifted**2, shifted**3]
    columns = [first[2], first[1], first[0]]
    if len(bends):
        parts.append(maximum(Affine(np.ones((len(bends), 1)), -bends) @ s, 0.0) ** 3)
        columns += list(np.diff(third, axis=0)[1:-1])
    return Affine(np.array(columns).T, first[3]) @ stack(*parts)
