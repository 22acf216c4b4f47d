"""The pages of docs/ as text, and the runner of their blocks (`docs/blocks.py`, which is a command too)."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"


def load_blocks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_blocks", DOCS / "blocks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_blocks"] = module
    spec.loader.exec_module(module)
    return module


blocks = load_blocks()


def text_of(page: str) -> str:
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


def cells_of(page: str, section: str) -> list[list[str]]:
    """Cells of the tables of a section of a page."""
    (found,) = (part for part in re.split(r"^## ", text_of(page), flags=re.MULTILINE) if part.startswith(section))
    lines = [line for line in found.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
