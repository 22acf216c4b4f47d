"""Writing files: links, devices, permissions, full and read-only file systems; every writer of the library alike."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from constraints import Implicit, Options, Position, Problem, Projector
from constraints.errors import FileError
from constraints.files.writing import write_file
from constraints.loops import assemble_position
from constraints.models import mechanisms, sample_arm
from constraints.pictures.figures import new_figure, save_figure

ROOT = Path(__file__).resolve().parent.parent.parent
posix = pytest.mark.skipif(os.name != "posix", reason="links, devices and permissions of POSIX")


def arm_problem() -> Problem:
    robot = sample_arm()
    return Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.4, 0.1, 0.5], name="hand")])


def command(*arguments: str) -> None:
    """A command of the library, in this process."""
    from constraints.__main__ import main

    assert main(list(arguments)) == 0


def problem_file(folder: Path) -> str:
    arm_problem().save(folder / "given.json")
    return str(folder / "given.json")


def mechanism_file(folder: Path) -> str:
    (folder / "bar.sdf").write_text(
        "<sdf version='1.9'><model name='bar'><link name='a'/><joint name='j' type='revolute'><parent>world</parent>"
        "<child>a</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"
    )
    return str(folder / "bar.sdf")


def trace() -> Any:
    problem = arm_problem()
    return Projector(problem, Options(trace=True)).project(sample_arm().neutral)


def assembly() -> Any:
    four = mechanisms.four_bar()
    return assemble_position(four.constraint_set(), four.posture("closed") + 0.05)


# Each writes to a path; `folder` is where it may put what it needs first.
WRITERS: dict[str, Callable[[str, Path], object]] = {
    "problem.json": lambda path, folder: arm_problem().save(path),
    "rhs.json": lambda path, folder: arm_problem().rhs.save(path),
    "options.json": lambda path, folder: Options(seed=3).save(path),
    "report.json": lambda path, folder: trace().report(path),
    "trace.png": lambda path, folder: trace().plot(path),
    "dependencies.svg": lambda path, folder: arm_problem().plot_dependencies(path),
    "strip.png": lambda path, folder: assembly().plot_iterates(path),
    "way.gif": lambda path, folder: assembly().plot_iterates(path),
    "batch.npz": lambda path, folder: command("project", problem_file(folder), "--starts", "3", "--save", path),
    "batch.png": lambda path, folder: command("project", problem_file(folder), "--starts", "3", "--plot", path),
    "closed.npz": lambda path, folder: command("assemble", mechanism_file(folder), "--save", path),
    "closed.png": lambda path, folder: command("assemble", mechanism_file(folder), "--plot", path),
    "demo.png": lambda path, folder: command("demo", "--starts", "2", "--output", path),
}
FIRST = {name.rpartition(".")[2]: name for name in reversed(WRITERS)}.values()
"""One writer of each kind of file."""
PICTURES = ("png", "svg", "gif")
BEGIN = {"json": b"{", "png": b"\x89PNG", "svg": b"<?xml", "gif": b"GIF8", "npz": b"PK"}


@posix
@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_writes_through_a_link(name: str, tmp_path: Path) -> None:
    """Mend 8: a symbolic link stays a link, what it points to is replaced, in its own folder, with its permissions."""
    ending = name.rpartition(".")[2]
    if ending in PICTURES:
        pytest.importorskip("matplotlib")
    (tmp_path / "kept").mkdir()
    target, link, work = tmp_path / "kept" / "first", tmp_path / name, tmp_path / "work"
    work.mkdir()
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(Path("kept") / "first")
    WRITERS[name](str(link), work)
    assert link.is_symlink()
    assert target.read_bytes().startswith(BEGIN[ending])
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [p.name for p in (tmp_path / "kept").iterdir()] == ["first"]


@posix
@pytest.mark.parametrize("name", [n if n in FIRST else pytest.param(n, marks=pytest.mark.long) for n in WRITERS])
def test_every_writer_writes_to_what_is_no_regular_file(name: str, tmp_path: Path) -> None:
    """Mend 8: a named pipe gets the whole content and stays a pipe, as a device would."""
    ending = name.rpartition(".")[2]
    if ending in PICTURES:
        pytest.importorskip("matplotlib")
    pipe, got = tmp_path / name, list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    (tmp_path / "work").mkdir()
    WRITERS[name](str(pipe), tmp_path / "work")
    reader.join(10.0)
    assert got
    assert got[0].startswith(BEGIN[ending])
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_devices_stay_devices() -> None:
    """Mend 8: /dev/null takes everything, pictures too, and is no file afterwards; /dev/full says that it is full."""
    pytest.importorskip("matplotlib")
    arm_problem().save("/dev/null")
    save_figure(new_figure(1.0, 1.0), "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert not Path("/dev/null.png").exists()
    if Path("/dev/full").exists():
        with pytest.raises(FileError, match=r"^/dev/full: cannot be written: No space left"):
            arm_problem().save("/dev/full")


@posix
def test_the_standard_output_keeps_what_was_printed(tmp_path: Path) -> None:
    """Mend 8: /dev/stdout that goes to a file gets the content after what was printed, and what is printed later."""
    program = "from constraints.files.writing import write_file; print('one'); write_file('/dev/stdout', b'two\\n')"
    out = tmp_path / "out.txt"
    with open(out, "wb") as file:
        subprocess.run([sys.executable, "-c", program + "; print('three')"], stdout=file, check=True, env=environment())
    assert out.read_text() == "one\ntwo\nthree\n"


@posix
def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    """Mend 8: a link to a file that is not there yet makes that file; links in a circle are an error."""
    (tmp_path / "latest").symlink_to(tmp_path / "new.json")
    write_file(tmp_path / "latest", b"new")
    assert (tmp_path / "latest").is_symlink()
    assert (tmp_path / "new.json").read_bytes() == b"new"
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(FileError, match=r"a: cannot be written: Too many levels"):
        write_file(tmp_path / "a", b"new")


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mend 9: cleaning up may fail too: the error is the first one, and names the file that was asked for."""
    path = tmp_path / "problem.json"
    path.write_bytes(b"old")

    def fails(*given: Any, **named: Any) -> Any:
        raise OSError(30, "Read-only file system", str(given[0]))

    monkeypatch.setattr(os, "replace", fails)
    monkeypatch.setattr(Path, "unlink", fails)
    with pytest.raises(FileError) as caught:
        arm_problem().save(path)
    assert str(caught.value) == f"{path}: cannot be written: Read-only file system"
    assert caught.value.path == str(path)
    assert caught.value.__cause__ is None
    assert ".part" not in str(caught.value)
    assert path.read_bytes() == b"old"


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


