"""Options of a projector in files: every one is written, so that other defaults change nothing."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from ..errors import FileContentError, NotSavableError
from ..solvers.options import Options
from ..solvers.step_control import StepControl
from .documents import read_document, write_document
from .entries import FLAG, NUMBER, Entry
from .json_values import JsonValue

_CONTROLS: dict[str, type[StepControl]] = {
    cls.__name__: cls for cls in StepControl.__subclasses__() if cls.__module__ == StepControl.__module__
}
"""Those of `solvers/step_control.py`."""
_RENAMED = {"Constant": "ConstantStep"}
"""Step controls that files written before call otherwise."""
_LARGEST = {"seed": 2**128, "restart_table": 100_000, "screen": 100_000}
"""Largest integers that files hold, where it is not 10^7."""


def save_options(options: Options, path: str | os.PathLike[str]) -> None:
    """Write options.

    Raises:
        NotSavableError: a user-defined step control.
        FileError: the file cannot be written.
    """
    write_document(path, "options", options_data(options))


def load_options(path: str | os.PathLike[str]) -> Options:
    """Read options; options missing in the file have their defaults.

    Raises:
        FileError: the file cannot be read whole, or holds something else; the place in it is named.
    """
    _, data = read_document(path, "options")
    return options_from_data(data)


def options_data(options: Options) -> dict[str, Any]:
    """Options as data.

    Raises:
        NotSavableError: a step control that is not one of this library, or a number that no file holds.
    """
    if options.seconds is not None:
        raise NotSavableError("option 'seconds'", "a file is there to give the same bits again; give max_iterations")
    data = {name: entry.write(getattr(options, name)) for name, entry in _ENTRIES.items()}
    try:
        options_from_data(JsonValue("options", "$", data))
    except FileContentError as error:
        raise NotSavableError("the options", str(error)) from error
    return data


def options_from_data(data: JsonValue) -> Options:
    """The options of `options_data`."""
    data.only(*_ENTRIES)
    return data.build(Options, **data.those({name: entry.read for name, entry in _ENTRIES.items()}))


def _control_data(control: StepControl) -> dict[str, Any]:
    cls = type(control)
    if _CONTROLS.get(cls.__name__) is not cls:
        raise NotSavableError("option 'step_control'", f"{cls.__name__} is not a step control of this library")
    fields = dataclasses.fields(control)  # pyright: ignore[reportArgumentType]
    return {"type": cls.__name__} | {field.name: float(getattr(control, field.name)) for field in fields}


def _control(data: JsonValue) -> StepControl:
    name = data.entry("type")
    cls = _CONTROLS[_RENAMED.get(str(name.value)) or name.word(list(_CONTROLS))]
    names = [field.name for field in dataclasses.fields(cls)]  # pyright: ignore[reportArgumentType]
    data.only("type", *names)
    return data.build(cls, **data.those(dict.fromkeys(names, JsonValue.number)))


def _entry(name: str, default: Any) -> Entry:
    """How an option is written and read: by the kind of its default."""
    if isinstance(default, bool):
        return FLAG
    if isinstance(default, int):
        return Entry(lambda value: value, lambda data: data.integer(0, _LARGEST.get(name, 10**7)))
    return NUMBER if isinstance(default, float) else Entry(_control_data, _control)


_ENTRIES = {
    field.name: _entry(field.name, field.default) for field in dataclasses.fields(Options) if field.name != "seconds"
}
