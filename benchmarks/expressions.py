"""Formulas written by users: are they right to the last digits? What they cost: `functions.py --projection`.

    python benchmarks/expressions.py --trees 1000           # random formulas against 50 digits, about 40 minutes
    python benchmarks/expressions.py --check                # a short run that only shows that it runs

Trees have all operators, to a depth of 8, and are 1e-3 from kinks and poles at least. Errors are relative to a running
bound of rounding, as in `tests/expression_trees.py`: of values and Jacobians by both engines, of drifts by the readable
one.
"""

from __future__ import annotations

import argparse
import sys

import bench_setup  # noqa: F401
from compiled.test_functions import Packed
from expression_trees import Tree

LIMITS = {"value": 1e-12, "Jacobian": 1e-9, "drift": 1e-9}
"""Largest errors, relative to the bounds."""


def trees(count: int, depth: int) -> bool:
    """Whether all trees are right; prints the largest errors."""
    worst: dict[str, float] = dict.fromkeys(
        ["value", "Jacobian", "drift", "value, compiled", "Jacobian, compiled"], 0.0
    )
    wrong = list[int]()
    for seed in range(count):
        tree = Tree.drawn(seed, depth)
        value, J = tree.function.linearise(tree.q)
        packed_value, packed_J = Packed(tree.function).linearise(tree.q)
        errors: dict[str, float] = {
            "value": tree.value_error(value),
            "Jacobian": tree.jacobian_error(J),
            "drift": tree.drift_error(tree.function.drift_at(tree.q, tree.v)),
            "value, compiled": tree.value_error(packed_value),
            "Jacobian, compiled": tree.jacobian_error(packed_J),
        }
        worst = {name: max(worst[name], error) for name, error in errors.items()}
        wrong += [seed] if any(error > LIMITS[name.split(",")[0]] for name, error in errors.items()) else []
    print(f"{count} trees to depth {depth}: largest errors relative to the bounds of rounding")
    for name, error in worst.items():
        print(f"  {name:20} {error:9.2e}   (limit {LIMITS[name.split(',')[0]]:g})")
    if wrong:
        print(f"  wrong: seeds {wrong}")
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=1000, metavar="COUNT", help="so many random formulas")
    parser.add_argument("--depth", type=int, default=8, help="of trees")
    parser.add_argument("--check", action="store_true", help="a short run that only shows that everything runs")
    options = parser.parse_args()
    count, depth = (2, 4) if options.check else (options.trees, options.depth)
    return 0 if trees(count, depth) else 1


if __name__ == "__main__":
    sys.exit(main())
