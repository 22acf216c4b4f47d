"""What commands do besides: where kernels are, reports that are not needed, pages that are shown."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.test_command_line import far

import constraints as lc
from constraints.__main__ import main
from constraints.cli import warm_up
from constraints.models import sample_arm


def reach() -> lc.Problem:
    return lc.Problem(sample_arm(), [lc.Implicit.equal(lc.Position(sample_arm(), "tool"), [0.3, 0.2, 0.5])])


@pytest.mark.parametrize(
    ("cold", "folders", "words"),
    [
        (["a"], ["/b", "/a"], "kernels compiled in 0.0 s, stored in /a, /b\n"),
        ([], ["/b", "/b"], "kernels read in 0.0 s, stored in /b\n"),
        ([], ["/b", None], "kernels read in 0.0 s, not stored: no folder is writable\n"),
    ],
)
def test_warm_up_says_where_kernels_are(
    cold: list[str], folders: list[Any], words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    entrances = type("Entrances", (), {"take_all": lambda _: taken.append("all")})
    found = dict(zip(warm_up.PARTS, [*folders, *folders[:1] * len(warm_up.PARTS)], strict=False))
    for name, stand_in in (("cold_parts", lambda *_: cold), ("entrances", entrances), ("folder", found.get)):
        monkeypatch.setattr(warm_up, name, stand_in)
    monkeypatch.setattr(warm_up, "compiling", lambda *_: contextlib.nullcontext())
    assert main(["warm-up"]) == 0
    assert taken == ["all"]
    assert capsys.readouterr().out == words


def test_a_report_that_is_not_needed_is_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And one of a failure is drawn when it is done again."""
    reach().save(tmp_path / "reach.json")
    far().save(tmp_path / "far.json")
    report = tmp_path / "report.json"
    assert main(["project", str(tmp_path / "reach.json"), "--starts", "2", "--report", str(report)]) == 0
    assert f"no failure to report: {report} is not written" in capsys.readouterr().out
    assert not report.exists()
    assert main(["project", str(tmp_path / "far.json"), "--starts", "2", "--report", str(report)]) == 1
    assert main(["project", str(report), "--plot", str(tmp_path / "again.png")]) == 0
    assert (tmp_path / "again.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("posture", [None, "home"])
def test_show_reads_problems_and_postures(posture: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is waited for where it is not saved."""
    shown: list[Any] = []

    @contextlib.contextmanager
    def show(what: Any, q: Any, **_: Any) -> Any:
        shown.extend([what, q])
        yield type("Page", (), {"missing": (), "wait": lambda _: shown.append("waited")})()

    monkeypatch.setattr("constraints.cli.show.show", show)
    reach().save(tmp_path / "reach.json")
    assert main(["show", str(tmp_path / "reach.json"), *(["--posture", posture] if posture else [])]) == 0
    assert shown[0].nv == sample_arm().nv
    assert np.array_equal(shown[0].neutral, sample_arm().neutral)
    assert shown[1:] == [posture, "waited"]
