"""Compiled kernels on disk: in a folder named by a digest of all that they are made of."""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import liegroups

from ...errors import ConstraintError
from ...exports import from_extra
from ..trusted_files import POSSIBLE, TrustedPlace, UntrustedError, has, opened, read, write

_log = logging.getLogger(__package__)

VARIABLE = "LIE_CONSTRAINTS_CACHE"
"""Environment variable that names another folder for compiled kernels."""
VARIABLE_OF_LANES = "LIE_CONSTRAINTS_LANES"
"""Environment variable that names another number of lanes."""
WIDTHS = (1, 2, 4, 8, 16)
"""Numbers of lanes that there are."""
READY = ".complete"
"""How the file is named that says that all kernels of a part are kept, after the name of the part."""


def sources() -> list[Path]:
    """The files that kernels are compiled from: all of these rooms but those that only keep and load them."""
    solvers, groups = Path(__file__).resolve().parents[1], Path(liegroups.__file__).resolve().parent
    contacts = solvers.parent / "functions" / "contact"
    formulas = [groups / name for name in ("formulas/maps.py", "formulas/series.py", "unit_vectors.py")]
    formulas += [contacts / "contact_rows.py", contacts / "contact_pose.py"]
    formulas += [solvers.parent / "functions" / "expressions" / "domains.py"]
    files = [path for room in ("kernels", "machine", "tape") for path in sorted((solvers / room).glob("*.py"))]
    kernels = [path for path in files if path.name not in ("cache.py", "loading.py")]
    return [*kernels, *formulas]


def processor() -> tuple[str, dict[str, bool]]:
    """Name and features of the processor that code is made for.

    It is this one, unless `NUMBA_CPU_NAME` and `NUMBA_CPU_FEATURES` (as `+avx2,-fma`) name another to numba.
    """
    told: Any = from_extra("numba", "fast").config
    binding: Any = importlib.import_module("llvmlite.binding")
    name = told.CPU_NAME or binding.get_host_cpu_name()
    if told.CPU_FEATURES is None:
        return name, dict(binding.get_host_cpu_features())
    return name, {one[1:]: one[0] == "+" for one in told.CPU_FEATURES.split(",") if one}


@cache
def lanes_wanted() -> int:
    """Number of lanes: 8 where a register holds four doubles or more, 4 elsewhere; 1 without a compiler.

    Raises:
        ConstraintError: the environment names a number that is none of `WIDTHS`.
    """
    if from_extra("numba", "fast").config.DISABLE_JIT:
        return 1
    named = os.environ.get(VARIABLE_OF_LANES, "")
    if named:
        if named not in map(str, WIDTHS):
            raise ConstraintError(
                f"{VARIABLE_OF_LANES}={named}: expected a number of lanes, one of {', '.join(map(str, WIDTHS))}; unset "
                "it for what the processor has"
            )
        return int(named)
    _, features = processor()
    return 8 if features.get("avx2") or features.get("avx512f") else 4


@cache
def digest() -> str:
    """Digest of the sources, and of what compiles them for which processor.

    A cache by file alone keeps old answers where a kernel of another file, which is compiled into it, has changed.
    """
    numba, llvm = from_extra("numba", "fast"), importlib.import_module("llvmlite")
    name, features = processor()
    made_of = [numba.__version__, llvm.__version__, sys.version, sys.platform, str(lanes_wanted()), name]
    made_of += sorted(feature for feature, is_there in features.items() if is_there)
    whole = hashlib.sha256("\n".join(made_of).encode())
    for path in sources():
        whole.update(path.read_bytes())
    return whole.hexdigest()[:20]


@cache
def place(part: str) -> TrustedPlace | None:
    """Where kernels of a part are kept: the first of these that has them, or can be written to; None if there is none.

    What `LIE_CONSTRAINTS_CACHE` names; `lie-constraints` in the user's folder for caches; one of the user's own in that
    for temporary files. They are code: folders and files are taken only if they belong to this user or to root, nobody
    else may write to them, and none of them below what was named is a link.
    """
    for candidate in _candidates() if POSSIBLE else ():
        try:
            if _has_all(candidate, part) or _can_be_written_to(candidate):
                return candidate
        except UntrustedError as error:
            _log.warning("compiled kernels are not kept in %s: %s", candidate.path, error)
        except OSError as error:
            _log.info("compiled kernels cannot be kept in %s: %s", candidate.path, error)
    return None


