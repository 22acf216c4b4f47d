"""Rules: which grasps may be together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from liegroups.arguments import as_flag
from liegroups.frozen import set_fields

from ...errors import GraphError, OptionError, SizeError
from ..arguments import all_of


@final
@dataclass(frozen=True)
class Rule:
    """Allows or forbids some sets of grasps.

    A rule is about a set of grasps if for each of its patterns that matches a gripper, the pattern beside it matches
    the handle that this gripper holds; the empty pattern means an empty gripper. Patterns are regular expressions for
    whole names. Grippers that no pattern matches are ignored.

    Args:
        grippers: patterns of grippers.
        handles: patterns of handles, one for each pattern of grippers.
        allowed: whether the rule allows these sets.

    Raises:
        SizeError, OptionError, WrongObjectError: invalid patterns.

    Source: `Rule` of hpp-manipulation, whose patterns in Python need to match only the beginning of a name.
    """

    grippers: Sequence[str]
    handles: Sequence[str]
    allowed: bool = True

    def __post_init__(self) -> None:
        """Check that the patterns are some."""
        for what in ("grippers", "handles"):
            patterns = all_of(getattr(self, what), str, f"{what} of a rule", "patterns of names")
            for pattern in patterns:
                try:
                    re.compile(pattern)
                except re.error as error:
                    raise OptionError(f"{what} of a rule: '{pattern}' is not a regular expression ({error})") from None
            set_fields(self, **{what: patterns})
        if len(self.grippers) != len(self.handles):
            raise SizeError("handles of a rule", len(self.grippers), len(self.handles))
        as_flag(self.allowed, "allowed of a rule")

    def is_about(self, grippers: Iterable[str], grasps: Mapping[str, str]) -> bool:
        """Whether the rule says something about a set of grasps.

        Args:
            grippers: names of all grippers.
            grasps: gripper -> handle, for the grippers that hold one.
        """
        return all(
            re.fullmatch(held, grasps.get(gripper, ""))
            for gripper in grippers
            for pattern, held in zip(self.grippers, self.handles, strict=True)
            if re.fullmatch(pattern, gripper)
        )


def is_allowed(rules: Sequence[Rule], grippers: Sequence[str], grasps: Mapping[str, str]) -> bool:
    """What the first rule that is about the grasps says; no if there are rules and none is; yes without rules."""
    if not rules:
        return True
    return next((rule.allowed for rule in rules if rule.is_about(grippers, grasps)), False)


def check_rules(rules: Sequence[Rule], grippers: Sequence[str], handles: Sequence[str]) -> None:
    """Refuse patterns that match nothing.

    Raises:
        GraphError: names the pattern, and what there is.
    """
    for i, rule in enumerate(rules):
        for what, patterns, names in (("gripper", rule.grippers, grippers), ("handle", rule.handles, ("", *handles))):
            for pattern in patterns:
                if not any(re.fullmatch(pattern, name) for name in names):
                    known = ", ".join(name for name in names if name)
                    raise GraphError(f"rule {i}: '{pattern}' matches no whole {what} name; there are {known}")
