"""Numbers and truths that public calls take where nothing is given."""

from __future__ import annotations

import inspect
from enum import Enum
from types import ModuleType
from typing import Any


def defaults_of(room: ModuleType) -> dict[str, dict[str, Any]]:
    """By the name of a call, of all functions, classes and methods that a room makes and shows."""
    found: dict[str, dict[str, Any]] = {}
    for name, made in vars(room).items():
        if name.startswith("_") or not getattr(made, "__module__", "").startswith(room.__name__):
            continue
        calls = {name: made}
        if inspect.isclass(made):
            if issubclass(made, Enum):
                continue
            methods = {word: getattr(method, "__func__", method) for word, method in vars(made).items()}
            calls |= {f"{name}.{w}": m for w, m in methods.items() if inspect.isfunction(m) and not w.startswith("_")}
        for label, call in calls.items():
            if callable(call):
                given = {p.name: p.default for p in inspect.signature(call).parameters.values()}
                numbers = {word: x for word, x in given.items() if isinstance(x, bool | int | float)}
                found |= {label: numbers} if numbers else {}
    return found
