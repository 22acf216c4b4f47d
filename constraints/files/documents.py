"""JSON documents with a format and a schema version: written whole or not at all, read with limits."""

from __future__ import annotations

import json
import math
import os
from typing import Any, cast

from ..errors import FileError, NotSavableError
from ..robot.files.reading import LARGEST_FILE, read_bytes
from .json_values import JsonValue
from .other_formats import seems_to_be
from .writing import as_path, write_file

VERSION = 1
"""Schema version that is written; it is raised when a reader of the one before could not read the file."""
FORMATS = ("problem", "right-hand side", "options", "report", "scene", "certificate")
WRITTEN_BY = {
    "problem": "a problem (`problem.save`)",
    "right-hand side": "right-hand sides (`rhs.save`)",
    "options": "options (`options.save`)",
    "report": "a report (`projection.report`)",
    "scene": "a scene (the page 'Scene files')",
    "certificate": "a certificate (`save_certificate`)",
}
"""What a file of each kind holds, and where it comes from."""
_FAMILY = "lie-constraints "
_WIDTH = 110


def write_document(path: str | os.PathLike[str], kind: str, content: dict[str, Any]) -> None:
    """Write a document, as `write_file` does: whole or not at all.

    Args:
        path: the file.
        kind: one of `FORMATS`.
        content: its entries beside format and version: lists, texts, numbers, truth values, None.

    Raises:
        FileError: the file cannot be written; its name is that of a YAML file.
        NotSavableError: it would be larger than what is read.
    """
    if os.path.splitext(as_path(path))[1].lower() in (".yaml", ".yml"):
        raise FileError(os.fspath(path), f"a {kind} is written as JSON, expected a name that ends in .json")
    text = text_of({"format": _FAMILY + kind, "version": VERSION, **content}) + "\n"
    if len(text) > LARGEST_FILE:
        raise NotSavableError(f"the {kind}", f"it needs {len(text)} bytes, but files may have at most {LARGEST_FILE}")
    write_file(path, text.encode("utf-8"))


def read_document(path: str | os.PathLike[str], *kinds: str) -> tuple[str, JsonValue]:
    """Read a document of one of some kinds.

    Args:
        path: the file.
        kinds: those of `FORMATS` that are wanted.

    Returns:
        its kind, and its entries beside format and version.

    Raises:
        FileError: the file is not there, too large, no JSON.
        FileContentError: it is of another kind, or of a later version.
    """
    name = os.fspath(as_path(path))
    raw = read_bytes(name, LARGEST_FILE)
    data = JsonValue(name, "$", _parsed(name, raw, kinds))
    kind = _kind(data)
    if kind not in kinds:
        data.entry("format").refuse(f"is of kind '{kind}', expected {' or '.join(repr(each) for each in kinds)}")
    version = data.entry("version").integer(0, 2**31)
    if version > VERSION:
        later = f"schema {version} is from a later version of lie-constraints, this version reads up to {VERSION}"
        data.entry("version").refuse(f"{later}: upgrade it")
    if version < 1:
        data.entry("version").expect(f"an integer from 1 to {VERSION}")
    return kind, data.without("format", "version")


def _kind(data: JsonValue) -> str:
    if not data.holds(dict) or not data.has("format"):
        data.refuse(f'is not a file of lie-constraints: expected an object with "format": "{_FAMILY}problem"')
    written = data.entry("format").text()
    if written.removeprefix(_FAMILY) not in FORMATS or not written.startswith(_FAMILY):
        data.entry("format").expect(f"one of {', '.join(_FAMILY + kind for kind in FORMATS)}")
    return written.removeprefix(_FAMILY)


def _parsed(name: str, raw: bytes, kinds: tuple[str, ...]) -> Any:
    try:
        text = raw.decode("utf-8")
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_entries)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        seems = seems_to_be(raw, name)
        if seems:
            wanted = " or ".join(WRITTEN_BY[kind] for kind in kinds)
            raise FileError(name, f"seems to be {seems}; expected JSON with {wanted}") from error
        if isinstance(error, UnicodeDecodeError):
            raise FileError(name, f"is not UTF-8 text: byte {error.start} is wrong; expected JSON") from error
        reason = f"is not complete, valid JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        raise FileError(name, reason) from error
    except (ValueError, RecursionError) as error:
        reason = "is nested too deep" if isinstance(error, RecursionError) else f"is not valid JSON here: {error}"
        raise FileError(name, reason) from error


def _refuse_constant(word: str) -> Any:
    raise ValueError(f'the number {word} is not JSON, expected the text "inf", "-inf" or "nan"')


def _entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"an object has two entries named {twice!r}, only one is allowed")
    return found


def text_of(value: Any, indent: str = "") -> str:
    """JSON text: numbers with all their bits, what is short on one line. Infinities and NaN are texts."""
    inner = indent + " "
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        parts = [f"{json.dumps(key)}: {text_of(entry, inner)}" for key, entry in entries.items()]
        opening, closing = "{", "}"
    elif isinstance(value, list | tuple):
        parts = [text_of(entry, inner) for entry in cast("list[Any]", value)]
        opening, closing = "[", "]"
    elif isinstance(value, float) and not math.isfinite(value):
        return '"nan"' if math.isnan(value) else '"inf"' if value > 0.0 else '"-inf"'
    else:
        return json.dumps(value)
    flat = not any(part.endswith(("]", "}")) for part in parts) or sum(map(len, parts)) <= _WIDTH
    if flat and not any("\n" in part for part in parts):
        return f"{opening}{', '.join(parts)}{closing}"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{closing}"
