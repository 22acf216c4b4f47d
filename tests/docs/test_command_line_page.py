"""The page on the command line: its files are written, its commands run, and they print what stands under them."""

from __future__ import annotations

import re
import runpy
import shutil
from pathlib import Path

import pytest
from docs.pages import DOCS, ROOT, blocks, text_of
from robots import needs_robot_data

from constraints.__main__ import COMMANDS, main
from constraints.cli import demo_scenes

PAGE = text_of("command_line")
COMMAND = re.compile(r"^```\npython -m constraints ([^\n]*)\n```\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
VARIES = re.compile(
    r"^(iterations|closed|residual|independent coordinate:|  length|  held: [^,]*,) .*$", re.MULTILINE
)  # with the processor


WITHOUT_A_SECTION = {"demo", "info", "show", "warm-up"}
"""What these print depends on the machine, or is a page of a browser."""


def test_each_command_prints_what_stands_under_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """README: each claim has its command."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples" / "scenes", tmp_path / "examples" / "scenes")
    blocks.run(DOCS / "command_line.md")
    found = COMMAND.findall(PAGE)
    shown = {line.split()[0] for line, _ in found}
    assert shown == set(COMMANDS) - WITHOUT_A_SECTION, "a command has a section with an example and what it prints"
    for line, said in found:
        capsys.readouterr()
        code = main(line.split())
        out, err = capsys.readouterr()
        assert code == (2 if said.startswith("error: ") else 0)
        assert blocks.differences(*(VARIES.sub(r"\1", text) for text in (said, out or err))) == [], line
    assert (tmp_path / "reached.npz").is_file()


def test_the_table_has_each_command_and_all_that_it_takes() -> None:
    """It comes from the parser: `python docs/commands.py` prints it as it should be."""
    printed = runpy.run_path(str(DOCS / "commands.py"))["table"]()
    rows = dict(re.findall(r"^\| `([\w-]+)([^`]*)` \|", printed, re.MULTILINE))
    assert set(rows) == set(COMMANDS)
    assert "[--starts N] [--seed S]" in rows["project"]
    assert f"\n{printed}\n\n" in PAGE, "replace the table of the page by what `python docs/commands.py` prints"


@needs_robot_data
def test_the_table_of_the_demonstration_has_its_scenes_and_sizes() -> None:
    block = PAGE[PAGE.index("problem    ") : PAGE.index("Engine: compiled.")]
    rows = [re.split(r"\s{2,}", line.strip()) for line in block.splitlines()[2:] if " of 1000 " in line]
    found = [(row[0], int(row[1]), int(row[2])) for row in rows]
    assert found == [(s.name, s.problem.space.nv, s.problem.constraints.size) for s in demo_scenes.scenes()[0]]
    assert all(row[3].endswith("of 1000") for row in rows)
    assert all(float(row[-1]) <= 1e-4 for row in rows)
