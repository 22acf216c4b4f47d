"""Processes of their own for scripts, forks of one that has imported numba and the library: that takes seconds."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any, NamedTuple

import constraints

ROOT = Path(constraints.__file__).resolve().parent.parent


def kernel(before: str = "") -> str:
    """A script with an entrance, which prints what it gives, and how often it was found on disk."""
    return f"""
from __future__ import annotations
import errno, os, sys
import numpy as np
from constraints.solvers.machine.jit import Vector, entrance

{before}
@entrance
def total(x: Vector) -> float:
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    return s

print(total(np.arange(5.0)), sum(total.stats.cache_hits.values()))
"""


class Said(NamedTuple):
    """What a process printed, and what it logged."""

    printed: str
    logged: str


@functools.cache
def _first() -> Any:
    """The process that is forked; it ends when nobody can ask it any more."""
    keep = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment = keep | {"PYTHONPATH": os.pathsep.join([str(ROOT), keep.get("PYTHONPATH", "")])}
    command = [sys.executable, "-B", "-P", __file__]
    first = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(first.communicate)  # closes its input, and waits
    return first


def run(script: str, folder: Path, variables: dict[str, str], count: int = 1) -> list[Said]:
    """Run a script as `kernel.py` of a folder, in so many processes at once, whose only variables are these."""
    (folder / "kernel.py").write_text(script)
    first = _first()
    first.stdin.write(json.dumps([str(folder), variables, count]) + "\n")
    first.stdin.flush()
    codes = json.loads(first.stdout.readline())
    said = [Said(*((folder / f"{n}.{name}").read_text() for name in ("printed", "logged"))) for n in range(count)]
    assert codes == [0] * count, said
    return said


def _begun(folder: str, variables: dict[str, str], number: int) -> int:
    """The number of a process that runs the script."""
    from constraints.solvers.machine import cache

    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.chdir(folder)
        for stream, name in ((1, "printed"), (2, "logged")):
            os.dup2(os.open(f"{number}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        os.environ.clear()
        os.environ.update(variables)
        cache.place.cache_clear()
        path = Path(folder) / "kernel.py"
        exec(compile(path.read_text(), str(path), "exec"), sys.modules["__main__"].__dict__)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    """Answer until the input ends."""
    import numba

    from constraints.solvers.machine import jit

    assert jit.entrance
    numba.njit(lambda x: x + 1.0)(1.0)  # a compiler that has begun
    for line in sys.stdin:
        folder, variables, count = json.loads(line)
        children = [_begun(folder, variables, number) for number in range(count)]
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        print(json.dumps(codes), flush=True)


if __name__ == "__main__":
    main()
