"""Questions about the numbers of a model that was read from a file: lengths, ways of sliders, inertias in other units?

Nothing is guessed and nothing is changed: the reader of the file asks once, in the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...linear_algebra import norm
from ...questions import NO_LIMIT

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
    turns, length = [False] * tree.njoints, [0.0] * tree.njoints
    for i in range(1, tree.njoints):
        name, kind, parent = str(tree.names[i]), str(tree.joints[i].shortname()), int(tree.parents[i])
        away = norm(np.asarray(tree.jointPlacements[i].translation)) if parent else 0.0
        turns[i] = turns[parent] or not kind.startswith("JointModelP")
        length[i] = length[parent] + away
        if away > LONG_LINK:
            yield f"joint '{name}' is {away:.6g} m away from joint '{tree.names[parent]}': is it in millimetres?"
        if kind.startswith("JointModelP") and tree.joints[i].nq == 1 and turns[parent]:
            at = int(tree.joints[i].idx_q)
            ways = (float(side[at]) for side in (tree.lowerPositionLimit, tree.upperPositionLimit))
            way = max((w for w in ways if abs(w) < NO_LIMIT), key=abs, default=0.0)
            if abs(way) > LONG_WAY:
                yield f"joint '{name}' has a limit of {way:.6g} m: in millimetres?"
    longest = max(length)
    for i in range(1, tree.njoints):
        inertia = tree.inertias[i]
        mass = float(inertia.mass)
        moment = float(np.linalg.eigvalsh(np.asarray(inertia.inertia))[-1])
        if mass > 0.0 and moment > mass * (LARGE * max(1.0, longest)) ** 2:
            yield (
                f"the body of joint '{tree.names[i]}' has a mass of {mass:.6g} kg and a moment of inertia of "
                f"{moment:.6g} kg m^2, that of a ring with a radius of {np.sqrt(moment / mass):.4g} m: in kg mm^2?"
            )