SAVE = """
import sys
from constraints.errors import FileError
from constraints import Options
try:
    Options().save(sys.argv[1])
except FileError as error:
    print(error)
"""


def saved_on_its_own_file_system(folder: Path, options: str, before: str, after: str) -> list[str]:
    """What is printed when options are saved on a file system that is mounted with some options, in a name space of
    its own; shell commands before and after."""
    shell = f'mount -t tmpfs -o {options} none "$1" || exit 77; cd "$1"; {before}; "$2" -c "$3" "$1/o.json"; {after}'
    arguments = ["unshare", "-rm", "sh", "-c", shell, "sh", str(folder), sys.executable, SAVE]
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, env=environment(), check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip("file systems cannot be mounted here")
    assert done.stderr == ""
    return done.stdout.splitlines()


@posix
def test_a_read_only_file_system(tmp_path: Path) -> None:
    """Mend 9: on a file system that is mounted for reading only: a FileError that names the file asked for."""
    said = saved_on_its_own_file_system(tmp_path, "ro", "true", "true")
    assert said == [f"{tmp_path}/o.json: cannot be written: Read-only file system"]


@posix
def test_a_full_file_system(tmp_path: Path) -> None:
    """Mend 9: on a file system without space: a FileError, the old file as it was, and nothing beside it."""
    before = "echo old > o.json; cat /dev/zero > large 2>/dev/null"
    said = saved_on_its_own_file_system(tmp_path, "size=16k", before, "cat o.json; ls -A")
    assert said == [f"{tmp_path}/o.json: cannot be written: No space left on device", "old", "large", "o.json"]


@contextmanager
def nobody() -> Generator[None]:
    """As a user without rights, where the tests are run by root."""
    is_root = os.getuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@posix
def test_no_permission() -> None:
    """Mend 9: a folder one may not write to, a file one may not write to: FileError, by the name asked for."""
    with TemporaryDirectory() as folder:
        shut, file = Path(folder) / "shut", Path(folder) / "open" / "options.json"
        shut.mkdir()
        file.parent.mkdir()
        file.write_text("old")
        file.chmod(0o444)
        for place, mode in ((shut, 0o555), (file.parent, 0o777), (Path(folder), 0o755)):
            place.chmod(mode)
        for where, said in ((shut / "options.json", "Permission denied"), (file, "the file is read-only")):
            with nobody(), pytest.raises(FileError) as caught:
                Options().save(where)
            assert str(caught.value) == f"{where}: cannot be written: {said}"
        assert file.read_text() == "old"
        assert [p.name for p in file.parent.iterdir()] == ["options.json"]


def test_a_folder_that_is_not_there_or_is_the_file(tmp_path: Path) -> None:
    """Mend 9: the folder is named; a folder is no file."""
    with pytest.raises(FileError, match=f"the folder {tmp_path / 'no'} does not exist"):
        arm_problem().save(tmp_path / "no" / "problem.json")
    with pytest.raises(FileError, match="cannot be written: Is a directory"):
        arm_problem().save(tmp_path)


def test_a_name_as_long_as_the_file_system_takes(tmp_path: Path) -> None:
    """Mend 8: what is written beside the file first has a short name of its own."""
    path = tmp_path / ("x" * 250 + ".json")
    arm_problem().save(path)
    assert json.loads(path.read_text())["format"] == "lie-constraints problem"


def test_arrays_of_a_command_are_whole(tmp_path: Path) -> None:
    """Mend 8: what `project --save` writes is read by numpy, under the name that was given."""
    command("project", problem_file(tmp_path), "--starts", "3", "--save", str(tmp_path / "found"))
    with np.load(tmp_path / "found") as arrays:
        assert arrays["q"].shape == (3, sample_arm().nq)
