"""Values: every record of the library is frozen, so that what was checked stays so, and equal to itself or by value."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import fields
from types import ModuleType

import constraints
import liegroups
from constraints import Options
from constraints.dynamics import SimulationOptions
from constraints.loops import AssemblyOptions
from constraints.pictures import Drawing, PageOptions, PhotoOptions
from constraints.reduced import EquilibriumOptions, SweepOptions

CHANGED = {"constraints.files.encoding._Node"}
"""Built up while a file is written."""

BY_VALUE = {
    "AssemblyOptions", "Backtracking", "Baumgarte", "ConstantStep", "Entry", "ErrorNormBased", "Factor", "Fault",
    "FixedSequence", "FullSteps", "GroupMaps", "Limits", "Mimic", "Options", "PageOptions", "PathLimits",
    "PhotoOptions", "Rule", "SdfMimic", "SearchLimits", "Segments", "Sidecar", "SimulationOptions", "Stops", "Unread",
    "_HalfSquare", "_Sample", "_Shifted",
}  # fmt: skip
"""Equal where their fields are; all others hold arrays or functions, and are equal to themselves alone."""

RECORDS = (
    Options, AssemblyOptions, Drawing, EquilibriumOptions, PageOptions, PhotoOptions, SimulationOptions, SweepOptions,
)  # fmt: skip
"""Whose fields are all given by name."""

BY_NAME = {
    "CenterOfMass": {"reference"}, "ContactForces": {"joints", "subtrees", "length"},
    "StaticStability": {"joints", "subtrees", "length"}, "StaticTorques": {"joints", "subtrees"},
    "SupportPolygon": {"joints", "subtrees"}, "Closure": {"target", "form"}, "PointClosure": {"target"},
    "PoseClosure": {"target"}, "PoseContact": {"target"},
    "PointContact": {"axes", "error_axes", "form", "mask", "target"},
    "SurfaceContact": {"axes", "form", "mask", "target"},
    "ConstraintGraphFactory": {"preplacement_distance", "margin", "preplace_guide", "empty_level_sets", "margins",
                               "constraints", "options", "attempts", "engine"},
    "Explicit": {"whole", "has_branches", "exact_parts"}, "Piece": {"projector"},
    "FromCallable": {"trace"},
    "Floor": {"friction", "restitution", "height", "normal", "constraints", "laws", "rest_speed"},
    "Transition": {"condition", "parameters"}, "Foliation": {"proven"},
    "KeptMotion": {"kind", "acceleration", "driven_acceleration"},
    **{kind.__name__: {f.name for f in fields(kind)} for kind in RECORDS},
}  # fmt: skip
"""What is given by its name alone, beside `name` itself where it may be left out, and the maps of a group."""


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            yield importlib.import_module(module.name)


def records() -> Iterator[type]:
    for module in (*modules(constraints), *modules(liegroups)):
        kinds = (kind for kind in vars(module).values() if isinstance(kind, type))
        yield from (
            kind for kind in kinds if kind.__module__ == module.__name__ and "__dataclass_fields__" in vars(kind)
        )


def test_what_is_given_by_its_name_alone() -> None:
    """A name that may be left out is never one more number of a long call; nor are options that few give."""
    by_name: dict[str, set[str]] = {}
    for kind in records():
        own = [f for f in fields(kind) if f.init and f.name in vars(kind).get("__annotations__", {})]
        optional = {f.name: f.kw_only for f in own if f.name == "name" and f.default == ""}
        assert all(optional.values()) or kind.__name__ in ("Event", "_Node"), kind
        named = {f.name for f in own if f.kw_only and f.name != "name"}
        if named and kind.__name__ != "GroupMaps":
            by_name[kind.__name__] = named
    assert by_name == BY_NAME


def test_records_are_frozen() -> None:
    loose, by_value, seen = set[str](), set[str](), 0
    for module in (*modules(constraints), *modules(liegroups)):
        for kind in vars(module).values():
            record = vars(kind).get("__dataclass_params__") if isinstance(kind, type) else None
            if record is not None:
                seen += 1
                by_value |= {kind.__qualname__} if record.eq else set()
                loose |= set() if record.frozen else {f"{kind.__module__}.{kind.__qualname__}"}
    assert seen > 100
    assert loose == CHANGED
    assert by_value == BY_VALUE


def test_private_fields_are_neither_given_nor_shown() -> None:
    """What a record makes of its arguments is no argument, and is not printed; these four are made here alone."""
    given, shown = set[str](), set[str]()
    for kind in records():
        record = vars(kind)["__dataclass_params__"]
        for f in fields(kind):
            if f.name.startswith("_") and f.name in vars(kind).get("__annotations__", {}):
                given |= {kind.__name__} if f.init and record.init else set()
                shown |= {kind.__name__} if f.repr and record.repr else set()
    assert given == {"PhysicalJoint", "ProjectionBatch", "Resolution"}
    assert shown == {"Robot"}  # a robot has words of its own
