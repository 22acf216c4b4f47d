"""Pictures: the one room that draws, with matplotlib, and with viser in a browser; both are imported on use."""

from typing import TYPE_CHECKING

from ..exports import on_use as _on_use

if TYPE_CHECKING:
    from ..robot.description import Drawing as Drawing
    from .assemblies import plot_assembly as plot_assembly
    from .browser import PageOptions as PageOptions, PhotoOptions as PhotoOptions, render as render, show as show
    from .configurations import plot_configurations as plot_configurations, plot_robot as plot_robot
    from .paths import animate as animate, plot_path as plot_path

__getattr__, __dir__ = _on_use(
    __name__,
    {
        ".robot.description": "Drawing",
        "browser": "PageOptions PhotoOptions render show",
        "assemblies": "plot_assembly",
        "configurations": "plot_configurations plot_robot",
        "paths": "animate plot_path",
    },
)
