"""Formulas written by users: are they right to the last digits? What they cost: `functions.py --projection`.

    python benchmarks/expressions.py --trees 1000           # random formulas against 50 digits, about 40 minutes
    python benchmarks/expressions.py --check                # a short run that only shows that it runs

Trees have all operators, to a depth of 8, and are 1e-3 from kinks and poles at least. Errors are relative to a running
bound of rounding, as in `tests/expression_trees.py`: of values and Jacobians by both engines, of drifts by the readable
one.
"""

from __future__ import annotations

import sys

import bench_setup  # noqa: F401
from compiled.test_functions import Packed
from expression_trees import Tree
from proving import Tally, run_parts

LIMITS = {"value": 1e-12, "Jacobian": 1e-9, "drift": 1e-9}
"""Largest errors, relative to the bounds."""
DEPTH = 8


def trees(count: int) -> bool:
    """Whether all trees are right; prints the largest errors."""
    tally, wrong = Tally(), list[int]()
    for seed in range(count):
        tree = Tree.drawn(seed, DEPTH)
        value, J = tree.function.linearise(tree.q)
        packed_value, packed_J = Packed(tree.function).linearise(tree.q)
        errors: dict[str, float] = {
            "value": tree.value_error(value),
            "Jacobian": tree.jacobian_error(J),
            "drift": tree.drift_error(tree.function.drift_at(tree.q, tree.v)),
            "value, compiled": tree.value_error(packed_value),
            "Jacobian, compiled": tree.jacobian_error(packed_J),
        }
        tally.met(errors)
        wrong += [seed] if any(error > LIMITS[name.split(",")[0]] for name, error in errors.items()) else []
    print(f"{count} trees to depth {DEPTH}: largest errors relative to the bounds of rounding")
    for name, error in tally.errors.items():
        print(f"  {name:20} {error:9.2e}   (limit {LIMITS[name.split(',')[0]]:g})")
    if wrong:
        print(f"  wrong: seeds {wrong}")
    return not wrong


if __name__ == "__main__":
    sys.exit(run_parts(__doc__, {"trees": (trees, 2)}))
