"""`info`: versions, linear algebra and its threads, extras; what to put into a bug report."""

from __future__ import annotations

import argparse
import importlib.metadata
import re

from ..files.environment import environment, version_of
from ..linear_algebra import may_use_threads
from .arguments import ALL_WELL

_DISTRIBUTION = "lie-constraints"
_REQUIREMENT = re.compile(r"^\s*([\w.-]+).*;.*\bextra\s*==\s*['\"]([\w-]+)['\"]")
_NOT_FOR_USERS = ("test",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes: nothing."""


def run(options: argparse.Namespace) -> int:
    """Print what computes here, and what is installed beside."""
    lines = environment()
    if may_use_threads():
        lines["threads"] += " (for small mechanisms set OMP_NUM_THREADS=1)"
    width = max(map(len, lines)) + 2
    for name, words in lines.items():
        print(f"{name:{width}}{words}")
    print("\nextras")
    found = extras()
    for extra, parts in found.items():
        print(f"  {extra:{width - 2}}{', '.join(parts)}")
    if not found:
        print(f"  unknown: {_DISTRIBUTION} runs from a folder and is not installed as a distribution")
    return ALL_WELL


def extras() -> dict[str, list[str]]:
    """What each extra of the installed distribution asks for, with its version, or that it is absent."""
    try:
        requirements = importlib.metadata.requires(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    found: dict[str, list[str]] = {}
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match and match[2] not in _NOT_FOR_USERS and match[1] != _DISTRIBUTION:
            found.setdefault(match[2], []).append(f"{match[1]} {version_of(match[1], '(absent)')}")
    return found
