"""Reading XML that somebody else wrote: errors with a line number, and no document type (so no entity expansion)."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from xml.parsers import expat

from ..errors import FileError, WrongObjectError
from .packages import find_resource

__all__ = ["numbers", "read_xml"]

_DEEPEST = 300
"""Elements inside each other that a file may have."""


def read_xml(
    source: str | os.PathLike[str], root: str, what: str, packages: Iterable[str | os.PathLike[str]] = ()
) -> tuple[ElementTree.Element, str]:
    """Read an XML file whole.

    Args:
        source: path, `package://` address, or the XML text itself.
        root: name of the outermost element.
        what: what the file is, for messages ("URDF").
        packages: folders in which packages are looked for.

    Returns:
        the outermost element, and how messages call the file.

    Raises:
        FileError: the file is missing, is not valid XML (with line and column), has a document type, or is something
            else.
        WrongObjectError: the source is neither text nor a path.
    """
    if not isinstance(source, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WrongObjectError(what, "a path, a package:// address or XML text", source)
    text = os.fspath(source)
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WrongObjectError(what, "a path, a package:// address or XML text", source)
    if not text.strip():
        raise WrongObjectError(what, "a path, a package:// address or XML text", "an empty text")
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        name, content = f"{what} text", text.lstrip("\ufeff \t\r\n").encode()
    else:
        path = find_resource(text, packages)
        name = str(path)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileError(name, f"cannot be read: {error.strerror or error}") from None
    element = _parse(content, name)
    _check_depth(element, name)
    if element.tag != root:
        other = "; constraints.models.load reads it" if root == "robot" and element.tag in ("mujoco", "sdf") else ""
        raise FileError(name, f"is no {what}: its outermost element is <{element.tag}>, <{root}> was expected{other}")
    return element, name


def _parse(content: bytes, name: str) -> ElementTree.Element:
    """Parse twice: once to refuse document types and to name the line of an error, once to build the tree."""

    def refuse(*_: object) -> None:
        raise FileError(name, f"line {parser.CurrentLineNumber}: a document type (<!DOCTYPE>) is refused")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
        return ElementTree.fromstring(content)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise FileError(name, f"is not valid XML: line {error.lineno}, column {error.offset + 1}: {reason}") from None
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(name, f"is not valid XML: {error}") from None


def _check_depth(root: ElementTree.Element, name: str) -> None:
    """Refuse a file that is nested deeper than any that is meant: readers go down by calling themselves."""
    layer, depth = [root], 0
    while layer:
        depth += 1
        if depth > _DEEPEST:
            raise FileError(name, f"<{layer[0].tag}> is nested more than {_DEEPEST} deep, expected less")
        layer = [child for element in layer for child in element]


def numbers(text: str | None, name: str, what: str) -> list[float]:
    """Finite numbers separated by blanks.

    Raises:
        FileError: one of them is no finite number.
    """
    out: list[float] = []
    for word in (text or "").split():
        try:
            value = float(word)
        except ValueError:
            raise FileError(name, f"{what}: '{word}' is no number") from None
        if not abs(value) < float("inf"):
            raise FileError(name, f"{what}: '{word}' is no finite number")
        out.append(value)
    return out
