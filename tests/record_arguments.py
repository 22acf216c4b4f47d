"""Arguments of a call from one mapping, in which the fields of its records stand beside the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any


def with_records(given: Mapping[str, Any], **records: Any) -> dict[str, Any]:
    """Keyword arguments: each record is made of those of its fields that are given."""
    named = dict(given)
    own = {name: {each.name: named.pop(each.name) for each in fields(kind) if each.name in named}
           for name, kind in records.items()}  # fmt: skip
    return named | {name: kind(**own[name]) for name, kind in records.items()}
