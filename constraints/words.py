"""Words of messages."""

from __future__ import annotations

from collections.abc import Sequence

_PLURALS = {
    "try": "tries",
    "guess": "guesses",
    "axis": "axes",
    "entry": "entries",
    "vertex": "vertices",
    "branch": "branches",
    "box": "boxes",
}


def counted(number: int, noun: str) -> str:
    """A number with what it counts: "1 row", "2 rows", "0 tries".

    Args:
        number: how many.
        noun: one of them; of several words the last one is put in the plural.
    """
    if number == 1:
        return f"{number} {noun}"
    head, gap, last = noun.rpartition(" ")
    return f"{number} {head}{gap}{_PLURALS.get(last, f'{last}s')}"


def budget(iterations: int, largest: int) -> str:
    """Iterations that were used of those that were given: "all 100 iterations used", "7 of 100 iterations used"."""
    given = counted(largest, "iteration")
    if iterations < largest:
        return f"{iterations} of {given} used"
    return f"all {given} used" if largest > 1 else f"{given} used"


def larger_budget(iterations: int) -> int:
    """The iterations to try next where so many were all used: ten times as many, and 1000 at least."""
    return max(1000, 10 * iterations)


def first_of(entries: Sequence[str], shown: int, more: str = "more") -> list[str]:
    """The first of some entries, and one that says how many more there are: "and 3 more", "and 3 more kinds"."""
    left = len(entries) - shown
    return [*entries[:shown], *([f"and {left} {more}"] if left > 0 else [])]


def first_names(names: Sequence[str], shown: int = 8) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def row_numbers(rows: Sequence[int]) -> str:
    """Rows, which are in order, in words: "rows 0-2, 5"."""
    runs: list[list[int]] = []
    for row in rows:
        if runs and row == runs[-1][-1] + 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    said = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
    return f"rows {said}" if len(rows) > 1 else f"row {said}"


def bracketed(name: str) -> str:
    """A name as a factor of a product: "(f - g)" where it is more than a word or call, "f" where it is one."""
    depth = 0
    for letter in name:
        depth += (letter in "([") - (letter in ")]")
        if letter == " " and depth == 0:
            return f"({name})"
    return name


def one_line(text: str) -> str:
    """A text with its line breaks and control characters escaped, as repr does; the rest is as it was."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def signed_sum(factors: Sequence[float], terms: Sequence[str]) -> str:
    """A sum as it is written: "2 - 0.5 x + y"; terms with factor 0 are left out, an empty term is the number alone."""
    words = ""
    for factor, term in zip(factors, terms, strict=True):
        if factor == 0.0:
            continue
        size = f"{abs(factor):.4g}"
        word = f"{size} {term}" if term and size != "1" else term or size
        sign = "-" if factor < 0.0 else "+"
        words += f" {sign} {word}" if words else f"{'-' if factor < 0.0 else ''}{word}"
    return words or "0"
