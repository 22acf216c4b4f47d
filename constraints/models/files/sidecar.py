"""The loop sidecar of a URDF: a YAML file that says which frames must coincide, and which joints are of another type.

The form is that of example-parallel-robots:

    closed_loop: [[frame_a, frame_b], ...]      pairs of frames
    type: [6d, 3d, ...]                         of each pair: poses, or origins alone, coincide
    name_mot: [joint, ...]                      motors
    joint_name: [joint, ...]                    joints to replace
    joint_type: [SPHERICAL, UJOINT_XY, FIXED]   by what; words in either case
"""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from liegroups.arguments import expect

from ...errors import FileError, UnknownNameError, WrongObjectError
from ...exports import from_extra
from ...robot.files.reading import read_bytes
from ...robot.files.urdf_graph import SEARCHED, listed
from ...words import counted
from ..structure.mechanism import Unread

OTHERS = ("name_mot", "joint_name", "joint_type")
KEYS = ("closed_loop", "type", *OTHERS)
LARGEST_SIDECAR = 2**20
"""Bytes that a sidecar may have."""
_LONGEST_WORD = 1000
_MOST_KEYS = 1000
"""Keys of another YAML file that are compared with those of a sidecar."""
_KEY = re.compile(r"^[ \t]*[{'\"]?(\w+)['\"]?[ \t]*:", re.MULTILINE)


