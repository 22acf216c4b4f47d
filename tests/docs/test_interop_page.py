"""The Python of docs/interop.md runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "interop.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_runs() -> None:
    """Each block asserts what it claims."""
    pytest.importorskip("pink")
    pytest.importorskip("daqp")
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/interop.md", "exec"), names)
    assert names["problem"].is_satisfied(names["q"])
    assert names["closed"].success
    assert len(BLOCKS) == 4
