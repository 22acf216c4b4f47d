"""Problems, right-hand sides, options, reports and scenes as JSON files: data, never code (`docs/problem_files.md`)."""

from typing import TYPE_CHECKING

from ..exports import on_use as _on_use

if TYPE_CHECKING:
    from .certificates import load_certificate as load_certificate, save_certificate as save_certificate
    from .problems import load_task as load_task, save_problem as save_problem
    from .reports import Report as Report
    from .scenes import Scene as Scene, read_scene as read_scene
    from .trajectories import save_path as save_path

__getattr__, __dir__ = _on_use(
    __name__,
    {
        "certificates": "load_certificate save_certificate",
        "problems": "load_task save_problem",
        "reports": "Report",
        "scenes": "Scene read_scene",
        "trajectories": "save_path",
    },
)
