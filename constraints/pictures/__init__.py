"""Pictures: the one room that draws, with matplotlib, imported on use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assemblies import plot_assembly as plot_assembly
    from .assemblies import plot_iterates as plot_iterates
    from .dependencies import plot_dependencies as plot_dependencies
    from .graph import plot_graph as plot_graph
    from .paths import animate as animate
    from .paths import plot_path as plot_path
    from .robots import plot_configurations as plot_configurations
    from .traces import plot_trace as plot_trace

_HOMES = {
    "animate": "paths",
    "plot_assembly": "assemblies",
    "plot_configurations": "robots",
    "plot_dependencies": "dependencies",
    "plot_graph": "graph",
    "plot_iterates": "assemblies",
    "plot_path": "paths",
    "plot_trace": "traces",
}
"""What is offered here, and the file it is in: imported on use."""


def __getattr__(name: str) -> Any:
    """A name of the table, from its file."""
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
