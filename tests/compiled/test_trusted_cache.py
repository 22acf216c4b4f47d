"""Kernels on disk are code: what is damaged is compiled again, what others may have written is not executed."""

from __future__ import annotations

import os
import pickle
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("numba")

from compiled import forks

from constraints.solvers import trusted_files as trusted
from constraints.solvers.machine import cache
from constraints.solvers.trusted_files import DamagedError, TrustedPlace, UntrustedError, opened, read, write

pytestmark = pytest.mark.skipif(not trusted.POSSIBLE, reason="needs a system with descriptors of folders")
needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root is another user")

FULL = """
from constraints.solvers.machine import cache
def full(*_): raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
cache.write = full
cache._can_be_written_to = lambda candidate: True
"""
STRANGER = 54321
"""A user without an entry in passwd."""
AS_STRANGER = f"""
os.setgroups([]); os.setgid({STRANGER}); os.setuid({STRANGER})
os.environ.pop("HOME", None)
"""


def run(tmp_path: Path, named: Path | None, before: str = "") -> tuple[list[str], str]:
    """What the kernel said, and what was logged, in a process of its own."""
    (said,) = forks.run(forks.kernel(before), tmp_path, {} if named is None else {cache.VARIABLE: str(named)})
    return said.printed.split(), said.logged


@pytest.fixture(scope="module")
def warmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has the kernel, made once."""
    folder = tmp_path_factory.mktemp("warm")
    assert run(folder, folder / "named") == (["10.0", "0"], "")
    assert run(folder, folder / "named") == (["10.0", "1"], "")
    return folder


@pytest.fixture
def warm(tmp_path: Path, warmed: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(warmed / "named", tmp_path / "named"))


def the_kernel(named: Path) -> Path:
    (found,) = named.rglob("*.kernel")
    return found


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


def flip(path: Path) -> None:
    """One bit in the middle: of machine code, which would be executed."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def nonsense(path: Path) -> None:
    """What has the right sum, and is no kernel."""
    content = pickle.dumps(("not", "a", "kernel"))
    path.write_bytes(trusted.hashlib.sha256(content).digest() + content)


@pytest.mark.parametrize("damage", [cut, flip, nonsense])
def test_a_damaged_kernel_is_compiled_again(tmp_path: Path, warm: Path, damage: Callable[[Path], None]) -> None:
    damage(the_kernel(warm))
    said, logged = run(tmp_path, warm)
    assert said == ["10.0", "0"]
    assert len(logged.splitlines()) == 1
    assert "is not used, and compiled again" in logged
    assert run(tmp_path, warm) == (["10.0", "1"], "")


def test_a_full_disk_leaves_kernels_in_memory(tmp_path: Path) -> None:
    said, logged = run(tmp_path, tmp_path / "named", FULL)
    assert said == ["10.0", "0"]
    assert len(logged.splitlines()) == 1
    assert "are not kept" in logged
    assert "No space left on device" in logged


def test_a_disk_that_is_really_full_leaves_kernels_in_memory(tmp_path: Path) -> None:
    """On a disk of 64 KB, where it may be mounted; its rest is filled."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "tmpfs", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no disk may be mounted here")
    try:
        (disk / "rest").write_bytes(b"x" * 61440)
        said, logged = run(tmp_path, disk / "named")
        assert said == ["10.0", "0"]
        assert len(logged.splitlines()) == 1
        assert "No space left on device" in logged
        assert not list(disk.rglob("*.tmp.*"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def for_all() -> Iterator[Path]:
    """A folder that every user may come to; those of pytest are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@needs_root
def test_neither_a_home_nor_a_name_is_needed(for_all: Path) -> None:
    """As in a container: no HOME, a user who is not in passwd; kernels go to the folder for temporary files."""
    temporary = for_all / "temporary"
    temporary.mkdir(mode=0o1777)
    before = f"import tempfile; tempfile.tempdir = {str(temporary)!r}{AS_STRANGER}"
    temporary.chmod(0o1777)
    assert run(for_all, None, before) == (["10.0", "0"], "")
    assert run(for_all, None, before) == (["10.0", "1"], "")
    assert the_kernel(temporary).stat().st_uid == STRANGER


