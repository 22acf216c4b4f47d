"""Each row of `constraints.foreign_words` is answered by what it is keyed to, with the word and with what it says."""

from __future__ import annotations

import inspect
import pickle
import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from operator import attrgetter
from typing import Any

import pytest

from constraints import Options, Pose, Status, errors
from constraints.foreign_words import FOREIGN_WORDS, OPTION_CALLS, OPTIONS, STATUSES
from constraints.loops import PointContact
from constraints.models import sample_arm

ROWS = {
    f"{room}:{path}": table
    for room in FOREIGN_WORDS
    for paths, table in FOREIGN_WORDS[room].items()
    for path in paths.split()
}
OPTION_NAMES = [field.name for field in fields(Options)]


def found(key: str) -> Any:
    room, _, path = key.partition(":")
    return attrgetter(path)(import_module(room))


CLASSES = [key for key in ROWS if isinstance(found(key), type)]
FUNCTIONS = [key for key in ROWS if key not in CLASSES]


def words_of(table: dict[str, str]) -> list[tuple[str, str]]:
    """The words, one by one, with what is said of each."""
    table = {words.replace("*", "xyzzy"): said for words, said in table.items()}
    return [(word, said.replace("{}", word)) for words, said in table.items() for word in words.split()]


def sample(cls: type) -> object:
    """An object of a class; of an abstract one, of a subclass with its name."""
    whole: Any = type(cls.__name__, (cls,), {})
    whole.__abstractmethods__ = frozenset()
    return object.__new__(whole)


def outside_of_calls(said: str) -> str:
    return re.sub(r"\(.*?\)", "", re.sub(r"\([^()]*\)", "", said))


def answer(kind: type[Exception], ask: Any, /, *args: Any, **named: Any) -> str:
    with pytest.raises(kind) as caught:
        ask(*args, **named)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert len(caught.traceback) <= 4  # the test, the call, what answers, what makes the error
    return str(caught.value)


@pytest.mark.parametrize("key", CLASSES)
def test_attributes_are_answered(key: str) -> None:
    cls = found(key)
    thing = sample(cls)
    for word, said in words_of(ROWS[key]):
        if word == "+":
            assert answer(errors.OperatorError, cls.__add__, thing, thing).endswith(said)
            continue
        article = "an" if cls.__name__[0] in "AEIOU" else "a"
        sentence = f"{article} {cls.__name__} has no attribute '{word}': use {said}; "
        assert answer(errors.NoAttributeError, getattr, thing, word).startswith(sentence)
        assert word not in dir(thing)
        assert word not in cls.__dict__.get("__dataclass_fields__", {})


@pytest.mark.parametrize("key", FUNCTIONS)
def test_arguments_are_answered(key: str) -> None:
    """What an answer calls a parameter is one."""
    function = found(key)
    own = inspect.signature(function).parameters
    for word, said in words_of(ROWS[key]):
        assert f" has no argument '{word}': {said}; " in answer(errors.UnknownNameError, function, **{word: 1})
        assert set(re.findall(r"(\w+)=", outside_of_calls(said))) <= set(own)
    last = list(own)[-1]
    if own[last].kind is not inspect.Parameter.VAR_KEYWORD:
        assert last in answer(errors.UnknownNameError, function, **{f"{last}x": 1}).partition("nearest names are")[2]
    options = [f"{name}=" for name, each in own.items() if each.kind is each.KEYWORD_ONLY]
    usual = f"others are named: {', '.join(options)}" if options else "too many positional arguments"
    assert answer(errors.CallError, function, *[None] * 40).endswith(ROWS[key].get("", usual))
    if inspect.isfunction(function) and "." not in function.__qualname__:
        assert pickle.loads(pickle.dumps(function)) is function


EXPORTED = [
    f"{room}:{name}"
    for room in FOREIGN_WORDS
    for name, thing in vars(import_module(room)).items()
    if isinstance(thing, type) and is_dataclass(thing) and not hasattr(thing, "or_raise")
    if "enclosures" not in thing.__module__ and f"{room}:{name}.__init__" not in ROWS
]
"""Dataclasses that users make."""


@pytest.mark.parametrize("key", EXPORTED)
def test_dataclasses_answer_names_that_are_no_arguments(key: str) -> None:
    kind = found(key)
    last = ["", *inspect.signature(kind).parameters][-1]
    message = answer(errors.UnknownNameError, kind, **{f"{last}x": 1})
    assert message.startswith(f"{kind.__name__} has no argument '{last}x'")
    assert message.count(last) > 1


