"""Imported before numpy: linear algebra on one thread, and the folders of tests and examples on the path."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["ROOT", "TESTS"]

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"
ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
sys.path[1:1] = [str(folder) for folder in (TESTS, TESTS / "planning", ROOT / "examples")]
