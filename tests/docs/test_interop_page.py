"""The Python of docs/interop.md runs as it stands there."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "interop.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_runs() -> None:
    """Each block asserts what it claims; those of crocoddyl and CasADi run where these are installed."""
    pytest.importorskip("pink")
    pytest.importorskip("daqp")
    names: dict[str, Any] = {}
    for block in BLOCKS:
        if any(f"import {name}\n" in block and find_spec(name) is None for name in ("crocoddyl", "casadi")):
            continue
        exec(compile(block, "docs/interop.md", "exec"), names)
    assert names["problem"].is_satisfied(names["q"])
    assert names["closed"].success
    assert names["swing"].success
    assert len(BLOCKS) == 7
