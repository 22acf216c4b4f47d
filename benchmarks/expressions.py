"""Formulas written by users: are they right to the last digits, and what do they cost?

    python benchmarks/expressions.py --trees 1000           # random formulas against 50 digits, about 40 minutes
    python benchmarks/expressions.py --costs                # projections, beside the library's own functions
    python benchmarks/expressions.py --check                # a short run of both that only shows that they run

Trees have all operators, to a depth of 8, and are 1e-3 from kinks and poles at least. Errors are relative to a running
bound of rounding, as in `tests/expression_trees.py`: of values and Jacobians by both engines, of drifts by the readable
one. Costs are of one projection in microseconds, the least of several rounds over random starts; the pairs take turns.
"""

# ruff: noqa: E402  # the number of threads is set before numpy is imported
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from compiled.test_functions import Packed
from expression_trees import Tree
from robots import arm, panda

from constraints import Affine, ConstraintError, Function, Implicit, Position, Problem, Projector, Robot, Rotation
from constraints.functions import dot, inverse, rotated

LIMITS = {"value": 1e-12, "Jacobian": 1e-9, "drift": 1e-9}
"""Largest errors, relative to the bounds."""
Pair = tuple[str, Function, Function, float, float]


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


def pairs(robot: Robot, frame: str, other: str) -> list[Pair]:
    """Name, the library's function, a formula, and how many times its cost it may be: compiled, readable."""
    p, R = Position(robot, frame), Rotation(robot, frame)
    by_hand = rotated(inverse(Rotation(robot, other)), p - Position(robot, other))
    tilt = rotated(R, [0.0, 0.0, 1.0])[2]
    return [
        ("Position | height * cos(tilt)", p, p[2] * tilt, 1.3, 2.0),
        ("Position, relative | by hand", Position(robot, frame, reference=other), by_hand, 1.2, 2.0),
        ("Affine @ Position | dot", Affine([[1.0, 2.0, 3.0]]) @ p, dot(p, [1.0, 2.0, 3.0]), 1.2, 2.0),
    ]


def costs(robot: Robot, frame: str, other: str, count: int, rounds: int) -> None:
    """One line a pair and engine: microseconds, iterations, ratios."""
    rng = np.random.default_rng(0)
    goal, starts = robot.random(rng), np.array([robot.random(rng) for _ in range(count)])
    print(f"{robot.name}: {'':42} {'own':>9} {'formula':>9} {'ratio':>6} {'by iteration':>12} {'allowed':>8}")
    for name, own, formula, compiled, readable in pairs(robot, frame, other):
        for engine, allowed, some in (
            ("compiled", compiled, starts),
            ("readable", readable, starts[: count // 10 + 1]),
        ):
            runs: list[Callable[[], Any]] = []
            for f in (own, formula):
                problem = Problem(robot, [Implicit.equal(f, f.value(goal))])
                projector = Projector(problem, engine="readable") if engine == "readable" else Projector(problem)
                runs.append(lambda projector=projector, some=some: projector.project_batch(some))
            iterations = [float(run().iterations.mean()) + 1.0 for run in runs]
            least = [np.inf, np.inf]
            for _ in range(rounds):
                for k, run in enumerate(runs):
                    began = time.process_time()
                    run()
                    least[k] = min(least[k], 1e6 * (time.process_time() - began) / len(some))
            ratio = least[1] / least[0]
            each = ratio * iterations[0] / iterations[1]
            print(f"  {name:36} {engine:10} {least[0]:9.2f} {least[1]:9.2f} {ratio:6.2f} {each:12.2f} {allowed:8.1f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=0, metavar="COUNT", help="so many random formulas")
    parser.add_argument("--depth", type=int, default=8, help="of trees")
    parser.add_argument("--costs", action="store_true", help="what projections cost")
    parser.add_argument("--check", action="store_true", help="a short run that only shows that everything runs")
    options = parser.parse_args()
    right = True
    if options.trees or options.check:
        right = trees(2 if options.check else options.trees, 4 if options.check else options.depth)
    if options.check:
        costs(arm(), "tool", "elbow", 3, 1)
    elif options.costs:
        try:
            costs(panda(), "panda_hand", "panda_link4", 300, 15)
        except ConstraintError as error:
            print(f"panda: {error}", file=sys.stderr)
            return 2
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