def folder(part: str) -> Path | None:
    """The path of that place.

    Args:
        part: the name of a file of kernels.
    """
    there = place(part)
    return None if there is None else there.path


def _candidates() -> Iterator[TrustedPlace]:
    """Places in the order in which they are tried."""
    named, caches = os.environ.get(VARIABLE), os.environ.get("XDG_CACHE_HOME", "")
    if named:
        yield TrustedPlace(Path(named).absolute(), (digest(),), named=True)
    with suppress(RuntimeError):  # neither HOME nor an entry in passwd, as in containers
        home = Path(caches) if os.path.isabs(caches) else Path("~").expanduser() / ".cache"
        yield TrustedPlace(home, ("lie-constraints", digest()))
    with suppress(OSError):  # no folder for temporary files
        yield TrustedPlace(Path(tempfile.gettempdir()).absolute(), (f"lie-constraints-{os.getuid()}", digest()))


def _has_all(candidate: TrustedPlace, part: str) -> bool:
    """Whether all kernels of a part are there, in a folder that may be read-only."""
    try:
        with opened(candidate) as at:
            return has(at, part + READY)
    except FileNotFoundError:
        return False


def _can_be_written_to(candidate: TrustedPlace) -> bool:
    """Whether it can; the folder is made."""
    with opened(candidate, make=True) as at:
        trial = f"trial.tmp.{os.getpid()}"
        write(at, trial, b"")
        os.unlink(trial, dir_fd=at)
    return True


def is_warm(part: str) -> bool:
    """Whether the kernels of a part have been compiled on this machine, and kept."""
    there = place(part)
    try:
        return there is not None and _has_all(there, part)
    except OSError:
        return False


def mark_ready(part: str) -> None:
    """Say that all kernels of a part are kept, if they are."""
    there = place(part)
    if there is None or part in _not_kept:
        return
    try:
        with opened(there, make=True) as at:
            write(at, part + READY, b"")
    except OSError as error:
        _say(f"compiled kernels are not kept in {there.path}: {error}")


def keep_on_disk(dispatcher: Any) -> None:
    """Have numba keep what it compiles of a kernel in the folder, and read it from there."""
    there = place(_part_of(dispatcher.py_func))
    if there is not None:
        dispatcher._cache = _kept(dispatcher.py_func, there)


def _part_of(function: Any) -> str:
    """The name of the file that it is of."""
    return function.__module__.rpartition(".")[2]


def kept_no_more(dispatcher: Any) -> None:
    """Have what else is compiled of a kernel neither kept nor looked for."""
    dispatcher._cache = importlib.import_module("numba.core.caching").NullCache()


def _kept(function: Any, there: TrustedPlace) -> Any:
    """What a dispatcher of numba asks for compiled code, and gives it to."""
    caching: Any = importlib.import_module("numba.core.caching")
    result: Any = importlib.import_module("numba.core.compiler").CompileResult

    class Kept(caching.NullCache):
        """Compiled code of one function: a file for each signature and processor."""

        @property
        def cache_path(self) -> str:
            return str(there.path)

        def _name(self, signature: Any, code: Any) -> str:
            which = hashlib.sha256(f"{signature} {code.magic_tuple()}".encode()).hexdigest()[:12]
            return f"{_part_of(function)}.{function.__qualname__}-{which}.kernel"

        def load_overload(self, signature: Any, context: Any) -> Any:
            """The code, made ready; None where it is to be compiled: it is not there, or cannot be taken."""
            context.refresh()
            name = self._name(signature, context.codegen())
            try:
                with opened(there) as at:
                    content = read(at, name)
                return result._rebuild(context, *pickle.loads(content))
            except FileNotFoundError:
                return None
            except Exception as error:
                _say(f"a compiled kernel of {there.path} is not used, and compiled again (a minute at most): {error}")
                return None

        def save_overload(self, signature: Any, compiled: Any) -> None:
            """Keep the code; where that fails this process has it all the same."""
            if compiled.lifted or compiled.library.has_dynamic_globals:
                return
            content = caching.dumps(compiled._reduce())
            try:
                with opened(there, make=True) as at:
                    write(at, self._name(signature, compiled.codegen), content)
            except OSError as error:
                _not_kept.add(_part_of(function))
                _say(f"compiled kernels are not kept in {there.path}, and run from memory: {error.strerror or error}")

    return Kept()


_not_kept: set[str] = set()
"""Parts of which this process has compiled a kernel that it could not keep."""


@cache
def _say(words: str) -> None:
    """Say something once."""
    _log.warning("%s", words)
