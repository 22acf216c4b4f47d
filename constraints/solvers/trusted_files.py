"""Folders and files whose content is executed: opened only where nobody else can have written to them.

Every check is made on what is opened (by `fstat` of its descriptor), so that nothing can be put in its place between
the check and the reading. Links are followed on the way to the folder that a user names, and nowhere below it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import uuid
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

POSSIBLE = os.name == "posix" and {os.open, os.mkdir, os.rename, os.unlink, os.stat} <= os.supports_dir_fd
"""Whether files can be opened by the descriptor of their folder here; nothing is kept on disk where they cannot."""

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe in the place of a file
_SUM = 32  # bytes of a SHA-256


class UntrustedError(OSError):
    """Somebody else may have written what would be executed. The message names what, whose it is, and the remedy."""


class DamagedError(OSError):
    """A file is not as it was written."""


class TrustedPlace(NamedTuple):
    """A folder for what is executed.

    Attributes:
        base: an absolute path; it may lead over links.
        below: names of the folders below it, none of which may be a link.
        named: whether the base was named for this by the user, and has to be the user's too.
    """

    base: Path
    below: tuple[str, ...]
    named: bool = False

    @property
    def path(self) -> Path:
        """The innermost folder."""
        return self.base.joinpath(*self.below)


@contextmanager
def opened(place: TrustedPlace, *, make: bool = False) -> Generator[int]:
    """The descriptor of a folder, each part of it checked when it is opened.

    Args:
        place: the folder.
        make: make what is not there.

    Raises:
        UntrustedError: a part of it belongs to somebody else, or others may write to it.
        OSError: it cannot be opened or made; a part of it below its base is a link.
    """
    if make:
        place.base.mkdir(mode=0o755, parents=True, exist_ok=True)
    at, path = os.open(place.base, _FOLDER), place.base
    try:
        if place.named:
            _trusted(at, path)
        for name in place.below:
            path /= name
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=at)
            inner = os.open(name, _FOLDER | _NO_LINK, dir_fd=at)
            os.close(at)
            at = inner
            _trusted(at, path)
        yield at
    finally:
        os.close(at)


def read(folder: int, name: str) -> bytes:
    """What was written to a file of a folder.

    Args:
        folder: descriptor, of `opened`.
        name: of the file.

    Raises:
        UntrustedError: it belongs to somebody else, or others may write to it.
        DamagedError: it is not as it was written.
        OSError: there is none, it cannot be read, it is a link.
    """
    file = os.open(name, os.O_RDONLY | _NO_LINK | _NO_WAIT | getattr(os, "O_CLOEXEC", 0), dir_fd=folder)
    with open(file, "rb") as stream:
        _trusted(file, Path(name), stat.S_IFREG)
        whole = stream.read()
    if hashlib.sha256(whole[_SUM:]).digest() != whole[:_SUM]:
        raise DamagedError(f"{name} is damaged")
    return whole[_SUM:]


def write(folder: int, name: str, content: bytes) -> None:
    """Write a file of a folder: whole, or not at all.

    Args:
        folder: descriptor, of `opened`.
        name: of the file.
        content: what `read` gives back.

    Raises:
        OSError: it cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | getattr(os, "O_CLOEXEC", 0)
    new = f"{name}.tmp.{uuid.uuid4().hex[:16]}"
    file = os.open(new, flags, 0o644, dir_fd=folder)
    try:
        with open(file, "wb") as stream:
            stream.write(hashlib.sha256(content).digest())
            stream.write(content)
        os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(new, dir_fd=folder)
        raise


def has(folder: int, name: str) -> bool:
    """Whether a folder has a file.

    Args:
        folder: descriptor, of `opened`.
        name: of the file.
    """
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _trusted(descriptor: int, path: Path, kind: int = stat.S_IFDIR) -> None:
    """Refuse what others may have written."""
    found = os.fstat(descriptor)
    if stat.S_IFMT(found.st_mode) != kind:
        raise UntrustedError(f"{path} is no {'folder' if kind == stat.S_IFDIR else 'file'}")
    if found.st_uid not in (os.geteuid(), 0):
        raise UntrustedError(f"{path} belongs to the user {found.st_uid}, who is neither you ({os.geteuid()}) nor root")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UntrustedError(f"others may write to {path}: `chmod go-w {path}` if nobody else has")
