"""Threads of the linear algebra on a busy machine: one line of log, when a constraint set is made."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from constraints import linear_algebra
from constraints.models import mechanisms


@pytest.fixture(autouse=True)
def not_said_yet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    linear_algebra.warn_of_threads.cache_clear()
    for name in linear_algebra.THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    yield
    linear_algebra.warn_of_threads.cache_clear()


def test_a_busy_machine_is_said_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (17.9, 12.0, 5.0))
    linkage = mechanisms.four_bar()
    linkage.constraint_set()
    linkage.constraint_set()
    (record,) = [record for record in caplog.records if "OMP_NUM_THREADS=1" in record.getMessage()]
    assert record.levelname == "WARNING"
    assert "load 17.9 on 2 cores" in record.getMessage()


@pytest.mark.parametrize("limit", linear_algebra.THREADS)
def test_nothing_is_said_where_threads_are_limited(
    limit: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (17.9, 12.0, 5.0))
    monkeypatch.setenv(limit, "1")
    mechanisms.four_bar().constraint_set()
    assert not caplog.records


def test_nothing_is_said_where_cores_are_idle(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.4, 1.0, 1.0))
    mechanisms.four_bar().constraint_set()
    assert not caplog.records
