"""`show FILE`: a robot, mechanism or scene on a page of a browser, or as one HTML file."""

from __future__ import annotations

import argparse

from ..files.documents import read_document
from ..files.problems import load_problem
from ..files.scenes import read_scene
from ..models import load
from ..pictures import Drawing, PageOptions, show
from .arguments import ALL_WELL, natural, outputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.description = (
        "Show the robot of a file in a browser, with the visual geometry of its links (extra `view`). The page is "
        "served until Ctrl-C."
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="URDF, SDF or MJCF; or a scene or a problem, as JSON")
    add("--loops", metavar="SIDECAR.yaml", help="closed loops of a URDF")
    add("--packages", metavar="FOLDER", nargs="+", default=[], help="folders in which meshes are looked for")
    add("--posture", metavar="NAME", help="reference posture; by default the neutral one, or that of the file")
    add("--port", type=natural, metavar="N", help="where the page is served (the first one from 8080 that is free)")
    others = "other pages that may connect, such as https://hub.example.org (a proxy, a forwarded port)"
    add("--origins", metavar="URL", nargs="+", default=[], help=others)
    add("--open", action="store_true", help="open the page in the browser of this machine")
    add("--save", metavar="OUT.html", help="write the page as one file that needs no network, and end")


def run(options: argparse.Namespace) -> int:
    """Show, or write."""
    outputs((options.file,), **({} if options.save is None else {"html": options.save}))
    what = _read(options)
    page = PageOptions(port=options.port, origins=options.origins, open_browser=options.open)
    with show(what, options.posture, drawing=Drawing(packages=options.packages), page=page) as view:
        for reason in view.missing:
            print(f"not drawn: {reason}")
        if options.save is None:
            view.wait()
        else:
            view.save(options.save)
    return ALL_WELL


def _read(options: argparse.Namespace) -> object:
    """The scene, the robot of the problem, or the mechanism that a file has."""
    if not options.file.lower().endswith(".json"):
        return load(options.file, options.loops, packages=options.packages, strict=False)
    kind, _ = read_document(options.file, "scene", "problem")
    return read_scene(options.file, options.packages) if kind == "scene" else load_problem(options.file).robot
