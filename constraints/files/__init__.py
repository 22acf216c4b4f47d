"""Problems, right-hand sides, options, reports and scenes as JSON files: data, never code (`docs/problem_files.md`)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .options import load_options as load_options
    from .options import save_options as save_options
    from .problems import load_problem as load_problem
    from .problems import save_problem as save_problem
    from .reports import Report as Report
    from .reports import save_report as save_report
    from .right_hand_sides import load_rhs as load_rhs
    from .right_hand_sides import save_rhs as save_rhs
    from .scenes import Scene as Scene
    from .scenes import read_scene as read_scene

_HOMES = {
    "load_options": "options",
    "load_problem": "problems",
    "load_rhs": "right_hand_sides",
    "read_scene": "scenes",
    "Report": "reports",
    "save_options": "options",
    "save_problem": "problems",
    "save_report": "reports",
    "save_rhs": "right_hand_sides",
    "Scene": "scenes",
}
"""What is offered here, and the file it is in: imported on use."""


def __getattr__(name: str) -> Any:
    """A name of the table, from its file."""
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
