"""A product that is written in a sum is not rounded by itself: fused multiply-add, where the processor has it.

The rule is one of the source. Of `a * b + c`, `c + a * b`, `a * b - c`, `c - a * b`, and of `s += a * b`, numbers are
rounded once; of two products the second one is that which is not rounded. So kernels for one number and for lanes have
the same bits, whatever LLVM makes of the code around. Sums of integers are as they were. Kernels that run as Python
round twice.
"""

from __future__ import annotations

import platform
from collections import Counter
from importlib import import_module
from typing import Any

from . import lanes
from .cache import processor

_operator: Any = import_module("operator")
_SUMS, _DIFFERENCES = (_operator.add, _operator.iadd), (_operator.sub, _operator.isub)


def has_fused() -> bool:
    """Whether the processor multiplies and adds in one operation; elsewhere a library would, in 20 times the time."""
    return platform.machine().lower() in ("aarch64", "arm64") or processor()[1].get("fma", False)


def step(machinery: Any) -> Any:
    """The step of numba that does so: its code of three addresses, where a product is still beside its sum.

    Args:
        machinery: `numba.core.compiler_machinery`.
    """
    ir: Any = import_module("numba.core.ir")

    @machinery.register_pass(mutates_CFG=False, analysis_only=False)
    class Fusing(machinery.FunctionPass):
        """Calls `lanes.plus_product` and its like in place of sums and products."""

        _name = "fusing"

        def __init__(self) -> None:
            machinery.FunctionPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            blocks = list(state.func_ir.blocks.values())
            uses = Counter(one.name for block in blocks for line in block.body for one in line.list_vars())
            return sum([_fused_in(ir, block, uses) for block in blocks]) > 0

    return Fusing


def _fused_in(ir: Any, block: Any, uses: Counter[str]) -> int:
    """Have the sums of a block call what does both; how many."""
    products, gone, body = dict[str, Any](), set[str](), list[Any]()
    for line in block.body:
        value: Any = getattr(line, "value", None)
        kind = value.fn if isinstance(value, ir.Expr) and value.op in ("binop", "inplace_binop") else None
        if kind is _operator.mul and line.target.name[0] == "$" and uses[line.target.name] == 2:  # made, and used once
            products[line.target.name] = value.lhs, value.rhs
        elif kind in _SUMS or kind in _DIFFERENCES:
            last = value.rhs.name in products
            name = (value.rhs if last else value.lhs).name
            if name in products:
                what = lanes.plus_product if kind in _SUMS else lanes.minus_product if last else lanes.product_minus
                called = line.target.scope.redefine("$fused", line.loc)
                body.append(ir.Assign(ir.Global("fused", what, line.loc), called, line.loc))
                arguments = *products[name], value.lhs if last else value.rhs
                line = ir.Assign(ir.Expr.call(called, arguments, (), line.loc), line.target, line.loc)
                gone.add(name)
        body.append(line)
    block.body = [line for line in body if not (isinstance(line, ir.Assign) and line.target.name in gone)]
    return len(gone)
