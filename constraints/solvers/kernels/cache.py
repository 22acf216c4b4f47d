"""Compiled kernels on disk: in a folder named by a digest of all that they are made of."""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import liegroups

_log = logging.getLogger(__package__)

VARIABLE = "LIE_CONSTRAINTS_CACHE"
"""Environment variable that names another folder for compiled kernels."""


def sources() -> list[Path]:
    """The files that kernels are compiled from: all of this folder but those that only keep and load them."""
    here, groups = Path(__file__).resolve().parent, Path(liegroups.__file__).resolve().parent
    contacts = here.parents[1] / "functions" / "contact"
    formulas = [groups / name for name in ("maps.py", "series.py", "unit_vectors.py")]
    formulas += [contacts / "contact_rows.py", contacts / "contact_pose.py"]
    kernels = [path for path in sorted(here.glob("*.py")) if path.name not in ("cache.py", "loading.py")]
    return [*kernels, *formulas]


@cache
def digest() -> str:
    """Digest of the sources, and of what compiles them for which processor.

    A cache by file alone keeps old answers where a kernel of another file, which is compiled into it, has changed.
    """
    numba, llvm = importlib.import_module("numba"), importlib.import_module("llvmlite")
    binding: Any = importlib.import_module("llvmlite.binding")
    made_of = [numba.__version__, llvm.__version__, sys.version, sys.platform]
    made_of += [binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()]
    whole = hashlib.sha256("\n".join(made_of).encode())
    for path in sources():
        whole.update(path.read_bytes())
    return whole.hexdigest()[:20]


@cache
def folder() -> Path | None:
    """Where compiled kernels are kept: the first of these that can be written to; None where there is none.

    What `LIE_CONSTRAINTS_CACHE` names; `lie-constraints` in the user's folder for caches; one of the user's own in that
    for temporary files.
    """
    named, caches = os.environ.get(VARIABLE), os.environ.get("XDG_CACHE_HOME")
    candidates = [Path(named)] if named else []
    candidates.append((Path(caches) if caches else Path("~").expanduser() / ".cache") / "lie-constraints")
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    candidates.append(Path(tempfile.gettempdir()) / f"lie-constraints-{user}")
    for candidate in candidates:
        try:
            path = candidate / digest()
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path):
                pass
        except OSError as error:
            _log.info("compiled kernels cannot be kept in %s: %s", candidate, error)
            continue
        if hasattr(os, "getuid") and path.stat().st_uid != os.getuid():
            _log.warning("compiled kernels are not read from %s: it belongs to somebody else", path)
            continue
        return path
    return None


def is_warm() -> bool:
    """Whether the kernels have been compiled on this machine, and kept."""
    there = folder()
    return there is not None and (there / "ready").exists()


def mark_ready() -> None:
    """Say that all kernels are kept."""
    there = folder()
    if there is not None:
        (there / "ready").touch()


def keep_on_disk(dispatcher: Any) -> None:
    """Have numba keep what it compiles of a kernel in the folder, and read it from there."""
    there = folder()
    if there is None:
        return
    caching: Any = importlib.import_module("numba.core.caching")

    class Place:
        """Where numba keeps what it compiles of one function, and what makes it out of date: nothing, by the digest."""

        def ensure_cache_path(self) -> None:
            there.mkdir(mode=0o700, parents=True, exist_ok=True)

        def get_cache_path(self) -> str:
            return str(there)

        def get_source_stamp(self) -> str:
            return digest()

        def get_disambiguator(self) -> str:
            return "kernels"

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Place:
            return cls()

    class Results(caching.CompileResultCacheImpl):
        _locator_classes = (Place,)

    class Kept(caching.FunctionCache):
        _impl_class = Results

    dispatcher._cache = Kept(dispatcher.py_func)
