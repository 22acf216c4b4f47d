"""`.ci/run`: it ends soon when it is told to, and knows which benchmarks check themselves."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
RUN = ROOT / ".ci" / "run"

PYTHON = """#!/bin/sh
# A Python that answers what `.ci/run` asks at the start, and takes a minute over its environment.
case "$*" in *venv\\ *) sleep 0.3; echo making; exec sleep 60 ;; *) exit 0 ;; esac
"""

SETSID = """#!/usr/bin/env bash
# A busy machine: nothing stands in a session of its own yet, and bash has lost the signal while it forked.
trap : TERM INT
sleep 0.5; sleep 0.5
exec {setsid} "$@"
"""


@pytest.mark.skipif(not RUN.exists(), reason="a copy without .ci")
@pytest.mark.parametrize("is_busy", [False, True])
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_within_five_seconds(sent: signal.Signals, is_busy: bool, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python3"
    python.write_text(PYTHON)
    python.chmod(0o755)
    if is_busy:
        setsid = tmp_path / "bin" / "setsid"
        setsid.write_text(SETSID.format(setsid=shutil.which("setsid")))
        setsid.chmod(0o755)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}", "TMPDIR": str(scratch)}
    command = ["env", "--default-signal=INT,TERM", "bash", str(RUN)]  # pytest's workers ignore one
    with subprocess.Popen(command, env=found, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        while "making" not in run.stdout.readline():
            assert run.poll() is None
        began = time.monotonic()
        run.send_signal(sent)
        assert run.wait(timeout=30) == {signal.SIGTERM: 143, signal.SIGINT: 130}[sent]
        assert time.monotonic() - began < 5.0
    assert not list(scratch.iterdir())


@pytest.mark.skipif(not RUN.exists(), reason="a copy without .ci")
def test_benchmarks_that_check_themselves_are_listed() -> None:
    checked = {path.name for path in (ROOT / "benchmarks").glob("*.py") if "--check" in path.read_text("utf-8")}
    assert set((ROOT / ".ci" / "benchmarks").read_text().split()) == checked
