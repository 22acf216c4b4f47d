"""Files that somebody else wrote: no reader hangs, takes the memory, or ends otherwise than in a `FileError`.

`docs/untrusted.md` is the promise that these tests hold.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import time
import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from broken_structures import broken_structure, fault
from each_choice import a_few

from constraints import Problem, Robot
from constraints.errors import ConstraintError, FileError
from constraints.models import load
from constraints.models.files.sidecar import LARGEST_SIDECAR
from constraints.robot.files.reading import LARGEST_FILE
from constraints.robot.files.urdf_graph import MOST_FREEDOMS, MOST_LEVELS, MOST_LINKS

LINK = "<robot name='r'><link name='a'/></robot>"
LINKS = "<link name='l{0}'/>"
ATTRIBUTES, GLUED = "a{0}='1' ", "a{0}='1'"
TIMES = 2.5
"""How much longer a file of twice the size may take."""
SLACK = 0.05
"""Seconds below which a measured time says nothing."""


@contextmanager
def at_most(seconds: float) -> Generator[None]:
    """Raise where something hangs, also in a regular expression."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"it takes longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    with at_most(120.0):
        yield


Reader = Callable[[str, Path], Any]


def model(text: str, _: Path) -> Any:
    return load(text)


def srdf(text: str, _: Path) -> Any:
    return Robot.from_urdf(star(3, "continuous"), f"<robot name='r'>{text}</robot>")


def sidecar(text: str, folder: Path) -> Any:
    (folder / "r.urdf").write_text(LINK)
    (folder / "r.yaml").write_text(text)
    return load(folder / "r.urdf")


def problem(text: str, folder: Path) -> Any:
    (folder / "p.json").write_text(text)
    return Problem.load(folder / "p.json")


def repeated(text: str, n: int) -> str:
    return "".join(text.format(i, i + 1) for i in range(n))


def star(n: int, kind: str = "fixed", more: str = "") -> str:
    joint = f"<joint name='j{{0}}' type='{kind}'><parent link='l0'/><child link='l{{1}}'/>{more}</joint>"
    return f"<robot name='r'>{repeated(LINKS, n + 1)}{repeated(joint, n)}</robot>"


def chain(n: int) -> str:
    joint = "<joint name='j{0}' type='fixed'><parent link='l{0}'/><child link='l{1}'/></joint>"
    return f"<robot name='r'>{repeated(LINKS, n + 1)}{repeated(joint, n)}</robot>"


def sdf(content: str) -> str:
    return f"<sdf version='1.7'><model name='m'><link name='l'/>{content}</model></sdf>"


