"""Problems, right-hand sides, options, reports and scenes as JSON files: data, never code (`docs/problem_files.md`)."""

from typing import TYPE_CHECKING

from ..exports import on_use as _on_use

if TYPE_CHECKING:
    from .motions import save_motion as save_motion
    from .options import load_options as load_options, save_options as save_options
    from .problems import (
        PlanningTask as PlanningTask,
        load_problem as load_problem,
        load_task as load_task,
        save_problem as save_problem,
    )
    from .reports import Report as Report, save_report as save_report
    from .right_hand_sides import load_rhs as load_rhs, save_rhs as save_rhs
    from .scenes import Scene as Scene, read_scene as read_scene
    from .trajectories import save_path as save_path, save_trajectory as save_trajectory

__getattr__, __dir__ = _on_use(
    __name__,
    {
        "motions": "save_motion",
        "options": "load_options save_options",
        "problems": "PlanningTask load_problem load_task save_problem",
        "reports": "Report save_report",
        "right_hand_sides": "load_rhs save_rhs",
        "scenes": "Scene read_scene",
        "trajectories": "save_path save_trajectory",
    },
)
