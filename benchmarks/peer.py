"""The child process that runs hpp-constraints on a problem file (`hpp_driver.py`), as seen from the benchmark."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from problem_files import ProblemFile

__all__ = ["Child", "Hpp", "NoPeer"]

Row = dict[str, Any]
DRIVER = Path(__file__).resolve().parent / "hpp_driver.py"


class NoPeer(Exception):
    """Why hpp-constraints does not run on a problem."""


class Child:
    """A process that answers questions, one JSON object a line.

    Args:
        interpreter: a Python that has `hpp-python`.
        driver: the script it runs.

    Raises:
        NoPeer: it does not run, with the reason.
    """

    def __init__(self, interpreter: str, driver: Path) -> None:
        command = [interpreter, str(driver)]
        try:
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            raise NoPeer(f"{interpreter} does not run: {error.strerror}") from None

    def opened(self, what: Row) -> Row:
        """The answer to the first question; the process ends where it refuses."""
        try:
            return self.ask(what)
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


class Hpp:
    """The child process that runs hpp-constraints.

    Args:
        interpreter: a Python that has `hpp-python`.
        file: the problem.
        starts: (n, nq).

    Raises:
        NoPeer: it does not run, or does not build the problem; with the reason.
    """

    def __init__(self, interpreter: str, file: ProblemFile, starts: NDArray[np.float64]) -> None:
        self._child = Child(interpreter, DRIVER)
        answer = self._child.opened({"open": str(file.path.resolve()), "starts": starts.tolist()})
        self.line_searches: list[str] = answer["line_searches"]
        self.ask, self.close = self._child.ask, self._child.close
