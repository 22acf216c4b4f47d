"""A diagnosis in words."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor, inf, log10
from typing import TYPE_CHECKING

from ...problem.description import MISSED
from ...rows.stack import label
from ...words import counted, first_of
from ..projection import engines
from .conflict import Conflict, Kind, Member
from .dependent_rows import Row

if TYPE_CHECKING:
    from .diagnosis import Diagnosis

SHOWN = 8
"""Number of entries of a list that are printed; the data have all."""


def text_of(diagnosis: Diagnosis) -> str:
    """All that a diagnosis holds, the most useful first.

    Args:
        diagnosis: the diagnosis.
    """
    lines = [f"{diagnosis.status} (residual {diagnosis.residual:.3g}, threshold {diagnosis.threshold:g})"]
    lines += _conflict(diagnosis)
    lines += [f"Angles are in radians, lengths in metres; {words}" for words in diagnosis.questions]
    if diagnosis.suggestions:
        lines += ["What would help:", *(f"  {sentence}" for sentence in diagnosis.suggestions)]
    lines += ["Errors by constraint:", *_errors(diagnosis)]
    involved = _involved(diagnosis)
    if involved:
        lines.append(f"Computed constraints involved: {', '.join(repr(name) for name in involved)}")
    lines += _rows(diagnosis)
    if diagnosis.active_bounds:
        lines.append(f"Bounds: {'; '.join(first_of(diagnosis.active_bounds, SHOWN))}")
    return "\n".join(lines)


def suggestions_of(diagnosis: Diagnosis) -> tuple[str, ...]:
    """What would help: only what was tried, or follows from the rows.

    Args:
        diagnosis: the diagnosis.
    """
    if diagnosis.success:
        return ()
    return tuple((*_by_jacobians(diagnosis), *_by_trials(diagnosis), *_by_rows(diagnosis), *_by_domain(diagnosis)))


def _by_jacobians(diagnosis: Diagnosis) -> Iterator[str]:
    """Jacobians that no step can rely on."""
    for name, off in diagnosis.doubtful_jacobians:
        words = "constraints.testing.check_function tells whether it is wrong"
        how = "is not finite" if off == inf else f"differs by {off:.3g} from finite differences"
        yield f"Look at the Jacobian of '{name}': it {how} there; {words}."


def _by_trials(diagnosis: Diagnosis) -> Iterator[str]:
    """What other projections showed."""
    if diagnosis.is_below_rounding:
        yield f"Ask for a threshold of {_rounded_up(diagnosis.rounding)} or more: float64 cannot resolve less here."
        return
    if diagnosis.solution is not None:
        if any(MISSED in entry.reason for entry in diagnosis.undefined):
            return  # found by solving for what is computed wrongly
        first = diagnosis.trials[0]
        if first.reached and first.tries == 1:
            more = f"{counted(first.iterations, 'more iteration')} from its result satisfy all (diagnosis.solution)"
            if diagnosis.engine:
                yield f"Solve it with engine={engines.USUAL!r}: {more}; check the steps of {diagnosis.engine}."
            else:
                yield f"Allow more iterations: {more}."
        elif diagnosis.more_iterations:
            more = f"Options(max_iterations={diagnosis.more_iterations})"
            yield f"Take {more}, or start elsewhere: a solution exists (diagnosis.solution)."
        else:
            yield "Start elsewhere, or allow restarts and more iterations: a solution exists (diagnosis.solution)."
        return
    if diagnosis.without_bounds is not None:
        far = [str(each) for each in sorted(diagnosis.leaving, key=lambda violation: -abs(violation.amount))]
        yield f"Without its bounds it succeeds, for instance with {', '.join(first_of(far, SHOWN))}."
    if diagnosis.conflict is None:
        return
    for member in diagnosis.conflict.members:
        alone = member.kind is Kind.CONSTRAINT and len(diagnosis.errors) == 1  # to ask for nothing is no help
        if not alone and _mends(diagnosis, member):
            if member.kind is Kind.FROZEN:
                yield "With its frozen dofs free to move it succeeds."
            else:
                yield f"Without {_member(diagnosis, member)} it succeeds."


def _mends(diagnosis: Diagnosis, member: Member) -> bool:
    """Whether all but this member were satisfied."""
    others = set(diagnosis.trials[0].members) - {member}
    return any(trial.reached and others <= set(trial.members) for trial in diagnosis.trials)


def _by_rows(diagnosis: Diagnosis) -> Iterator[str]:
    """What the rows show: more of them than dofs, one that contradicts those it repeats, one that nothing moves."""
    known, reached = diagnosis.dependence, diagnosis.solution is not None
    too_many = known is not None and sum(known.rows) > sum(known.ranks) == diagnosis.dofs > 0
    if known is not None and too_many and not reached and known.inconsistency > diagnosis.threshold:
        yield f"Mask some rows: there are {sum(known.rows)} rows, and only {diagnosis.dofs} dofs may move."
    for entry in diagnosis.dependence.redundant if diagnosis.dependence is not None else ():
        if abs(entry.mismatch) <= diagnosis.threshold or not entry.everywhere:
            continue
        name = _row(diagnosis, entry.row)
        if not entry.repeats:
            yield f"No free dof moves {name}, whose error is {entry.mismatch:.3g}."
        elif len(entry.repeats) == 1:
            other = _row(diagnosis, entry.repeats[0])
            yield f"Make {name} and {other} agree: one repeats the other, their errors differ by {entry.mismatch:.3g}."


def _by_domain(diagnosis: Diagnosis) -> Iterator[str]:
    for entry in diagnosis.undefined:
        if (entry.constraint, inf) in diagnosis.doubtful_jacobians:
            continue
        name = _label(diagnosis, entry.constraint, entry.position)
        if MISSED in entry.reason:
            yield f"Look at {name}: {entry.reason}."
        else:
            yield f"Start where {name} has a value, or keep it there with bounds: {entry.reason}."


def _conflict(diagnosis: Diagnosis) -> Iterator[str]:
    conflict = diagnosis.conflict
    if conflict is None:
        if diagnosis.success:
            yield "Nothing to correct: all mandatory constraints are satisfied."
        elif diagnosis.is_below_rounding:
            yield "The threshold is below rounding: all is satisfied to float64 accuracy (diagnosis.solution)."
        return
    one = len(conflict.members) == 1
    head = "Out of reach" if one else "Cannot be satisfied together"
    if diagnosis.proof:
        yield f"Proved out of reach: {diagnosis.proof}."
    if diagnosis.doubtful_jacobians:  # the trials had steps by the same Jacobians
        names = ", ".join(f"'{name}'" for name, _ in diagnosis.doubtful_jacobians)
        is_wrong = "is not finite" if all(off == inf for _, off in diagnosis.doubtful_jacobians) else "seems wrong"
        yield f"Not solved, and what can be satisfied is not known: the Jacobian of {names} {is_wrong}"
        yield f"({_tried(conflict)}). What was not satisfied with it:"
    elif diagnosis.proof:
        yield f"What projection did not satisfy ({_tried(conflict)}):"
    else:
        yield f"{head}, as far as projection can tell ({_tried(conflict)}):"
    yield from (f"  {_member(diagnosis, member)}" for member in conflict.members)
    if not conflict.is_minimal:
        yield "  (some of these may not be needed: the budget of trials ended, or a trial was misjudged)"
    elif not one and not diagnosis.doubtful_jacobians:
        yield f"  If any one of them is left out, the others can be satisfied{_where(diagnosis, conflict)}."
    if conflict.is_minimal and not any(_mends(diagnosis, member) for member in conflict.members):
        yield "  Leaving out one of them is not enough to satisfy the rest: there are other conflicts too."


def _tried(conflict: Conflict) -> str:
    """How hard it was tried, and how near it came: within all bounds too, where some of them are no members."""
    trial, within = conflict.trial, conflict.within
    words = f"{counted(trial.tries, 'try')}, {counted(trial.iterations, 'iteration')}"
    if within is not None and f"{within.residual:.3g}" != f"{trial.residual:.3g}":
        words += f", least residual {within.residual:.3g} within all bounds"
    else:
        words += f", least residual {trial.residual:.3g}"
    return words + (f", {trial.outside:.3g} outside bounds" if trial.outside else "")


def _involved(diagnosis: Diagnosis) -> list[str]:
    """Computed constraints that tell something: members of the conflict, and those whose error is not 0."""
    if diagnosis.success:
        return []
    members = () if diagnosis.conflict is None else diagnosis.conflict.members
    named = {member.name for member in members if member.kind is Kind.CONSTRAINT}
    met = {entry.constraint for entry in diagnosis.errors if entry.norm <= diagnosis.threshold}
    return [name for name in diagnosis.explicits if name in named or name not in met]


def _where(diagnosis: Diagnosis, conflict: Conflict) -> str:
    """With which bounds the members but one were satisfied: a word where it is not known that all of them can hold."""
    whole = [m for m in diagnosis.trials[0].members if m.kind is not Kind.CONSTRAINT]
    for left_out, trial in zip(conflict.members, conflict.without, strict=True):
        if trial is not None and not set(whole) - {left_out} <= set(trial.members):
            return ", other bounds and frozen dofs left out"
    return ""


def _rounded_up(number: float) -> str:
    """A positive number with one digit, not less than it is."""
    power = 10.0 ** floor(log10(number))
    return f"{ceil(number / power) * power:.0e}"


def _errors(diagnosis: Diagnosis) -> Iterator[str]:
    reasons = {entry.position: entry.reason for entry in diagnosis.undefined}
    for entry in diagnosis.errors[:SHOWN]:
        words = f"  {_label(diagnosis, entry.constraint, entry.position)}: {entry.norm:.3g}"
        if entry.position in reasons:
            words += f", {'' if entry.norm < inf else 'no value: '}{reasons[entry.position]}"
        elif entry.norm > diagnosis.threshold:
            words += " (optional)" if entry.optional else " (not satisfied)"
        yield words
    if len(diagnosis.errors) > SHOWN:
        yield f"  and {len(diagnosis.errors) - SHOWN} more, not larger"


def _rows(diagnosis: Diagnosis) -> Iterator[str]:
    known = diagnosis.dependence
    if known is None:
        return
    yield f"Rows, level by level in the null space of those above ({counted(diagnosis.dofs, 'dof')} may move):"
    for level, rows, rank, values in zip(known.levels, known.rows, known.ranks, known.singular_values, strict=True):
        span = f", singular values {values[0]:.3g} to {values[rank - 1]:.3g}" if rank else ""
        yield f"  {level}: {counted(rows, 'row')}, rank {rank}{span}"
    if known.redundant:
        agree = "consistent" if known.inconsistency <= diagnosis.threshold else "not consistent"
        yield f"Redundant rows ({agree}: {known.inconsistency:.3g} of the error is out of reach of any small motion):"
        for entry in known.redundant[:SHOWN]:
            others = " and ".join(_row(diagnosis, row) for row in entry.repeats[:2])
            more = f" and {len(entry.repeats) - 2} more" if len(entry.repeats) > 2 else ""
            what = f"depends on {others}{more}" if others else "depends on no free dof"
            where = "" if entry.everywhere else ", only here: a singular configuration"
            yield f"  {_row(diagnosis, entry.row)} {what}{where}; mismatch {entry.mismatch:.3g}"
        if len(known.redundant) > SHOWN:
            yield f"  and {len(known.redundant) - SHOWN} more"


def _label(diagnosis: Diagnosis, name: str, position: int) -> str:
    """A constraint's name, with its position where several have it."""
    return label(name, position, [entry.constraint for entry in diagnosis.errors])


def _member(diagnosis: Diagnosis, member: Member) -> str:
    if member.kind is Kind.CONSTRAINT:
        return _label(diagnosis, member.name, member.position)
    if member.kind is Kind.BOUNDS:
        return f"the bounds of {member.name!r}"
    return "the frozen dofs" + (f", or driven joints: {diagnosis.frozen}" if diagnosis.frozen else "")


def _row(diagnosis: Diagnosis, row: Row) -> str:
    return f"row {row.row} of {_label(diagnosis, row.constraint, row.position)}"
