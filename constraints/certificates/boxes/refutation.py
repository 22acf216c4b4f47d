"""Proofs that a problem has no solution in its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike

from ...errors import NoEnclosureError, OptionError, SpaceMismatchError
from ...problem.problem import Problem
from ...robot import Bounds
from ...rows.right_hand_side import RightHandSide
from ...solvers import Projector
from ...solvers.result import Result
from ...words import counted
from ..batch import certify
from ..certificate import Certificate, CertificateStatus
from ..rows import ProblemRows
from ..search import of_users
from .disjoint import contradiction
from .reach import Reach
from .reading import Coordinates, Read
from .searching import BoxSearch, SearchLimits

FIRST_BOXES = 2000
"""Before a projection looks for a solution: where there is none, it takes longer than these."""

FIRST_FEW = 64
"""The same where some rows are enclosed one box at a time."""

OTHER_STARTS = 4
"""Random starts of projections, where a solution is found that is not proved."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Refutation(Result):
    """What is proved of all configurations within the bounds of a problem, or within a box.

    REFUTED says, without any rounding: none of them satisfies all mandatory rows exactly. Right-hand sides are taken as
    the numbers that they are; frozen coordinates as any number within their bounds.

    Attributes:
        status: REFUTED, SOLVED or OPEN.
        reason: for a proof, by what: two constraints, lengths, or how many boxes; else what is in the way.
        open: share of the volume of the box that is left; 0 for a proof.
        boxes: how many were looked at.
        seconds: wall time.
        certificate: of the solution that was found; None if there is none.
        rests_on: names of functions whose enclosures were written by users.
    """

    status: CertificateStatus
    reason: str
    open: float
    boxes: int
    seconds: float
    certificate: Certificate | None
    rests_on: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.status.name}: {self.reason}"


def refute(
    problem: Problem,
    rhs: RightHandSide | ArrayLike | None = None,
    box: Bounds | None = None,
    limits: SearchLimits | None = None,
) -> Refutation:
    r"""Prove that no configuration within the bounds satisfies a problem.

    First by rows of one function that ask for different values (`constraints/certificates/boxes/disjoint.py`). Then by
    lengths (`constraints/certificates/boxes/reach.py`): how far the origin of a frame can be from a joint, and how far
    its target is. Then projections look for a solution. Then boxes are divided, cut and dropped
    (`constraints/certificates/boxes/cutting.py`) until none is left. Angles that all rows repeat by whole turns are
    searched for one turn.

    Args:
        problem: a problem; its optional last level does not count.
        rhs: right-hand sides; the default ones if absent.
        box: bounds of q to look in, inside those of the problem; these by default.
        limits: when to end though boxes are left.

    Returns:
        The refutation: REFUTED, SOLVED with the certificate of a solution, or OPEN with the share that is left.

    Raises:
        WrongObjectError, SpaceMismatchError, SizeError, DtypeError, NotFiniteError: what is wrong with an argument.
        EmptyIntervalError: the box is not inside the bounds; names the joint.
        OptionError: a coordinate without bounds that is not an angle; names it.
    """
    begun = perf_counter()
    problem, sides = asked(problem, rhs, box)
    rows = ProblemRows.of(problem, sides)

    def ended(
        status: CertificateStatus, reason: str, left: float, boxes: int, found: Certificate | None = None
    ) -> Refutation:
        names = of_users(rows) if boxes else ()
        return Refutation(status, reason, left, boxes, perf_counter() - begun, found, names)

    words = contradiction(rows)
    if words:
        return ended(CertificateStatus.REFUTED, words, 0.0, 0)
    coordinates = Coordinates.of(rows)
    read = Read.of(rows, coordinates)
    words, looked = _by_lengths(read, coordinates)
    if words:
        return ended(CertificateStatus.REFUTED, words, 0.0, looked)
    search = BoxSearch(rows, coordinates, read, limits or SearchLimits())
    found = search.run(boxes=FIRST_FEW if search.others else FIRST_BOXES)
    if found.reason:
        solution = _solution(problem, sides, coordinates)
        if solution is not None:
            return ended(CertificateStatus.SOLVED, "a projection found a solution", found.open, found.boxes, solution)
        found = search.run()
    if not found.reason:
        words = f"none of {counted(found.boxes, 'box')} of configurations can hold a solution"
        return ended(CertificateStatus.REFUTED, words, 0.0, found.boxes)
    words = "; ".join([f"{found.reason}; {found.open:.3g} of the volume is left", *search.without])
    return ended(CertificateStatus.OPEN, words, found.open, found.boxes)


def beyond_lengths(problem: Problem, rhs: RightHandSide) -> str:
    """Why no configuration within the bounds satisfies a problem, by lengths: the first part of `refute`.

    Args:
        problem: a problem.
        rhs: right-hand sides.

    Returns:
        The reason, for a proof; empty where lengths do not tell.
    """
    try:
        rows = ProblemRows.of(problem, problem.check_rhs(rhs))
        coordinates = Coordinates.of(rows)
        return _by_lengths(Read.of(rows, coordinates), coordinates)[0]
    except (OptionError, NoEnclosureError):  # coordinates without bounds, a joint whose motions are not bounded
        return ""


def _by_lengths(read: Read, coordinates: Coordinates) -> tuple[str, int]:
    """The reason, empty if there is none, and how many boxes were looked at for it."""
    for deep in (False, True):
        for function, screws, target in read.points:
            for reach in Reach.all(screws, target, coordinates.boxes, deep):
                if reach.refutes:
                    return in_lengths(reach, function.frame_b.name, coordinates.names[reach.column]), reach.boxes
    return "", 0


def asked(problem: object, rhs: RightHandSide | ArrayLike | None, box: object) -> tuple[Problem, RightHandSide]:
    """A problem with the bounds to look in, and its right-hand sides.

    Args:
        problem, rhs, box: as users gave them.

    Raises:
        WrongObjectError, SpaceMismatchError, EmptyIntervalError: what is wrong with them.
    """
    problem = expect(problem, Problem, "problem to be searched")
    sides = problem.check_rhs(rhs)
    if box is None:
        return problem, sides
    inner, outer = expect(box, Bounds, "box of a search", "Bounds(space, lower, upper)"), problem.bounds
    if inner.space != problem.space:
        raise SpaceMismatchError("box of a search", problem.space.name, inner.space.name)
    both = Bounds(problem.space, np.maximum(inner.lower, outer.lower), np.minimum(inner.upper, outer.upper))
    within = problem.with_bounds(both)
    return within, RightHandSide(within.constraints, sides.vector)


def in_lengths(reach: Reach, frame: str, joint: str) -> str:
    """Why a target is out of reach."""
    (low, high), (near, far) = reach.tool, reach.target
    exact = far - near < 1e-6
    tool, target = f"at least {low:.5g}", f"{'' if exact else 'at most '}{far:.5g}"
    if high < near:
        tool, target = f"at most {high:.5g}", f"{'' if exact else 'at least '}{near:.5g}"
    return f"'{frame}' is {tool} m from a point on the axis of '{joint}', and its target is {target} m"


def _solution(problem: Problem, sides: RightHandSide, coordinates: Coordinates) -> Certificate | None:
    """A solution that is proved, if projections find it: from the middle, which is often singular, then from others."""
    projector, middle = Projector(problem), coordinates.configuration(coordinates.boxes.center[0])
    for q in (middle, *coordinates.random(np.random.default_rng(0), OTHER_STARTS)):
        result = projector.project(q, sides.vector)
        if not result.success:
            return None
        found = certify(problem, result.q, sides.vector)
        if found.success:
            return found
    return None
