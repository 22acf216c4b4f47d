"""The tape: instructions, one after the other, each a function with its Jacobian."""

from __future__ import annotations

from ..machine import layout as at
from ..machine.jit import Floats, Integers, shared
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
from .calls import ask_no_more, called
from .contacts import contact, pose_of_contact
from .frames import frame_function
from .masses import center_of_mass, com_between_feet
from .operators import operated
from .pose_maps import pose_map


@shared
def run_tape(I: Integers, F: Floats, W: Floats, tape: int, jacobian: int) -> bool:
    """Run the instructions at [tape] in I: count, then records; False where a function has no value."""
    defined = True
    for n in range(I[tape]):
        r = tape + 1 + at.INSTRUCTION_SIZE * n
        operation = I[r + at.OPERATION]
        if operation <= at.ROTATION:
            frame_function(I, F, W, r, jacobian)
        elif operation == at.CENTER:
            center_of_mass(I, F, W, r, jacobian)
        elif operation == at.AFFINE:
            affine(I, F, W, r, jacobian)
        elif operation == at.COPY:
            copied(I, W, r, jacobian)
        elif operation == at.PRODUCT:
            product(I, W, r, jacobian)
        elif operation == at.TWIN:
            twin(I, W, r, jacobian)
        elif operation == at.CHAIN_RULE:
            if jacobian != 0:
                chain_rule(I, W, r)
        elif operation == at.SELECT:
            selected(I, W, r, jacobian)
        elif operation == at.POSE_FROM_ROWS:
            pose_from_rows(I, W, r, jacobian)
        elif operation == at.POSE_MAP:
            pose_map(I, F, W, r, jacobian)
        elif operation == at.SUM:
            weighted_sum(I, F, W, r, jacobian)
        elif operation == at.LOGARITHM:
            logarithm(I, W, r, jacobian)
        elif operation == at.POLYNOMIAL:
            polynomial(I, F, W, r, jacobian)
        elif operation == at.BETWEEN_FEET:
            com_between_feet(I, F, W, r, jacobian)
        elif at.CONTACT <= operation and operation <= at.CONTACT_HOLD:
            contact(I, F, W, r, jacobian)
        elif operation == at.POSE_OF_CONTACT:
            defined = defined & pose_of_contact(I, F, W, r, jacobian)
        elif operation == at.CALLED:
            defined = defined & called(I, W, r, jacobian, defined)
        elif operation >= at.POINTWISE:
            defined = defined & operated(I, F, W, r, jacobian)
    ask_no_more(I, W, defined)
    return defined
