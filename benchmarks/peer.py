"""Child processes that run other libraries (`hpp_driver.py`, ...), as seen from the benchmarks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from problem_files import ProblemFile

__all__ = ["Child", "NoPeer", "hpp_on"]

Row = dict[str, Any]
HERE = Path(__file__).resolve().parent


class NoPeer(Exception):
    """Why a peer does not run on a problem."""


class Child:
    """A process that answers questions, one JSON object a line.

    Args:
        interpreter: a Python that has the peer.
        driver: the script it runs.
        first: the first question; `said` is the answer.

    Raises:
        NoPeer: it does not run, or refuses the first question; with the reason.
    """

    def __init__(self, interpreter: str, driver: str, first: Row) -> None:
        command = [interpreter, str(HERE / driver)]
        try:
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            raise NoPeer(f"{interpreter} does not run: {error.strerror}") from None
        try:
            self.said = self.ask(first)
        except NoPeer:
            self.close()
            raise

    def ask(self, what: Row) -> Row:
        """One question, one answer."""
        child = self._child
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(json.dumps(what) + "\n")
            child.stdin.flush()
            line = child.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise NoPeer(f"the process ended with exit code {child.wait()}")
        answer: Row = json.loads(line)
        if "refused" in answer:
            raise NoPeer(answer["refused"])
        return answer

    def close(self) -> None:
        """End the process."""
        for stream in (self._child.stdin, self._child.stdout):
            if stream is not None:
                stream.close()
        self._child.wait()


def hpp_on(interpreter: str, file: ProblemFile, starts: NDArray[np.float64]) -> Child:
    """hpp-constraints on a problem file, from starts (n, nq); it says its `line_searches`."""
    return Child(interpreter, "hpp_driver.py", {"open": str(file.path.resolve()), "starts": starts.tolist()})
