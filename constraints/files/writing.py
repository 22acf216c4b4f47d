"""How every file of the library is written: whole or not at all, at the place that was asked for."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import FileError, WrongObjectError

_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}


def as_path(path: Any) -> Path:
    """A path from a user.

    Raises:
        WrongObjectError: it is neither a text nor a path, or empty, or has a null character.
    """
    text: object = os.fspath(path) if isinstance(path, str) or hasattr(path, "__fspath__") else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise WrongObjectError(
            "path of a file", "a string or a pathlib.Path, not empty, without null characters", repr(path)
        )
    return Path(text)


def write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file: all of it, or nothing.

    A symbolic link stays one: what it points to is written. A regular file is replaced in one step by a new one with
    its permissions, so that nobody sees half a file and a failure leaves the old one as it was. Devices, pipes and the
    standard streams are written to.

    Args:
        path: the file.
        content: what it shall hold.

    Raises:
        FileError: it cannot be written, with the reason.
        WrongObjectError: no path.
    """
    where = as_path(path)
    try:
        if os.name == "posix" and os.fspath(path) in _STANDARD:
            _write_to_stream(_STANDARD[os.fspath(path)], content)
            return
        there = _found(where)
        if there is not None and not stat.S_ISREG(there.st_mode):
            with open(where, "wb") as file:
                file.write(content)
        else:
            _replace(Path(os.path.realpath(where)), there, content)
    except OSError as error:
        raise FileError(os.fspath(path), f"cannot be written: {_reason(error, where)}") from None


def _found(where: Path) -> os.stat_result | None:
    try:
        return os.stat(where)
    except FileNotFoundError:
        return None


def _replace(where: Path, there: os.stat_result | None, content: bytes) -> None:
    """Put a new regular file in the place of one that may be there. A failure leaves nothing behind."""
    if there is not None and not os.access(where, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError("the file is read-only")
    part = where.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(part, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if there is not None:
            _take_over(part, there)
        os.replace(part, where)
    except BaseException:
        with suppress(OSError):  # what went wrong first is what counts
            part.unlink()
        raise


def _take_over(part: Path, there: os.stat_result) -> None:
    """Give a new file the owner, where that may be, and the permissions of an old one."""
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(part, there.st_uid, there.st_gid)
    os.chmod(part, stat.S_IMODE(there.st_mode))


def _write_to_stream(number: int, content: bytes) -> None:
    """Write after what was printed: opened by its name, a stream that goes to a file would begin at its start."""
    printed = {1: sys.stdout, 2: sys.stderr}[number]
    if printed is not None:  # pyright: ignore[reportUnnecessaryComparison]
        printed.flush()
    with open(os.dup(number), "wb") as file:
        file.write(content)


def _reason(error: OSError, where: Path) -> str:
    folder = where.absolute().parent
    if isinstance(error, FileNotFoundError) and not folder.is_dir():
        return f"the folder {folder} does not exist"
    return error.strerror or str(error)
