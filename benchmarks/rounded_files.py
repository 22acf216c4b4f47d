"""Closed chains whose angles are rounded as in a file: assembled, of the same mobility, and moved alike by every door.

    python benchmarks/rounded_files.py [--only NAME ...] [--digits 4 6 8 12] [--seed N] [--json FILE]
    python benchmarks/rounded_files.py --check

A file places joints and frames by angles, and writes them with a few digits: 1.5708 for a right angle. Axes that are
parallel, or meet, in the drawing do so in the file only to these digits. Here the placements of all joints, and of the
frames of all closures, of the models of `tests/data/mechanisms` and of the built-in ones are written as roll, pitch and
yaw, in axes of the body that are turned at random, with 4, 6, 8 and 12 digits after the point, and read again.

A mechanism passes if it closes (`assemble_position`, from its closed posture and from one beside it), if its mobility
there is that of the mechanism before, and if the accelerations of a random motion agree: by each method of
`forward_dynamics` that takes the set, and in minimal coordinates (`reduced_forward_dynamics`), to 1e-3, 1e-5, 1e-7 and
1e-9 of the largest, times the condition of the rows that close it where that is above 10. It also passes if it says
what is wrong: a message of the assembly, or of `judge`, that names rows and how far they are off. It fails if it is
neither.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass, replace
from typing import Any

import bench_setup
import numpy as np
import pinocchio as pin
from closed_mechanisms import ALL, closed_mechanism

from constraints import Frame
from constraints.dynamics import Method, MethodError, forward_dynamics
from constraints.errors import ConstraintError
from constraints.loops import ConstraintSet, assemble_position
from constraints.models import Mechanism
from constraints.models.structure.assemblies import assemblies
from constraints.reduced import minimal_coordinates, reduced_forward_dynamics

DIGITS = {4: 1e-3, 6: 1e-5, 8: 1e-7, 12: 1e-9}
"""Digits after the point, and how far accelerations may be apart, as a part of the largest."""
WELL = 10.0
"""Up to this condition of the closing rows it is not counted."""
BESIDE = 0.03
"""Standard deviation of the start beside the closed posture [rad or m]."""


def written(R: np.ndarray, digits: int, rng: np.random.Generator) -> np.ndarray:
    """A rotation after it was written with some digits, in axes of the body that are turned at random."""
    turn = np.array(pin.Quaternion(np.array(_unit(rng.standard_normal(4)))).matrix())
    angles = np.round(np.array(pin.rpy.matrixToRpy(R @ turn)), digits)
    return np.array(pin.rpy.rpyToMatrix(angles)) @ turn.T


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)


class _Copying(pickle.Pickler):
    """Copies a mechanism with another model in place of its own."""

    def __init__(self, file: io.BytesIO, old: Any, new: Any) -> None:
        super().__init__(file)
        self._old, self._new = old, pickle.dumps(new)

    def reducer_override(self, obj: Any) -> Any:
        """The new model where the old one is met."""
        return (pickle.loads, (self._new,)) if obj is self._old else NotImplemented


def rounded(mechanism: Mechanism, digits: int, seed: int = 0) -> Mechanism:
    """The mechanism with the angles of all joints and of the frames of all closures written with some digits."""
    rng, file = np.random.default_rng(seed), io.BytesIO()
    old: Any = mechanism.robot.model
    model = old.copy()
    for i in range(1, model.njoints):
        placement = model.jointPlacements[i]
        model.jointPlacements[i] = pin.SE3(written(placement.rotation, digits, rng), placement.translation)
    _Copying(file, old, model).dump(mechanism)
    copied: Mechanism = pickle.loads(file.getvalue())

    def frame(old: Frame) -> Frame:
        place = old.placement
        placement = pin.SE3(written(np.array(place.rotation), digits, rng), np.array(place.translation))
        return replace(old, placement=placement)

    owners: Any = copied.closures
    closures = [replace(each, predecessor=frame(each.predecessor), successor=frame(each.successor)) for each in owners]
    return replace(copied, closures=tuple(closures))


@dataclass
class Verdict:
    """What became of one mechanism with so many digits.

    Attributes:
        model: its name.
        digits: after the point.
        word: "same", "says so" or "WRONG".
        mobility: before and after.
        apart: largest difference of accelerations by two doors, as a part of the largest; None where there are none.
        allowed: how much it may be.
        said: what the message was, or what is wrong.
    """

    model: str
    digits: int
    word: str
    mobility: tuple[int, int]
    apart: float | None
    allowed: float
    said: str

    def __str__(self) -> str:
        apart = "-" if self.apart is None else f"{self.apart:.1e}"
        moves = "{} -> {}".format(*self.mobility)
        return f"{self.model:22} {self.digits:3} {moves:>9} {apart:>8} {self.allowed:8.0e} {self.word:8} {self.said}"


def verdict(name: str, digits: int, seed: int = 0) -> Verdict:
    """One mechanism, written with some digits."""
    drawn, _ = closed_mechanism(name)
    q = assemblies(drawn, 0, 0).q
    mechanism, rng = rounded(drawn, digits, seed), np.random.default_rng(seed)
    rows, before = mechanism.constraint_set(), drawn.mobility(q)
    condition = _condition(drawn.judge(q).singular_values, drawn.rank(q))
    allowed = DIGITS[digits] * (condition if condition > WELL else 1.0)
    found = Verdict(name, digits, "WRONG", (before, -1), None, allowed, "")
    space = mechanism.robot.space
    starts = (q, space.integrate(q, BESIDE * rng.standard_normal(space.nv)))
    for start in starts:
        done = assemble_position(rows, start)
        if not done.success:
            return _said(found, mechanism, done.q, done.describe())
        judged = mechanism.judge(done.q)
        found.mobility = before, judged.mobility
        if judged.mobility != before:
            return _said(found, mechanism, done.q, judged.describe())
    found.apart, found.said = accelerations_apart(rows, done.q, rng)
    if found.apart is None or found.apart > allowed:
        return found
    found.word = "same"
    return found


def _said(found: Verdict, mechanism: Mechanism, q: np.ndarray, message: str) -> Verdict:
    """A verdict on a message: it must name a row of the mechanism, and how far it is off."""
    found.mobility = found.mobility[0], mechanism.mobility(q)
    names = [owner.name for owner in mechanism.closures]
    lines = [line.strip() for line in message.splitlines() if any(f"'{name}" in line for name in names)]
    told = [line for line in lines if "digits" in line and "e-" in line]
    found.word = "says so" if told else "WRONG"
    found.said = told[0] if told else message.splitlines()[0]
    return found


def _condition(values: np.ndarray, rank: int) -> float:
    return float(values[0] / values[rank - 1]) if rank else 1.0


def accelerations_apart(rows: ConstraintSet, q: np.ndarray, rng: np.random.Generator) -> tuple[float | None, str]:
    """How far accelerations of a random closed state are apart by all doors, as a part of the largest; what failed."""
    try:
        coordinates = minimal_coordinates(rows, q)
        state = coordinates.at(q, rng.standard_normal(rows.robot.nv), close=True)
    except ConstraintError as error:
        return None, f"minimal coordinates: {error}"
    motion = rows.robot.at(state.q, state.v)
    tau = motion.mass_matrix().diagonal() * rng.standard_normal(rows.robot.nv)
    found: dict[str, np.ndarray] = {}
    reduced = reduced_forward_dynamics(state, tau)
    if not reduced.success:
        return None, f"minimal coordinates: {reduced}"
    found["minimal coordinates"] = np.array(reduced.acceleration)
    for method in Method:
        try:
            solved = forward_dynamics(rows, motion, tau, method=method)
        except MethodError:
            continue
        if not solved.success:
            if method is Method.SPARSE and "SINGULAR_SPARSE" in solved.status.name:
                continue  # it cannot tell, and says so
            return None, f"{method.name}: {solved}"
        found[method.name] = np.array(solved.acceleration)
    size = max(1.0, *(float(np.abs(a).max()) for a in found.values()))
    centre = np.median(np.array([*found.values()]), axis=0)
    off = {name: float(np.abs(a - centre).max()) / size for name, a in found.items()}
    worst = max(off, key=lambda name: off[name])
    return off[worst], f"{len(found)} doors, {worst}"


def main() -> int:
    """Run, print, write."""
    parser = bench_setup.command(__doc__, "seed", "json", "check")
    parser.add_argument("--only", nargs="+", help="these mechanisms")
    parser.add_argument("--digits", nargs="+", type=int, choices=list(DIGITS), default=list(DIGITS))
    options = parser.parse_args()
    names = options.only or (("four_bar", "bennett") if options.check else ALL)
    print(f"{'model':22} {'dig':>3} {'mobility':>9} {'apart':>8} {'allowed':>8}")
    found: list[Verdict] = []
    for name in names:
        for digits in options.digits:
            found.append(verdict(name, digits, options.seed))
            print(found[-1], flush=True)
    counts = {word: sum(each.word == word for each in found) for word in ("same", "says so", "WRONG")}
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    bench_setup.write(options.json, [vars(each) for each in found])
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
