"""The tape: instructions, one after the other, each a function with its Jacobian."""

from __future__ import annotations

from ..machine.jit import Floats, Integers, kernel
from ..machine.layout import (
    AFFINE,
    BETWEEN_FEET,
    CENTER,
    CHAIN_RULE,
    CONTACT,
    CONTACT_HOLD,
    COPY,
    INSTRUCTION_SIZE,
    LOGARITHM,
    OPERATION,
    POLYNOMIAL,
    POSE_FROM_ROWS,
    POSE_MAP,
    POSE_OF_CONTACT,
    PRODUCT,
    ROTATION,
    SELECT,
    SUM,
    TWIN,
)
from .algebra import (
    affine,
    chain_rule,
    copied,
    logarithm,
    polynomial,
    pose_from_rows,
    product,
    selected,
    twin,
    weighted_sum,
)
from .contacts import contact, pose_of_contact
from .frames import frame_function
from .masses import center_of_mass, com_between_feet
from .pose_maps import pose_map


@kernel
def run_tape(I: Integers, F: Floats, W: Floats, tape: int, jacobian: int) -> bool:
    """Run the instructions at [tape] in I: count, then records; False where a function has no value."""
    for n in range(I[tape]):
        r = tape + 1 + INSTRUCTION_SIZE * n
        operation = I[r + OPERATION]
        if operation <= ROTATION:
            frame_function(I, F, W, r, jacobian)
        elif operation == CENTER:
            center_of_mass(I, F, W, r, jacobian)
        elif operation == AFFINE:
            affine(I, F, W, r, jacobian)
        elif operation == COPY:
            copied(I, W, r, jacobian)
        elif operation == PRODUCT:
            product(I, W, r, jacobian)
        elif operation == TWIN:
            twin(I, W, r, jacobian)
        elif operation == CHAIN_RULE:
            if jacobian != 0:
                chain_rule(I, W, r)
        elif operation == SELECT:
            selected(I, W, r, jacobian)
        elif operation == POSE_FROM_ROWS:
            pose_from_rows(I, W, r, jacobian)
        elif operation == POSE_MAP:
            pose_map(I, F, W, r, jacobian)
        elif operation == SUM:
            weighted_sum(I, F, W, r, jacobian)
        elif operation == LOGARITHM:
            logarithm(I, W, r, jacobian)
        elif operation == POLYNOMIAL:
            polynomial(I, F, W, r, jacobian)
        elif operation == BETWEEN_FEET:
            com_between_feet(I, F, W, r, jacobian)
        elif CONTACT <= operation and operation <= CONTACT_HOLD:
            contact(I, F, W, r, jacobian)
        elif operation == POSE_OF_CONTACT:
            if not pose_of_contact(I, F, W, r, jacobian):
                return False
    return True