@dataclass(frozen=True)
class Sidecar:
    """What a sidecar says, in its own words.

    Attributes:
        path: how messages call it.
        loops: (frame a, frame b, type as written) of each pair.
        motors: names.
        replaced: (joint, type as written).
        unread: what is no part of the form.
    """

    path: str = ""
    loops: tuple[tuple[str, str, str], ...] = ()
    motors: tuple[str, ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    unread: tuple[Unread, ...] = ()


def sidecar_beside(path: Path) -> Sidecar | None:
    """The file of the same stem that ends in .yaml or .yml and has the key `closed_loop`, if there is one.

    One that has a key much like it, or only other ones, is no sidecar: `unread` says so. Each file is read once.

    Args:
        path: of the URDF.

    Raises:
        FileError, MissingExtraError: as `read_sidecar`.
    """
    texts: dict[str, str] = {}
    for ending in (".yaml", ".yml"):
        beside = path.with_suffix(ending)
        if beside.is_file():
            with open(beside, encoding="utf-8", errors="replace") as file:
                text = file.read(LARGEST_SIDECAR + 1)
            if KEYS[0] in text:
                return _sidecar(os.fspath(beside), read_bytes(beside, LARGEST_SIDECAR))
            texts[os.fspath(beside)] = text
    for name, text in texts.items():
        keys = [key for key in dict.fromkeys(_KEY.findall(text)) if len(key) <= 2 * len(KEYS[0])][:_MOST_KEYS]
        near = difflib.get_close_matches(KEYS[0], keys, 1, 0.8) or [key for key in keys if key in OTHERS]
        if near:
            reason = f"it is not a sidecar: it has the key '{near[0]}', but no key '{KEYS[0]}'"
            return Sidecar(unread=(Unread(f"file {name} next to the URDF", reason, is_mistake=True),))
    return None


def read_sidecar(source: str | os.PathLike[str]) -> Sidecar:
    """Read a sidecar; its names are not looked up.

    Args:
        source: path of the YAML file.

    Raises:
        FileError: no such file, no YAML (with line and column), not of the form, or above a limit: its bytes, the
            length of a word, a list or a mapping that is used twice (an alias).
        MissingExtraError: pyyaml is not installed.
        WrongObjectError: the source is no path.
    """
    expect(source, (str, os.PathLike), "loops", "the path of a YAML file")
    path = os.fspath(source)
    if "\n" in path or ("closed_loop" in path and ":" in path):
        raise WrongObjectError("loops", "the path of a YAML file", "its text")
    if Path(path).is_dir():
        raise FileError(path, "is a folder, but the YAML file of the loops was expected")
    return _sidecar(path, read_bytes(path, LARGEST_SIDECAR))


def _sidecar(path: str, raw: bytes) -> Sidecar:
    """What a sidecar says, of its bytes."""
    content = _content(path, raw)
    if content is None:
        return Sidecar(path, unread=(Unread(f"sidecar {path}", "it is empty: no loop is closed", is_mistake=True),))
    if not isinstance(content, dict):
        raise FileError(path, f"is not a loop sidecar: it must be a mapping with the keys {', '.join(KEYS)}")
    entries = cast("dict[Any, Any]", content)
    if entries and not any(key in entries for key in KEYS):
        raise FileError(path, f"is not a loop sidecar: it must have some of the keys {', '.join(KEYS)}")
    others = [key for key in entries if key not in KEYS]
    wrong = {key: str(UnknownNameError("key", key, KEYS, search=i < SEARCHED)) for i, key in enumerate(others)}
    empty = [key for key in KEYS if key in entries and entries[key] is None]
    wrong |= dict.fromkeys(empty, "its value is empty: expected a list, [] if empty")
    unread = [Unread(f"key '{key}' of {path}", reason, is_mistake=True) for key, reason in wrong.items()]
    pairs = [_pair(pair, i, path) for i, pair in enumerate(_list(entries, "closed_loop", path))]
    types = _words(entries, "type", path)
    also = f"; {listed(unread)}" if unread else ""
    if len(types) != len(pairs):
        counts = f"closed_loop has {counted(len(pairs), 'pair')}, type has {counted(len(types), 'entry')}"
        raise FileError(path, f"{counts}: there must be one for each pair{also}")
    joints, kinds = _words(entries, "joint_name", path), _words(entries, "joint_type", path)
    if len(joints) != len(kinds):
        counts = f"joint_name has {counted(len(joints), 'entry')}, joint_type has {len(kinds)}"
        raise FileError(path, f"{counts}: there must be one for each joint{also}")
    return Sidecar(
        path,
        tuple((a, b, kind) for (a, b), kind in zip(pairs, types, strict=True)),
        tuple(_words(entries, "name_mot", path)),
        tuple(zip(joints, kinds, strict=True)),
        tuple(unread),
    )


def _content(path: str, raw: bytes) -> object:
    yaml = from_extra("yaml", "loops", "pyyaml")
    try:
        text = raw.decode("utf-8")
    except ValueError as error:
        raise FileError(path, f"cannot be read: {error}") from None
    try:
        loader = yaml.SafeLoader(text)
        top = loader.get_single_node()
        if top is None:
            return None
        _check_nodes(top, path, yaml)
        return loader.construct_document(top)
    except FileError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" line {mark.line + 1}, column {mark.column + 1}:"
        raise FileError(path, f"is not valid YAML:{where} {getattr(error, 'problem', None) or error}") from None


def _check_nodes(top: Any, path: str, yaml: Any) -> None:
    """Refuse what would be lost or could grow: a key of the top that is there twice, aliases of lists, long words."""
    seen: set[str] = set()
    for key, _ in top.value if isinstance(top, yaml.MappingNode) else ():
        if isinstance(key.value, str) and key.value in seen:
            raise FileError(path, f"has the key '{key.value:.60}' twice, but only one of them would be used")
        seen.add(str(key.value)[:_LONGEST_WORD])
    met: set[int] = set()
    left = [top]
    while left:
        node = left.pop()
        line = f"line {node.start_mark.line + 1}"
        if isinstance(node, yaml.ScalarNode):
            if len(node.value) > _LONGEST_WORD:
                raise FileError(path, f"{line}: has a word of more than {_LONGEST_WORD} characters, expected a name")
            continue
        if id(node) in met:
            raise FileError(path, f"{line}: this list or mapping is used again by an alias (*name): write it out there")
        met.add(id(node))
        pairs = isinstance(node, yaml.MappingNode)
        left += [part for pair in node.value for part in pair] if pairs else node.value


def _list(entries: dict[Any, Any], key: str, path: str) -> list[object]:
    value = entries.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        form = {"closed_loop": "[[frame_a, frame_b]]", "type": "[6d], an entry for each pair"}.get(key, "[name]")
        raise FileError(path, f"'{key}' must be a list, as {form}; got {value!r:.60}")
    return cast("list[object]", value)


def _words(entries: dict[Any, Any], key: str, path: str) -> list[str]:
    words: list[str] = []
    for i, word in enumerate(_list(entries, key, path)):
        if not isinstance(word, str):
            what = "6d or 3d" if key == "type" else "a name"
            raise FileError(path, f"entry {i} of '{key}' must be {what}, got {word!r:.60}{_quotes(key, word)}")
        words.append(word)
    return words


def _quotes(key: str, word: object) -> str:
    """What to do about a name that YAML takes for something else."""
    is_value = isinstance(word, bool | int | float) and key != "type"
    return ": YAML reads some words and all numbers as values, put the name in quotes" if is_value else ""


def _pair(pair: object, i: int, path: str) -> tuple[str, str]:
    names = cast("list[object]", pair) if isinstance(pair, list) else []
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        one = f": 'closed_loop' is a list of pairs, as [[{pair}, another_frame]]" if isinstance(pair, str) else ""
        raise FileError(path, f"entry {i} of 'closed_loop' must be a pair of frame names, got {pair!r:.60}{one}")
    a, b = cast("list[str]", names)
    return a, b
