"""Pictures: the one room that draws, with matplotlib, and with viser in a browser; both are imported on use."""

from typing import TYPE_CHECKING

from ..exports import on_use as _on_use

if TYPE_CHECKING:
    from ..robot.description import Drawing as Drawing
    from .assemblies import plot_assembly as plot_assembly, plot_iterates as plot_iterates
    from .browser import (
        PageOptions as PageOptions,
        PhotoOptions as PhotoOptions,
        View as View,
        render as render,
        show as show,
    )
    from .configurations import plot_configurations as plot_configurations, plot_robot as plot_robot
    from .graphs.dependencies import plot_dependencies as plot_dependencies
    from .graphs.graph import plot_graph as plot_graph
    from .modes import animate_mode as animate_mode, plot_modes as plot_modes
    from .motions import plot_motion as plot_motion
    from .paths import animate as animate, plot_path as plot_path
    from .sweeps import plot_sweep as plot_sweep
    from .traces import plot_trace as plot_trace

__getattr__, __dir__ = _on_use(
    __name__,
    {
        ".robot.description": "Drawing",
        "browser": "PageOptions PhotoOptions View render show",
        "assemblies": "plot_assembly plot_iterates",
        "configurations": "plot_configurations plot_robot",
        "graphs.dependencies": "plot_dependencies",
        "graphs.graph": "plot_graph",
        "modes": "animate_mode plot_modes",
        "motions": "plot_motion",
        "paths": "animate plot_path",
        "sweeps": "plot_sweep",
        "traces": "plot_trace",
    },
)
