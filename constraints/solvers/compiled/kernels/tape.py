"""The tape: instructions, one after the other, each a function with its Jacobian."""

from __future__ import annotations

from ..layout import (
    AFFINE,
    CENTER,
    CHAIN_RULE,
    COPY,
    INSTRUCTION_SIZE,
    OPERATION,
    POSE_FROM_ROWS,
    POSE_MAP,
    PRODUCT,
    ROTATION,
    SELECT,
    TWIN,
)
from .algebra import affine, chain_rule, copied, pose_from_rows, product, selected, twin
from .frames import frame_function
from .jit import Floats, Integers, kernel
from .masses import center_of_mass
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
    return True
