"""Limits of velocity and acceleration as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from liegroups import Space
from liegroups.arguments import finite_number, finite_vector
from liegroups.arrays import TangentLike, Vector
from liegroups.by_name import block_of, entry_names

from ...errors import OptionError, UnknownJointError
from ...problem.problem import Problem
from ...robot.bounds import limits_of
from ...words import first_names
from .time_law import TangentLimits


def tangent_limits(problem: Problem, velocity: TangentLike | None, acceleration: TangentLike) -> TangentLimits:
    """Limits (nv,) of a problem's coordinates, from what `timed` takes; without velocities those of the robot.

    Raises:
        SizeError, DtypeError, NotFiniteError, OptionError, UnknownJointError: see `timed`.
    """
    space = problem.space
    none = np.full(space.nv, np.inf)
    known = none if problem.robot is None else limits_of(cast("Any", problem.robot.model).upperVelocityLimit)
    own = known if known.shape == none.shape else none
    return TangentLimits(
        _limits(space, velocity, np.where(own > 0.0, own, np.inf), "velocity"),
        _limits(space, acceleration, none, "acceleration"),
    )


def _limits(space: Space, given: TangentLike | None, own: Vector, kind: str) -> Vector:
    """Limits (nv,): numbers as they are given, or by name, in place of the robot's own."""
    what = f"{kind} limits of a trajectory"
    if given is None or isinstance(given, Mapping):
        limits = np.array(own)
        for name, value in (given or {}).items():
            v = _factor_of(space, name, what)
            size = v.stop - v.start
            limits[v] = finite_number(value, what) if np.ndim(value) == 0 else block_of(value, size, f"{what}, {name}")
        _refuse_missing(space, np.isinf(limits), kind)
    else:
        limits = np.full(space.nv, finite_number(given, what)) if np.ndim(given) == 0 else given
        limits = np.array(finite_vector(limits, space.nv, f"{what} in {space.name}"))
    if not (limits > 0.0).all():
        names = entry_names(space.factors)
        named = first_names([f"{names[i]} {limits[i]:g}" for i in np.flatnonzero(limits <= 0.0)])
        raise OptionError(f"{what}: expected positive numbers, got {named}; to keep a joint still, freeze or lock it")
    return limits


def _factor_of(space: Space, name: object, what: str) -> slice:
    """Tangent coordinates of a joint, or of another factor."""
    for factor in space.factors:
        if factor.name == name:
            return factor.v
    raise UnknownJointError(str(name), [factor.name for factor in space.factors], what)


def _refuse_missing(space: Space, missing: Any, kind: str) -> None:
    """Refuse coordinates without a limit."""
    if missing.any():
        names = list(dict.fromkeys(factor.name for factor in space.factors if missing[factor.v].any()))
        raise OptionError(
            f"{kind} limits of a trajectory: there is none for {first_names(names)}; "
            f"give {space.nv} numbers, one number for all, or by name: {kind}={{'{names[0]}': 1.0}}"
        )
