"""Values: every record of the library is frozen, so that what was checked stays so, and equal to itself or by value."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import constraints
import liegroups

CHANGED = {"constraints.files.encoding._Node", "constraints.manipulation.walk._Walker"}
"""Built up while a file is written; one walk under way."""

BY_VALUE = {
    "Backtracking", "Baumgarte", "ConstantStep", "Entry", "ErrorNormBased", "Factor", "Fault",
    "FixedSequence", "FullSteps", "GroupMaps", "Mimic", "Options", "Rule", "SdfMimic", "Segments", "Sidecar",
    "Unread", "_HalfSquare", "_Sample", "_Shifted",
}  # fmt: skip
"""Equal where their fields are; all others hold arrays or functions, and are equal to themselves alone."""


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            yield importlib.import_module(module.name)


def test_records_are_frozen() -> None:
    loose, by_value, seen = set[str](), set[str](), 0
    for module in (*modules(constraints), *modules(liegroups)):
        for kind in vars(module).values():
            record = vars(kind).get("__dataclass_params__") if isinstance(kind, type) else None
            if record is not None:
                seen += 1
                by_value |= {kind.__qualname__} if record.eq else set()
                loose |= set() if record.frozen else {f"{kind.__module__}.{kind.__qualname__}"}
    assert seen > 100
    assert loose == CHANGED
    assert by_value == BY_VALUE
