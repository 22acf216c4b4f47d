"""Pages to look things up: statuses, choosing, installing, problem files. Their tables are those of the library."""

from __future__ import annotations

import importlib
import pkgutil
import re
from dataclasses import replace
from pathlib import Path

import pytest
from docs.pages import ROOT, text_of

import constraints
import constraints as lc
from constraints.files import decoding, documents, encoding, json_values as parsed
from constraints.models import sample_two_arms
from constraints.solvers.status import StatusEnum


def statuses_in(text: str) -> list[str]:
    """The names in the first column of its tables."""
    cells = re.findall(r"^\| (\**`\w+`[^|]*) \|", text, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def kinds() -> dict[str, type[StatusEnum]]:
    for module in pkgutil.walk_packages(constraints.__path__, "constraints."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {kind.__name__: kind for kind in StatusEnum.__subclasses__() if kind.__module__.startswith("constraints.")}


def test_statuses_of_a_projection_are_those_of_the_library() -> None:
    page = text_of("statuses")
    table = page[page.index("## The eight statuses") : page.index("## What an `if` does")]
    assert statuses_in(table) == [status.name for status in lc.Status]


def test_each_other_status_is_on_the_page_and_successes_are_bold() -> None:
    page = text_of("statuses")
    others = page[page.index("## Other results") :]
    found = kinds()
    named = re.findall(r"`(\w+Status)`", others)
    assert set(named) == set(found) - {"Status"}
    members = [member for name in named for member in found[name]]
    assert statuses_in(others) == [member.name for member in members]
    bold = re.findall(r"\*\*`(\w+)`\*\*", others)
    assert bold == [member.name for member in members if member.is_success]


def test_installing_has_each_extra_and_no_other() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = text[text.index("[project.optional-dependencies]") : text.index("[tool.hatch.version]")]
    page = text_of("installing")
    table = page[page.index("## Extras") : page.index("## With conda")]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(
        re.findall(r"^(\w+) = \[", extras, re.MULTILINE)
    )


def test_reasons_to_become_implicit_are_those_of_the_library() -> None:
    page = text_of("choosing")
    robot = sample_two_arms()
    a, b, c = ("left_wrist_roll", "left_wrist_pitch", "left_elbow")
    column = robot.velocity_slice_of(a).start
    coupled = lc.linear_coupling(robot, a, {b: 0.5})

    def said(*constraints: lc.Explicit, frozen: tuple[str, ...] = ()) -> str:
        return lc.Problem(robot, list(constraints), frozen=frozen).describe()

    box = lc.Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=lc.Base.FREE_FLYER)
    held = lc.Robot.system([lc.Part("arms", robot), lc.Part("box", box)])
    masked = lc.explicit_relative_pose(held, "arms/left_tool", "box/body", name="box")
    for text, row in (
        (lc.Problem(masked.twin.function.inputs, [replace(masked, mask=[1, 1, 1, 1, 1, 0])]).describe(), "is masked"),
        (said(replace(coupled, comparison=lc.Comparison.SUPERIOR)), "only equalities determine the outputs"),
        (said(coupled, lc.linear_coupling(robot, a, {c: 1.0})), "already computed by"),
        (said(coupled, lc.linear_coupling(robot, b, {a: 1.0}, name="back")), "cycle"),
        (said(coupled, frozen=(a,)), "frozen"),
    ):
        assert "; implicit because" in text
        assert row in text
        assert row in page
    assert column in coupled.outputs.v


def test_page_on_problem_files_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of the page, and its limits and names: those of the code."""
    monkeypatch.chdir(tmp_path)
    page = text_of("problem_files")
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, "problem_files.md", "exec"), {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["case.json", "options.json", "reach.json", "rhs.json"]
    for limit in (documents.LARGEST_FILE // 2**20, parsed.MOST_COORDINATES, encoding.DEEPEST, parsed.LONGEST_TEXT):
        assert re.search(rf"^\|.*\| {limit}\b", page, re.MULTILINE), limit
    assert f"{decoding.MOST_PARTS:,}".replace(",", " ") in page
    assert f"## Schema, version {documents.VERSION}" in page
    assert all(f'"lie-constraints {kind}"' in page for kind in documents.FORMATS)