CASES: dict[str, tuple[Reader, int, Callable[[int], str]]] = {
    "blanks before the root": (model, 100_000, lambda n: " " * n + LINK),
    "comments before the root": (model, 10_000, lambda n: "<!-- c -->\n  " * n + LINK),
    "comments before nothing": (model, 10_000, lambda n: "<!-- c -->\n  " * n + "<robot"),
    "comments that are not closed": (model, 20_000, lambda n: "<robot>" + "<!--" * n),
    "a late declaration": (model, 100_000, lambda n: "\n" * n + "<?xml version='1.0'?>" + LINK),
    "attributes": (model, 20_000, lambda n: f"<robot {repeated(ATTRIBUTES, n)}/>"),
    "glued attributes": (model, 20_000, lambda n: f"<robot {repeated(GLUED, n)}/>"),
    "links of one name": (model, 4_000, lambda n: "<robot name='r'>" + "<link name='l'/>" * (n // 2) + "</robot>"),
    "links": (model, 8_000, lambda n: f"<robot name='r'>{repeated(LINKS, n)}</robot>"),
    "fixed links": (model, 6_000, star),
    "fixed links in a chain": (model, 500, chain),
    "unknown parents": (model, 400, lambda n: star(n).replace("parent link='l0'", "parent link='k'")),
    "unknown mimics": (model, 300, lambda n: star(n, "continuous", "<mimic joint='{0}x'/>")),
    "links of SDF": (model, 4_000, lambda n: sdf(repeated(LINKS, n))),
    "relative poses of SDF": (model, 500, lambda n: sdf(_poses(n))),
    "attached frames of SDF": (model, 500, lambda n: sdf(repeated("<frame name='f{1}' attached_to='f{0}'/>", n))),
    "unknown words of SDF": (model, 5_000, lambda n: sdf(repeated("<jointy{0}/>", n))),
    "unknown joints of an SRDF": (srdf, 5_000, lambda n: f"<group_state name='a'>{_values(n)}</group_state>"),
    "unknown links of an SRDF": (srdf, 5_000, lambda n: repeated("<disable_collisions link1='l0' link2='k{0}'/>", n)),
    "blank lines of YAML": (sidecar, 50_000, lambda n: "\n" * n),
    "keys of YAML": (sidecar, 1_000, lambda n: "closed_loop: []\n" + repeated("k{0}: 1\n", n)),
    "a key of YAML twice": (sidecar, 1_000, lambda n: "closed_loop: []\n" + repeated("k{0}: 1\n", n) + "k0: 1"),
    "pairs of YAML": (sidecar, 500, lambda n: f"closed_loop: [{'[a, b],' * n}]\ntype: [{'6d,' * n}]"),
    "unknown motors of YAML": (sidecar, 500, lambda n: f"closed_loop: []\nname_mot: [{repeated('m{0},', n)}]"),
    "a key of JSON twice": (problem, 20_000, lambda n: "{" + repeated('"k{0}": 1, ', n) + f'"k{n - 1}": 1}}'),
    "comments in JSON": (problem, 20_000, lambda n: "<!--" * n),
    "declarations in JSON": (problem, 20_000, lambda n: "<?a>" * n),
}


def _poses(n: int) -> str:
    frame = "<frame name='f{0}'><pose relative_to='f{1}'>0 0 1 0 0 0</pose></frame>"
    return repeated(frame, n) + f"<frame name='f{n}'/>"


def _values(n: int) -> str:
    return repeated("<joint name='k{0}' value='0'/>", n)


def seconds(read: Reader, text: str, folder: Path) -> float:
    """Processor time of one reading, whatever comes of it, without the garbage of others."""
    gc.disable()
    began = time.thread_time()
    try:
        read(text, folder)
    except ConstraintError:
        pass
    finally:
        gc.enable()
    return time.thread_time() - began


@pytest.mark.parametrize("name", a_few(CASES, 9))
def test_a_file_of_twice_the_size_takes_at_most_two_and_a_half_times(name: str, tmp_path: Path) -> None:
    """Honest 25: the least processor time of several tries, so that a busy machine does not matter."""
    read, n, make = CASES[name]
    small, large = make(n), make(2 * n)
    few = many = float("inf")
    for _ in range(6):
        few, many = min(few, seconds(read, small, tmp_path)), min(many, seconds(read, large, tmp_path))
        if many <= TIMES * few + SLACK:
            return
    pytest.fail(f"{few:.3f} s, and {many:.3f} s for twice the size")


NONSENSE: dict[str, tuple[Reader, str]] = {
    "blanks": (model, " "),
    "angles": (model, "<"),
    "tags": (model, "<a>"),
    "comments": (model, "<!-- "),
    "ampersands": (model, "<a>&"),
    "quotes": (model, "<a b='"),
    "braces": (problem, "{"),
    "brackets": (problem, "["),
    "digits": (problem, "1"),
    "backslashes": (problem, '"\\'),
    "angles as JSON": (problem, "<!--"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_a_megabyte_of_nonsense_takes_a_second(name: str, tmp_path: Path) -> None:
    """Honest 25: as XML or JSON; the least of three tries."""
    read, word = NONSENSE[name]
    text = (LINK[:7] if read is model else "") + word * (2**20 // len(word))
    assert any(seconds(read, text, tmp_path) < 1.0 for _ in range(3))
    with pytest.raises(FileError):
        read(text, tmp_path)


def test_limits_are_named_where_they_stop_a_file(tmp_path: Path) -> None:
    """Honest 25: links, joints behind each other, attributes; 4,000 joints in a chain ended the process."""
    with pytest.raises(FileError, match=f"has {MOST_LINKS + 1} links, expected at most {MOST_LINKS}"):
        load(star(MOST_LINKS))
    assert len(load(chain(MOST_LEVELS)).robot.frame_names) > MOST_LEVELS
    last = f"'j{MOST_LEVELS}' is the {MOST_LEVELS + 1}th of a chain, expected at most {MOST_LEVELS}"
    for read in (load, Robot.from_urdf):
        with pytest.raises(FileError, match=last):
            read(chain(MOST_LEVELS + 1))
    with pytest.raises(
        FileError, match=f"{6 * (MOST_FREEDOMS // 6 + 1)} degrees of freedom, expected at most {MOST_FREEDOMS}"
    ):
        load(star(MOST_FREEDOMS // 6 + 1, "floating"))
    with pytest.raises(FileError, match=f"expected at most {MOST_FREEDOMS}"):
        load(sdf(repeated("<link name='l{0}'/>", 400)))
    with pytest.raises(FileError, match=f"has {MOST_LINKS + 1} links"):
        load(sdf(repeated("<frame name='f{0}'/>", MOST_LINKS)))
    with pytest.raises(FileError, match="<robot> has more than 1000 attributes"):
        load(f"<robot {repeated(ATTRIBUTES, 1001)}/>")
    (tmp_path / "large.urdf").write_bytes(b" " * (LARGEST_FILE + 1))
    with pytest.raises(FileError, match=f"is larger than {LARGEST_FILE} bytes"):
        load(tmp_path / "large.urdf")


def test_a_sidecar_has_a_limit_and_no_aliases(tmp_path: Path) -> None:
    """Honest 25: above 1 MB it is refused; an alias of a list would make it grow, and one of a word is fine."""
    with pytest.raises(FileError, match=f"larger than {LARGEST_SIDECAR} bytes"):
        sidecar("closed_loop: []\n" + "# x\n" * (LARGEST_SIDECAR // 4), tmp_path)
    bomb = "a0: &a0 [x, x]\n" + repeated("a{1}: &a{1} [*a{0}, *a{0}]\n", 60) + "closed_loop: *a60\ntype: []\n"
    with pytest.raises(FileError, match="used again by an alias"):
        sidecar(bomb, tmp_path)
    with pytest.raises(FileError, match="a word of more than 1000 characters"):
        sidecar("closed_loop: []\nname_mot: [" + "1:" * 5000 + "1]", tmp_path)
    with pytest.raises(FileError, match="no frame is named 'b'"):
        sidecar("closed_loop: [[a, b], [a, c]]\ntype: [&t 6d, *t]", tmp_path)


def test_a_sidecar_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Honest 25: it was read up to four times, and parsed twice."""
    yaml = pytest.importorskip("yaml")
    parsed: list[object] = []
    original = yaml.SafeLoader.__init__

    def counted(self: Any, stream: Any) -> None:
        parsed.append(stream)
        original(self, stream)

    monkeypatch.setattr(yaml.SafeLoader, "__init__", counted)
    sidecar("closed_loop: []\ntype: []\n", tmp_path)
    assert len(parsed) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_that_nobody_writes_to_does_not_hang(tmp_path: Path) -> None:
    """Honest 25: of each kind of file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "r.urdf").write_text(LINK)
    with at_most(10.0):
        for read in (load, Problem.load, Robot.from_urdf, lambda path: load(tmp_path / "r.urdf", loops=path)):
            with pytest.raises(FileError, match=r"is a pipe or a device, but a file was|no such file"):
                read(pipe)
        with pytest.raises(FileError, match="a device"):
            Problem.load("/dev/zero")


def test_archives_are_no_meshes(tmp_path: Path) -> None:
    """Honest 25: a zip of 1 MB took 3.3 GB."""
    pytest.importorskip("trimesh")
    from constraints.models.structure.visual_shapes import Mesh
    from constraints.pictures.browser.meshes import LARGEST_MESH, Meshes

    for name in ("bomb.zip", "bomb.3mf"):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            with archive.open("a.stl", "w", force_zip64=True) as entry:
                for _ in range(LARGEST_MESH // 2**20 + 1):
                    entry.write(b"\0" * 2**20)
    with pytest.raises(FileError, match="is an archive"):
        Meshes()._loaded(Mesh(str(tmp_path / "bomb.zip"), (1.0, 1.0, 1.0)), False)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(FileError, match=f"may have at most {LARGEST_MESH}"):
        Meshes()._loaded(Mesh(str(tmp_path / "bomb.3mf"), (1.0, 1.0, 1.0)), False)  # pyright: ignore[reportPrivateUsage]


def test_a_problem_is_not_written_as_yaml(tmp_path: Path) -> None:
    """Honest 12: `problem.save("x.yaml")` wrote JSON."""
    from constraints import Options

    with pytest.raises(FileError, match=r"written as JSON, expected a name that ends in \.json"):
        Options().save(tmp_path / "x.yaml")
    Options().save(tmp_path / "x.json")
    assert not (tmp_path / "x.yaml").exists()
    assert json.loads((tmp_path / "x.json").read_text())


def test_long_names_are_not_compared() -> None:
    """Honest 25: to find the nearest of two names takes a time that goes with the product of their lengths."""
    name = "a" * 100_000
    with at_most(10.0), pytest.raises(FileError, match="characters") as raised:
        load(f"<robot name='r'><link name='b'/><link name='{name}'/>"
             f"<joint name='j' type='fixed'><parent link='{name[1:]}b'/><child link='b'/></joint></robot>")  # fmt: skip
    assert len(str(raised.value)) < 2000


def test_broken_structures_do_not_change_the_next_ones() -> None:
    """The same seed and number give the same file, whatever was broken before."""
    once, again = ([broken_structure(11, number).content for number in range(3, 1500, 5)] for _ in range(2))
    assert once == again


@pytest.mark.parametrize("first", a_few(range(0, 100, 25), 1))
def test_broken_structures_end_in_a_result_or_a_typed_error(first: int) -> None:
    """Honest 25: URDF, SDF, SRDF, sidecars and problems; many more by `benchmarks/soundness.py --fuzz`."""
    for number in range(first, first + 25):
        broken = broken_structure(11, number)
        assert fault(broken) is None, (number, broken.format, broken.done)
