"""The bytes of a file that somebody else wrote: never more than a limit, and never a pipe that nobody writes to."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from ...errors import FileError

LARGEST_FILE = 64 * 2**20
"""Bytes that a file may have: URDF, SRDF, SDF, MJCF, and JSON of this library."""
_STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""Names of what a shell passes on: there is somebody who writes."""


def read_bytes(path: str | os.PathLike[str], most: int = LARGEST_FILE) -> bytes:
    """All bytes of a file.

    Args:
        path: of a regular file, or of what the shell passes on (/dev/stdin, /dev/fd/3).
        most: bytes it may have.

    Raises:
        FileError: there is no such file, it is larger, or a pipe, a socket or a device.
    """
    name = os.fspath(path)
    try:
        number = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(number, "rb") as file:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                if not name.startswith(_STREAMS):
                    raise FileError(name, "is a pipe or a device, but a file was expected")
                if hasattr(os, "set_blocking"):
                    os.set_blocking(number, True)
            content = bytearray()
            while len(content) <= most and (more := file.read(2**20)):
                content += more
    except FileError:
        raise
    except (OSError, ValueError) as error:  # a path with a null character is a ValueError
        raise FileError(name, f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(content) > most:
        raise FileError(name, f"is larger than {most} bytes, the limit for these files")
    return bytes(content)


def comments(content: bytes) -> Iterator[tuple[int, int]]:
    """Where the comments of an XML text begin and end, one after the other; one that is not closed is none."""
    at = content.find(b"<!--")
    while at >= 0:
        end = content.find(b"-->", at + 4)
        if end < 0:
            return
        yield at, end + 3
        at = content.find(b"<!--", end + 3)


def without_comments(content: bytes) -> bytes:
    """An XML text without its comments; its lines stay where they are."""
    kept: list[bytes] = []
    last = 0
    for begin, end in comments(content):
        kept += [content[last:begin], b"\n" * content.count(b"\n", begin, end)]
        last = end
    return b"".join([*kept, content[last:]])


def start_of_text(content: bytes) -> int:
    """Where an XML text begins behind its blanks and comments; its length where nothing else is there."""
    at, blank = 0, re.compile(rb"\s*")
    while True:
        found = blank.match(content, at)
        at = at if found is None else found.end()
        end = content.find(b"-->", at + 4) if content.startswith(b"<!--", at) else -1
        if end < 0:
            return at
        at = end + 3
