"""What computes: versions of the libraries, the linear algebra behind them, its threads."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import sys
from typing import Any

import numpy as np
import scipy

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE")


def environment() -> dict[str, str]:
    """What the last bits of a result depend on, in words, by name: the same words, the same bits."""
    words = {
        "lie-constraints": str(vars(sys.modules[__name__.split(".")[0]])["__version__"]),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "pin": version_of("pin"),
        "networkx": version_of("networkx"),
        "blas of numpy": _blas(np),
        "blas of scipy": _blas(scipy),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "threads": ", ".join(f"{name}={os.environ[name]}" for name in _THREADS if name in os.environ) or "not set",
    }
    loaded = _loaded()
    return words | ({"blas in use": loaded} if loaded else {})


def version_of(distribution: str, unknown: str = "unknown") -> str:
    """Version of a distribution, or of the module that stands for it.

    Args:
        distribution: its name.
        unknown: what to say where there is neither.
    """
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        module = sys.modules.get({"pin": "pinocchio"}.get(distribution, distribution))
        return str(getattr(module, "__version__", unknown))


def _blas(library: Any) -> str:
    """Name and version of the linear algebra that a library was built with."""
    try:
        found = library.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{found['name']} {found['version']}"
    except (KeyError, TypeError, ValueError):
        return "unknown"


def _loaded() -> str:
    """The linear algebra that is loaded, with its kernels and threads, where threadpoolctl can be asked."""
    try:
        pools: Any = importlib.import_module("threadpoolctl")
    except ImportError:
        return ""
    found = [
        f"{pool['internal_api']} {pool['version']} ({pool.get('architecture', '?')}, {pool['num_threads']} threads)"
        for pool in pools.threadpool_info()
        if pool.get("user_api") == "blas"
    ]
    return ", ".join(dict.fromkeys(found))
