"""Questions about the numbers of a model: lengths, ways of sliders, inertias in other units?

Nothing is guessed and nothing is changed: the reader of the file asks once, in the log, and so does who joins models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...linear_algebra import norm
from ...questions import FAR_AWAY, NO_LIMIT

if TYPE_CHECKING:
    from ..model.pinocchio import Model

LONG_LINK = 30.0
"""A joint so far from the joint that carries it [m] is asked about; cranes and wind turbines have such ones."""
LONG_WAY = 10.0
"""Limits of joints that slide are asked about above this [m], where the joint is carried by another that turns."""
LARGE = 5.0
"""A radius of gyration is asked about that is above this [m] and above so many times the length of the robot."""


def asked_of_model(model: Model) -> Iterator[str]:
    """What is asked about the numbers of a model, one question each.

    - A joint that is more than 30 m away from the joint that carries it. The first joint of a tree may stand anywhere.
    - A joint that slides for more than 10 m, and is carried by one that turns. Rails on the ground may be long.
    - A body whose radius of gyration, the root of its largest moment of inertia over its mass, is above 5 m and above
      five times the robot's length: lengths in metres, and inertias in kg mm^2.

    Args:
        model: of pinocchio.
    """
    tree: Any = model
    turns = [False] * tree.njoints
    for i in range(1, tree.njoints):
        name, kind, parent = str(tree.names[i]), str(tree.joints[i].shortname()), int(tree.parents[i])
        away = norm(np.asarray(tree.jointPlacements[i].translation)) if parent else 0.0
        turns[i] = turns[parent] or not kind.startswith("JointModelP")
        if away > LONG_LINK:
            yield f"joint '{name}' is {away:.6g} m away from joint '{tree.names[parent]}': is it in millimetres?"
        if kind.startswith("JointModelP") and tree.joints[i].nq == 1 and turns[parent]:
            at = int(tree.joints[i].idx_q)
            ways = (float(side[at]) for side in (tree.lowerPositionLimit, tree.upperPositionLimit))
            way = max((w for w in ways if abs(w) < NO_LIMIT), key=abs, default=0.0)
            if abs(way) > LONG_WAY:
                yield f"joint '{name}' has a limit of {way:.6g} m: in millimetres?"
    longest = _length(model)
    for i in range(1, tree.njoints):
        inertia = tree.inertias[i]
        mass = float(inertia.mass)
        moment = float(np.linalg.eigvalsh(np.asarray(inertia.inertia))[-1])
        if mass > 0.0 and moment > mass * (LARGE * max(1.0, longest)) ** 2:
            yield (
                f"the body of joint '{tree.names[i]}' has a mass of {mass:.6g} kg and a moment of inertia of "
                f"{moment:.6g} kg m^2, that of a ring with a radius of {np.sqrt(moment / mass):.4g} m: in kg mm^2?"
            )


def asked_of_seats(away: Mapping[str, float], models: Iterable[Model]) -> Iterator[str]:
    """What is asked of parts that stand a hundred times as far away as the longest robot is long, and 100 m at least.

    Args:
        away: part -> distance from the frame that it stands on [m].
        models: of all parts.
    """
    longest = max(map(_length, models), default=0.0)
    for name, far in away.items():
        if longest and far > FAR_AWAY * max(1.0, longest):
            yield f"part '{name}' is {far:.6g} m away, the longest robot {longest:.3g} m long: is it in millimetres?"


def _length(model: Model) -> float:
    """The longest way from the first joint of a tree through the joints that it carries [m]."""
    tree: Any = model
    length = [0.0] * tree.njoints
    for i in range(1, tree.njoints):
        if parent := int(tree.parents[i]):
            length[i] = length[parent] + norm(np.asarray(tree.jointPlacements[i].translation))
    return max(length)
