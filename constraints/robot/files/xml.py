"""Reading XML that somebody else wrote, also where it is not quite XML: errors with a line number, no entities.

What the parser of pinocchio and MuJoCo reads is read here too: prefixes that are bound to no namespace, a declaration
that is not at the start, bytes that are no UTF-8, small mistakes. Refused are a document type with declarations, for
entities expand, and a second document behind the first, which would be lost.
"""

from __future__ import annotations

import logging
import os
import re
import xml.etree.ElementTree as ElementTree
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from xml.parsers import expat

from liegroups.arguments import as_path

from ...errors import ConstraintError, FileError, WrongObjectError
from ...words import counted
from .packages import find_resource
from .reading import read_bytes, start_of_text, without_comments

_log = logging.getLogger(__package__)
_DEEPEST = 300
"""Elements inside each other that a file may have."""
_ATTRIBUTES = 1000
"""Attributes that one element may have: parsers downstream take a time that goes with their square."""


def read_xml(
    source: str | os.PathLike[str],
    root: str | None,
    what: str,
    packages: Iterable[str | os.PathLike[str]] = (),
    *,
    again: bool = False,
) -> tuple[ElementTree.Element, str]:
    """Read an XML file whole.

    Args:
        source: path, `package://` address, or the XML text itself.
        root: name of the outermost element; None where it may be any.
        what: what the file is, for messages ("URDF").
        packages: folders in which packages are looked for.
        again: the file is read once more: what is remarkable of it is in the log already.

    Returns:
        the outermost element, and how messages call the file.

    Raises:
        FileError: the file is missing, is not valid XML (with line and column), has a document type with declarations,
            or is something else.
        WrongObjectError: the source is neither text nor a path.
    """
    expected = "a path, a package:// address or XML text"
    text = as_path(source, what, expected)
    if not text.strip():
        raise WrongObjectError(what, expected, "an empty text")
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        name, content, encoding = f"{what} text", text.lstrip("\ufeff").encode(), "utf-8"
    else:
        path = find_resource(text, packages)
        name, encoding = str(path), None
        content = read_bytes(path)
    element = _parse(_with_declaration_first(content), name, encoding, logging.DEBUG if again else logging.WARNING)
    _check_shape(element, name)
    if root is not None and element.tag != root:
        other = "; constraints.models.load reads it" if root == "robot" and element.tag in ("mujoco", "sdf") else ""
        raise FileError(name, f"is not {what}: its outermost element is <{element.tag}>, <{root}> was expected{other}")
    return element, name


def _with_declaration_first(content: bytes) -> bytes:
    """The same document with the XML declaration at its start, where XML wants it, and some writers do not put it."""
    content = content.removeprefix(BOM_UTF8)
    begin = start_of_text(content)
    end = content.find(b"?>", begin) + 2
    if not begin or end < 2 or not re.match(rb"<\?xml\s", content[begin : begin + 6]):
        return content
    return content[begin:end] + content[:begin] + content[end:]


def _parse(content: bytes, name: str, encoding: str | None, loud: int) -> ElementTree.Element:
    """The outermost element; where the text is not valid XML, what it is after small mistakes are mended."""
    if encoding is None and not _is_unicode(content):
        _log.log(loud, "%s: is declared as UTF-8 but is not: read as Latin-1", name)
        encoding = "iso-8859-1"
    try:
        return _tree(content, name, encoding)
    except (LookupError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(name, f"is not valid XML: {error}") from None  # an encoding that nobody knows
    except expat.ExpatError as error:
        reason = f"line {error.lineno}, column {error.offset + 1}: {expat.ErrorString(error.code)}"
    try:
        element = _tree(_mended(content), name, encoding)
    except expat.ExpatError:
        raise FileError(name, f"is not valid XML: {reason}") from None
    _log.log(loud, "%s: is not valid XML: %s; read as other parsers do", name, reason)
    return element


def _check_shape(root: ElementTree.Element, name: str) -> None:
    """Refuse a file that is nested deeper than any that is meant: readers go down by calling themselves.

    Likewise an element with more attributes.
    """
    layer: list[ElementTree.Element] = [root]
    depth = 0
    while layer:
        depth += 1
        if depth > _DEEPEST:
            raise FileError(name, f"<{layer[0].tag}> is nested more than {_DEEPEST} levels deep, expected less")
        crowded = next((element for element in layer if len(element.attrib) > _ATTRIBUTES), None)
        if crowded is not None:
            raise FileError(name, f"<{crowded.tag:.40}> has more than {_ATTRIBUTES} attributes, expected less")
        layer = [child for element in layer for child in element]


def _tree(content: bytes, name: str, encoding: str | None) -> ElementTree.Element:
    """The outermost element; prefixes stay in the names as they are written, whether bound to a namespace or not."""
    builder, parser = ElementTree.TreeBuilder(), expat.ParserCreate(encoding)

    def refuse(_name: str, _system: str | None, _public: str | None, declares: bool) -> None:
        if declares:
            reason = "a document type with its own declarations (<!DOCTYPE ... [...]>) is refused"
            raise FileError(name, f"line {parser.CurrentLineNumber}: {reason}")

    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.Parse(content, True)
    return builder.close()


def _mended(content: bytes) -> bytes:
    """The text without three mistakes that the parser of pinocchio and MuJoCo does not mind.

    Two hyphens in a comment, an ampersand that begins no entity, and no blank between two attributes. Lines stay where
    they are.
    """
    content = without_comments(content)
    content = re.sub(rb"&(?!#?\w+;)", b"&amp;", content)
    return re.sub(rb"""(=\s*(?:"[^"<>]*"|'[^'<>]*'))(?=[A-Za-z_])""", rb"\1 ", content)


def _is_unicode(content: bytes) -> bool:
    """Whether a document that is meant to be UTF-8 is; another encoding that it declares is the parser's affair."""
    declared = re.match(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"']*)", content)
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return True
    if declared and declared[1].lower() not in (b"utf-8", b"utf8"):
        return True
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def has_xacro(root: ElementTree.Element) -> bool:
    """Whether a file has elements of xacro, whatever its prefix is called there."""
    prefixes = {"xacro"}
    for element in root.iter():
        prefixes |= {
            key.removeprefix("xmlns:")
            for key, value in element.attrib.items()
            if key[:6] == "xmlns:" and "xacro" in value
        }
    return any(element.tag.split(":")[0] in prefixes for element in root.iter() if ":" in element.tag)


@contextmanager
def in_file(name: str, where: str = "") -> Generator[None]:
    """What is wrong with things made of a file is wrong with the file: a `FileError` says so.

    Args:
        name: how messages call the file.
        where: what of the file it is, before the message.
    """
    try:
        yield
    except FileError:
        raise
    except ConstraintError as error:
        raise FileError(name, f"{where}{error}") from error


def numbers(text: str | None, name: str, what: str, count: int | None = None) -> list[float]:
    """Finite numbers separated by blanks.

    Args:
        text: what the file has.
        name: how messages call the file.
        what: which numbers of it.
        count: how many there must be; None where it may be any number.

    Raises:
        FileError: one of them is no finite number, or there are more or fewer.
    """
    out: list[float] = []
    for word in (text or "").split():
        try:
            value = float(word)
        except ValueError:
            raise FileError(name, f"{what}: '{word}' is not a number") from None
        if not abs(value) < float("inf"):
            raise FileError(name, f"{what}: '{word}' is not a finite number")
        out.append(value)
    if count is not None and len(out) != count:
        raise FileError(name, f"{what} needs {counted(count, 'number')}, got {len(out)}")
    return out
