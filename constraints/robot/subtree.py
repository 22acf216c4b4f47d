"""A model without its last joints, for algorithms on data of the whole model."""

from __future__ import annotations

from typing import Any

from .model.pinocchio import Model, pin


def truncated(model: Model, last: int) -> Any:
    """The joints of a model up to one, with the inertias on them; no frames.

    The index of a joint is greater than its parent's, and algorithms of pinocchio go through joints in this order: on
    data of the whole model they write the same bits for the joints that are there, and leave the rest as it is.

    Args:
        model: the whole.
        last: index of the last joint to be there.
    """
    tree: Any = pin.Model()
    for j in range(1, last + 1):
        tree.addJoint(model.parents[j], model.joints[j], model.jointPlacements[j], model.names[j])
        tree.inertias[j] = model.inertias[j]
    return tree
