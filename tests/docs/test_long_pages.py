"""The pages on closed chains, dynamics, motions, minimal coordinates, full turns: their code runs, block by block."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"

PAGES = (("closed_chains", 3), ("dynamics", 12), ("motions", 5), ("reduced", 14), ("full_turns", 8))


@pytest.mark.parametrize(("page", "least"), PAGES)
def test_the_code_of_a_page_runs(page: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # pictures are written here
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(found) >= least
    names: dict[str, Any] = {"__name__": "page"}
    for i, block in enumerate(found):
        exec(compile(block, f"{page}.md, block {i}", "exec"), names)