def test_the_arguments_of_newcomers() -> None:
    robot = sample_arm()
    assert answer(errors.UnknownNameError, Pose, robot, "tool", refrence="elbow").endswith("names are reference")
    assert "names are normal" in answer(errors.UnknownNameError, PointContact, robot, "tool", norml=[0.0, 0.0, 1.0])


RECORDS = [
    ("constraints.dynamics:simulate", "options", "constraints.dynamics:SimulationOptions"),
    ("constraints.loops:assemble_position", "options", "constraints.loops:AssemblyOptions"),
    ("constraints.reduced:sweep", "options", "constraints.reduced:SweepOptions"),
    ("constraints.reduced:equilibrium", "options", "constraints.reduced:EquilibriumOptions"),
    ("constraints.reduced:equilibrium", "kept", "constraints.reduced:KeptMotion"),
    ("constraints.paths:interpolate", "options", "constraints.solvers:Options"),
    ("constraints.pictures:show", "page", "constraints.pictures:PageOptions"),
    ("constraints.pictures:render", "photo", "constraints.pictures:PhotoOptions"),
    *(
        (f"constraints.{path}", "drawing", "constraints.pictures:Drawing")
        for path in ("robot:Robot.plot", "robot:Robot.animate", "models:Mechanism.plot", "models:Mechanism.animate")
    ),
    *(
        (f"constraints.pictures:{name}", "drawing", "constraints.pictures:Drawing")
        for name in ("plot_robot", "plot_configurations", "plot_path", "animate", "show", "render")
    ),
]
"""Functions, an argument of each, and the record that it is."""


@pytest.mark.parametrize(("key", "argument", "record"), RECORDS)
def test_fields_of_a_record_given_to_the_function_are_answered(key: str, argument: str, record: str) -> None:
    function, kind = found(key), found(record)
    own = inspect.signature(function).parameters
    for name in {field.name for field in fields(kind)} - {*own}:
        said = f" has no argument '{name}': {argument}={kind.__name__}({name}=...); "
        assert said in answer(errors.UnknownNameError, function, **{name: 1})


@pytest.mark.parametrize("record", sorted({record for *_, record in RECORDS} - {"constraints.reduced:KeptMotion"}))
def test_fields_of_a_record_are_given_by_name(record: str) -> None:
    kind = found(record)
    assert re.search(rf"given by name, {kind.__name__}\(\w+=", answer(errors.CallError, kind, 1))
    assert "nearest names" in answer(errors.UnknownNameError, kind, **{f"{fields(kind)[0].name}x": 1})


@pytest.mark.parametrize(("word", "option"), words_of(OPTIONS))
def test_words_for_options_are_answered(word: str, option: str) -> None:
    assert option in OPTION_NAMES
    assert word not in OPTION_NAMES
    for made in (Options, Options.local):
        assert answer(errors.UnknownOptionError, made, **{word: 1}) == f"no option is named '{word}': use '{option}'"


@pytest.mark.parametrize("path", OPTION_CALLS)
def test_options_are_sent_to_where_they_go(path: str) -> None:
    function = found(f"constraints.solvers:{path}")
    own = inspect.signature(function).parameters
    for option in set(OPTION_NAMES) - set(own):
        for value, shown in ((7, "7"), ("x", "...")):
            said = f"takes no argument '{option}', it is an option: {OPTION_CALLS[path]}"
            assert answer(errors.OptionError, function, **{option: value}).endswith(
                said.format(f"Options({option}={shown})")
            )
    call = OPTION_CALLS[path].format("Options(threshold=...)")
    assert answer(errors.UnknownOptionError, function, tol=1).endswith(f"'tol': use 'threshold', {call}")
    assert "nearest names are threshold" in answer(errors.UnknownNameError, function, treshold=1)
    if "options" not in own:
        said = f"takes no options, they belong to the projector: {OPTION_CALLS[path].format('Options(...)')}"
        assert answer(errors.OptionError, function, options=Options()).endswith(said)


@pytest.mark.parametrize(("word", "member"), words_of(STATUSES))
def test_words_for_statuses_are_answered(word: str, member: str) -> None:
    assert member in Status.__members__
    for asked in (word, word.lower()):
        assert f"use `Status.{member}`" in answer(errors.NoAttributeError, getattr, Status, asked)
