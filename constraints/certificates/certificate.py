"""Certificates: values, that can be checked again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from liegroups.arrays import Matrix, Vector

from ..solvers.result import Result
from ..solvers.status import StatusEnum
from ..words import counted
from .check import Premises, contradictions, failures


class CertificateStatus(StatusEnum, successes=("PROVED", "REFUTED", "COMPLETE")):
    """What is proved. The value is a sentence for humans.

    The first two are those of a configuration, or of a path; `refute` ends with REFUTED, SOLVED or OPEN,
    `all_solutions` with COMPLETE or OPEN, and a sweep with COMPLETE or one of the first two.
    """

    PROVED = "An exact solution is near, it is the only one around in its slice, and the rows have full rank there."
    NOT_PROVED = "No proof was found; that says nothing about whether there is a solution."
    REFUTED = "No configuration within the bounds satisfies all mandatory constraints."
    SOLVED = "A solution was found and proved: there is one."
    COMPLETE = "Each solution is proved, and there is no other one within the bounds."
    OPEN = "The search ended before all was proved: nothing is said of what is left."


@final
@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Result):
    r"""What is proved of the rows of a problem near a configuration q.

    PROVED says, without any rounding: there is a configuration :math:`c \oplus B y`, c the `center`, that satisfies
    all mandatory rows and bounds exactly. No coordinate of a joint differs by more than `r` from that of q; no rotation
    or body turns by more, and no origin of a body is farther. Of all :math:`c \oplus B y` with :math:`\|y\| \le R` it
    is the only one on which the rows in play vanish, and their Jacobian has full rank there.

    Rows in play are the equalities, explicit constraints by their twins, and the inequalities that are `active`: these
    are held at their ends, and columns of `held` joints stay. B (nv, n) is an orthonormal basis of what the rows see.

    Attributes:
        status: PROVED or NOT_PROVED.
        reason: what is in the way; empty for a proof.
        q: configuration (nq,) that was asked about.
        center: c (nq,): where Newton's steps lead from q.
        r: distance to the solution [rad, m]; infinite if none is proved.
        R: within which it is the only one; 0 if nothing is proved.
        condition: of the Jacobian of the rows in play, in the slice.
        rows: how many are in play.
        active: names of the inequalities that are held at an end.
        held: names of the coordinates that are frozen or at a bound.
        open: names of rows that depend on the others at q to first order: nothing is proved of them. Then the status is
            NOT_PROVED, and r and R are those of the other rows.
        rests_on: names of functions whose enclosures were written by users.
        basis: B (nv, n); without columns if nothing is in play or it did not get so far.
        numbers: premises of the check; None if it did not get so far.
    """

    status: CertificateStatus
    reason: str
    q: Vector
    center: Vector
    r: float
    R: float
    condition: float
    rows: int
    active: tuple[str, ...]
    held: tuple[str, ...]
    open: tuple[str, ...]
    rests_on: tuple[str, ...]
    basis: Matrix
    numbers: Premises | None

    @property
    def mobility(self) -> int | None:
        """Freedoms of the exact solutions around the proved one; None where nothing is proved.

        The rows in play have full rank there, and what is not in play is constant: so solutions are a manifold of as
        many dimensions as coordinates that may move, less these rows; with what is `active` or `held` kept so. Where
        rows depend on others to first order, as in Bennett's linkage, nothing is proved, whatever moves.
        """
        return len(self.basis) - len(self.held) - self.rows if self.success else None

    def check(self) -> list[str]:
        """Prove it again from its numbers, by `constraints/certificates/check.py`.

        Returns:
            What does not hold, in words; an empty list if all that is claimed follows from the numbers.
        """
        if self.numbers is None:
            return [self.reason or "there are no numbers"]
        found = failures(self.numbers, self.r, self.R)
        found = found or contradictions(self.numbers, self.q, self.center, self.basis) or self._miscounted()
        return [*found, *([] if self.status is CertificateStatus.PROVED or found else [self.reason])]

    def _miscounted(self) -> list[str]:
        """Which counts and names contradict the basis, or the status."""
        still = int((self.basis == 0.0).all(axis=1).sum())
        wrong = {
            f"rows is {self.rows}, but the numbers are of {self.basis.shape[1]}": self.rows != self.basis.shape[1],
            f"{len(self.held)} coordinates are held, but only {still} stay": len(self.held) > still,
            "a proof has no reason, and no row that is open": self.success and bool(self.reason or self.open),
        }
        return [words for words, is_so in wrong.items() if is_so]

    def describe(self) -> str:
        """What is proved, or what is in the way, in words."""
        lines = [str(self)]
        if self.rows:
            mobility = "not proved" if self.mobility is None else str(self.mobility)
            lines.append(f"{counted(self.rows, 'row')} in play, condition {self.condition:.3g}; mobility {mobility}")
        for words, names in (
            ("inequalities at their ends: ", self.active),
            ("coordinates that are held: ", self.held),
            ("rows that are left open: ", self.open),
            ("rests on enclosures of users: ", self.rests_on),
        ):
            if names:
                lines.append(words + ", ".join(names))
        return "\n  ".join(lines)

    def __str__(self) -> str:
        if not self.success:
            return f"NOT_PROVED: {self.reason}"
        if not self.rows:
            return f"PROVED: no row is in play, and all inequalities and bounds hold, within {self.r:.3g}"
        return f"PROVED: an exact solution within {self.r:.3g}, the only one in its slice within {self.R:.3g}"