@needs_root
def test_what_another_user_put_into_the_folder_for_temporary_files_is_not_executed(tmp_path: Path) -> None:
    """The fallback of a process without a home: the other user made its folder, or wrote the file in it."""
    temporary, trace = tmp_path / "temporary", tmp_path / "executed"
    temporary.mkdir(mode=0o1777)
    before = f"import tempfile; tempfile.tempdir = {str(temporary)!r}; os.environ['HOME'] = '/dev/null/none'"
    assert run(tmp_path, None, before) == (["10.0", "0"], "")
    kernel = the_kernel(temporary)

    class Executed:
        def __reduce__(self) -> tuple[object, ...]:
            return open, (str(trace), "w")

    bad = pickle.dumps(Executed())
    kernel.write_bytes(trusted.hashlib.sha256(bad).digest() + bad)
    run(tmp_path, None, before)
    assert trace.exists()  # what is of this user is code of this user
    trace.unlink()
    kernel.write_bytes(trusted.hashlib.sha256(bad).digest() + bad)
    os.chown(kernel, STRANGER, STRANGER)
    said, logged = run(tmp_path, None, before)
    assert said == ["10.0", "0"]
    assert f"belongs to the user {STRANGER}" in logged
    assert not trace.exists()
    os.chown(kernel.parent.parent, STRANGER, STRANGER)
    kernel.write_bytes(trusted.hashlib.sha256(bad).digest() + bad)
    said, logged = run(tmp_path, None, before)
    assert said == ["10.0", "0"]
    assert f"belongs to the user {STRANGER}" in logged
    assert not trace.exists()


def _write_for_others(path: Path) -> None:
    path.chmod(path.stat().st_mode | stat.S_IWOTH)


def _write_for_the_group(path: Path) -> None:
    path.chmod(path.stat().st_mode | stat.S_IWGRP)


@pytest.mark.parametrize("change", [_write_for_others, _write_for_the_group])
@pytest.mark.parametrize("which", ["named", "inner", "file"])
def test_what_others_may_write_to_is_not_read(tmp_path: Path, which: str, change: Callable[[Path], None]) -> None:
    place = TrustedPlace(tmp_path / "named", ("inner",), named=True)
    with opened(place, make=True) as at:
        write(at, "file", b"code")
    changed = {"named": place.base, "inner": place.path, "file": place.path / "file"}[which]
    change(changed)
    with pytest.raises(UntrustedError, match=r"others may write to .*chmod go-w"), opened(place) as at:
        read(at, "file")
    changed.chmod(0o755)
    with opened(place) as at:
        assert read(at, "file") == b"code"


@pytest.mark.parametrize("which", ["inner", "file"])
def test_links_below_the_named_folder_are_not_followed(tmp_path: Path, which: str) -> None:
    place = TrustedPlace(tmp_path / "named", ("inner",), named=True)
    with opened(place, make=True) as at:
        write(at, "file", b"code")
    moved = place.path if which == "inner" else place.path / "file"
    moved.rename(tmp_path / "elsewhere")
    moved.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError), opened(place) as at:  # noqa: PT011
        read(at, "file")


def test_a_folder_that_others_may_write_to_is_left_for_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And that is said, with what to do."""
    named = tmp_path / "named"
    named.mkdir()
    named.chmod(0o777)
    monkeypatch.setenv(cache.VARIABLE, str(named))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    found = cache.place.__wrapped__("entry")
    assert found is not None
    assert found.path == tmp_path / "caches" / "lie-constraints" / cache.digest()
    assert f"chmod go-w {named}" in caplog.text


def test_the_named_folder_itself_may_be_a_link(tmp_path: Path, warm: Path) -> None:
    (tmp_path / "link").symlink_to(warm)
    assert run(tmp_path, tmp_path / "link") == (["10.0", "1"], "")


def test_a_pipe_in_the_place_of_a_file_is_no_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with opened(TrustedPlace(tmp_path, ())) as at, pytest.raises(UntrustedError, match="is no file"):
        read(at, "pipe")


def test_what_is_read_is_what_was_written_or_nothing(tmp_path: Path) -> None:
    with opened(TrustedPlace(tmp_path, ("a", "b")), make=True) as at:
        write(at, "file", b"code")
        assert read(at, "file") == b"code"
        write(at, "file", b"other code")
        assert read(at, "file") == b"other code"
        (tmp_path / "a" / "b" / "file").write_bytes(b"short")
        with pytest.raises(DamagedError, match="file is damaged"):
            read(at, "file")
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["file"]


@needs_root
def test_a_warm_cache_that_is_read_only_is_used(for_all: Path) -> None:
    """Root made it, as in an image of a container; somebody who cannot write there reads it."""
    named = for_all / "named"
    assert run(for_all, named) == (["10.0", "0"], "")
    kernel = the_kernel(named)
    (kernel.parent / (kernel.name.partition(".")[0] + cache.READY)).touch()
    assert run(for_all, named, AS_STRANGER) == (["10.0", "1"], "")
