"""Scripts run as by `python SCRIPT`, in forks of one process that has imported what they need: that takes seconds.

The first process has imported `constraints`, and none of its rooms that a script has to import itself; its kernels
are loaded, and warnings are errors. A script has its own folder, variables, arguments and exit code.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "benchmarks"
OTHERS = (
    "matplotlib.backends.backend_agg", "matplotlib.pyplot", "scipy.cluster.vq", "scipy.interpolate", "scipy.optimize",
    "scipy.spatial",
)  # fmt: skip
"""Parts of other libraries that rooms import."""


class Done(NamedTuple):
    """How a script ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


@functools.cache
def _first() -> Any:
    """The process that is forked; it ends when nobody can ask it any more."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-W", "error", "-P", __file__]
    environment = os.environ | {"PYTHONPATH": path}
    first = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(first.communicate)  # closes its input, and waits
    return first


def run(script: Path | str, *arguments: str, folder: Path | None = None, **variables: str) -> Done:
    """Run a script, or a module by its name, from a folder, with the variables of this process and these."""
    first = _first()
    with tempfile.TemporaryDirectory() as written:
        where = str(folder or Path.cwd())
        given = [str(script), arguments, where, written, os.environ | variables]
        first.stdin.write(json.dumps(given) + "\n")
        first.stdin.flush()
        code = json.loads(first.stdout.readline())
        return Done(code, *((Path(written) / name).read_text(encoding="utf-8") for name in ("stdout", "stderr")))


def _run_here(script: str, arguments: list[str], folder: str, written: str, variables: dict[str, str]) -> None:
    """Become the script: this process ends with it."""
    code: Any = 1
    try:
        for stream, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(f"{written}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        sys.argv, sys.path[:0] = [script, *arguments], [str(Path(script).parent)]
        if script.endswith(".py"):
            runpy.run_path(script, run_name="__main__")
        else:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        if isinstance(code, str):
            print(code, file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


def main() -> None:
    """Answer until the input ends."""
    from constraints.errors import MissingExtraError
    from constraints.solvers.kernels.loading import entrances

    for name in OTHERS:
        importlib.import_module(name)
    with contextlib.suppress(MissingExtraError):
        entrances().take_all()
    for asked in sys.stdin:
        assert threading.active_count() == 1
        child = os.fork()
        if not child:
            _run_here(*json.loads(asked))
        print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])), flush=True)


if __name__ == "__main__":
    main()
