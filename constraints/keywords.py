"""Names that do not exist: a typed error with what there is, and how it is said here; names of a part's fields."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, getattr_static, signature
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar, final

from .errors import CallError, FrozenValueError, NoAttributeError, OperatorError, UnknownNameError
from .foreign_words import FOREIGN_WORDS

_T = TypeVar("_T")

Refused = Callable[[str, str, object, tuple[str, ...]], Exception]
"""From a function, an argument that it does not have, its value, and the names that it has, to the error."""


def by_word(table: Mapping[str, str]) -> dict[str, str]:
    """A table of `foreign_words`, word by word: its keys are words with blanks between them; {} stands for the word."""
    return {
        word: said if word == "*" else said.replace("{}", word)
        for words, said in table.items()
        for word in words.split() or [""]
    }


def record_by_name(cls: type[_T]) -> type[_T]:
    """A frozen dataclass of fields that are given by name; it answers names that are no fields, and the setting of one.

    It stands above `dataclass`.
    """
    whole: Any = cls
    said = f"fields are given by name, {cls.__name__}({fields(whole)[0].name}=...)"
    whole.__init__ = _answering(whole.__init__, {"": said}, None)
    return unchanging("make a changed copy with dataclasses.replace")(cls)


def answer(room: str, refused: Refused | None = None) -> None:
    """Let what a room has answer the words of `FOREIGN_WORDS`; its `__init__` ends with this.

    Signatures stay what they are. A call costs 0.1 us more: it is looked at only after a TypeError, and one of the
    function's own is passed on. Modules of the room that have a function already get the one that answers. So do the
    dataclasses that the room exports, but for results and enclosures.

    Args:
        room: its `__name__`.
        refused: makes the error for words that are not in the table.
    """
    inside = f"{room}."
    modules = [module for name, module in sys.modules.items() if name == room or name.startswith(inside)]
    for paths, table in FOREIGN_WORDS[room].items():
        for path in paths.split():
            thing, (home, _, name) = attrgetter(path)(sys.modules[room]), path.rpartition(".")
            if isinstance(thing, type):
                _answer_attributes(thing, by_word(table))
            elif home:
                _answer_method(attrgetter(home)(sys.modules[room]), name, table, refused)
            else:
                answering = _answering(thing, table, refused)
                for module in modules:
                    if vars(module).get(name) is thing:
                        setattr(module, name, answering)
    for thing in [*vars(sys.modules[room]).values()]:
        if isinstance(thing, type) and is_dataclass(thing) and not _is_made_by_the_library(thing):
            _answer_method(thing, "__init__", {}, None)


def _is_made_by_the_library(cls: type) -> bool:
    """Whether a dataclass is a result, or an enclosure, of which a proof makes thousands."""
    return ".enclosures." in cls.__module__ or any("or_raise" in vars(base) for base in cls.__mro__)


def _answer_method(cls: type, name: str, table: Mapping[str, str], refused: Refused | None) -> None:
    home = next(kind for kind in cls.__mro__ if name in vars(kind))
    method: Any = vars(home)[name]
    if getattr(method, "answers", False) and not table:
        return
    answering = _answering(getattr(method, "__func__", method), table, refused)
    setattr(home, name, classmethod(answering) if isinstance(method, classmethod) else answering)


def _answering(function: Callable[..., Any], table: Mapping[str, str], refused: Refused | None) -> Callable[..., Any]:
    @wraps(function)
    def answering(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs) if kwargs else function(*args)
        except TypeError:
            _refuse(function, args, kwargs, by_word(table), refused)
            raise

    vars(answering)["answers"] = True
    return answering


def _refuse(
    function: Callable[..., object],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    words: Mapping[str, str],
    refused: Refused | None,
) -> None:
    """Refuse a call that does not fit the signature.

    Raises:
        UnknownNameError: an argument by a name that is none; or what `refused` makes.
        CallError: too many arguments, or too few.
    """
    whole = signature(function)
    own = {name: each for name, each in whole.parameters.items() if name not in ("self", "cls")}
    who: str = getattr(function, "__qualname__", "function").removesuffix(".__init__")
    name = getattr(function, "__name__", "")
    if "self" in whole.parameters and args:
        who = type(args[0]).__name__ + f".{name}" * (name != "__init__")  # of the object's own class, not of a base
    for name, value in kwargs.items():
        if name not in own and not any(each.kind is Parameter.VAR_KEYWORD for each in own.values()):
            said = words.get(name, words.get("*", "").replace("{}", name))
            if refused is not None and not said:
                raise refused(who, name, value, tuple(own)) from None
            said = said or _said_of_a_field(function, own.values(), name)
            sentence = f"{who} has no argument '{name}'{said and f': {said}'}"
            raise UnknownNameError(f"argument of {who}", name, tuple(own), sentence) from None
    try:
        whole.bind(*args, **kwargs)
    except TypeError as error:
        bare = [each.replace(annotation=Parameter.empty, default=Parameter.empty) for each in own.values()]
        call = f"{who}{whole.replace(parameters=bare, return_annotation=Parameter.empty)}"
        options = ", ".join(f"{each.name}=" for each in bare if each.kind is Parameter.KEYWORD_ONLY)
        raise CallError(call, str(error), words.get("", options and f"others are named: {options}")) from None


def _said_of_a_field(function: Callable[..., object], own: Iterable[Parameter], name: str) -> str:
    """How a name is said that is no argument of a function, but a field of a record of options that it takes.

    The argument is `X | None`, and X a dataclass with fields that are given by name.
    """
    for each in own:
        record = getattr(function, "__globals__", {}).get(str(each.annotation).removesuffix(" | None"))
        if each.default is None and isinstance(record, type) and is_dataclass(record):
            names = {field.name: field.kw_only for field in fields(record)}
            if name in names and any(names.values()):
                return f"{each.name}={record.__name__}({name}=...)"
    return ""


def can_be_called(function: Callable[..., object], *args: object) -> bool:
    """Whether a user's function takes these arguments; true of those that do not say what they take."""
    try:
        signature(function).bind(*args)
    except TypeError:
        return False
    except ValueError:  # written in C, without a signature
        return True
    return True


@final
class FieldOf(property, Generic[_T]):
    """A property that is a field of a part: `nq = FieldOf[int]("space.nq", "Size of a configuration.")`.

    Args:
        path: of the field, from the whole.
        doc: what it is.
    """

    def __init__(self, path: str, doc: str) -> None:
        super().__init__(attrgetter(path))
        self.__doc__ = doc

    if TYPE_CHECKING:

        def __get__(self, instance: object, owner: type | None = None, /) -> _T: ...  # pyright: ignore[reportIncompatibleMethodOverride]


class NamesChecked:
    """A value that answers attributes it does not have with its own. Python asks it only for what is missing.

    Attributes:
        _meant: names that people try, and how the same is said here; `answer` sets them.
    """

    __slots__ = ()
    _meant: ClassVar[Mapping[str, str]] = {}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Refuse an attribute that does not exist; the message says what to use instead.

            Raises:
                NoAttributeError: lists the names that come closest.
            """
            kind = type(self)
            if name.startswith("_") or hasattr(kind, name):  # Python's own questions; a slot that is not filled yet
                raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
            valid = [known for known in dir(self) if not known.startswith("_")]
            raise NoAttributeError(kind.__name__, name, valid, self._meant.get(name, ""))


@final
class Absent:
    """A name that people try on a class and that it does not have.

    For classes whose attributes are read in the solver's loop: a `__getattr__`, as that of `NamesChecked`, makes each
    of them slower, and a projection of an arm by 5 %.

    Args:
        name: the name.
        words: how the same is said.
    """

    def __init__(self, name: str, words: str) -> None:
        self._name, self._words = name, words

    def __get__(self, instance: object, owner: type) -> NoReturn:
        """Refuse the name.

        Raises:
            NoAttributeError: lists the names that come closest, and what to use instead.
        """
        valid = [name for name in _there(owner, dir(owner)) if not name.startswith("_")]
        raise NoAttributeError(owner.__name__, self._name, valid, self._words)


def _there(cls: type, names: Iterable[str]) -> list[str]:
    """The names that a class has, without those that it only answers."""
    return [name for name in names if not isinstance(getattr_static(cls, name, None), Absent)]


def _dir(self: object) -> list[str]:
    return _there(type(self), object.__dir__(self))


def _no_sum(words: str) -> Callable[[object, object], NoReturn]:
    def refuse(self: object, other: object) -> NoReturn:
        raise OperatorError(f"{type(self).__name__} + {type(other).__name__}", words)

    return refuse


def _answer_attributes(cls: type, words: Mapping[str, str]) -> None:
    """Let a class answer some names, and the operator +, that it does not have; tab completion shows what there is."""
    whole: Any = cls
    if issubclass(cls, NamesChecked):
        whole._meant = {**whole._meant, **words}
        return
    whole.__dir__ = _dir
    for name, said in words.items():
        setattr(whole, *(("__add__", _no_sum(said)) if name == "+" else (name, Absent(name, said))))


@final
class Named(dict[str, _T]):
    """A dictionary by name; `named["crnk"]` raises an UnknownNameError with the nearest names.

    Args:
        what: a name is of what, in messages.
        entries: what it holds.
    """

    def __init__(self, what: str, entries: Mapping[str, _T] | Iterable[tuple[str, _T]] = ()) -> None:
        super().__init__(entries)
        self._what = what

    def __missing__(self, name: str) -> NoReturn:
        """Refuse a name that there is not.

        Raises:
            UnknownNameError: lists the names that come closest.
        """
        raise UnknownNameError(self._what, name, tuple(self))


def closed(here: str, /, **fields: str) -> Callable[[type[_T]], type[_T]]:
    """A class whose public attributes are set by `__init__` alone and that answers later ones, misspelt ones too.

    Private ones, and `__dict__`, stay its own business. Reading costs nothing more.

    Args:
        here: how a changed one is made.
        fields: the same for single attributes.
    """
    refuse = _refusal(here, fields)

    def set_field(self: Any, name: str, value: object) -> None:
        if name[0] != "_" and self._closed:
            refuse(self, name)
        object.__setattr__(self, name, value)

    def decorate(cls: type[_T]) -> type[_T]:
        whole: Any = cls
        make = whole.__init__

        @wraps(make)
        def make_and_close(self: Any, *args: Any, **kwargs: Any) -> None:
            make(self, *args, **kwargs)
            self._closed = True

        whole._closed = False  # an attribute: a look into __dict__ would make attributes slower to read
        whole.__init__, whole.__setattr__, whole.__delattr__ = make_and_close, set_field, refuse
        return cls

    return decorate


def unchanging(here: str, /, **fields: str) -> Callable[[type[_T]], type[_T]]:
    """A frozen dataclass, or a class with slots, that answers the setting of a field; it stands above `dataclass`.

    Args:
        here: how a changed one is made.
        fields: the same for single fields.
    """

    def decorate(cls: type[_T]) -> type[_T]:
        whole: Any = cls
        whole.__setattr__ = whole.__delattr__ = _refusal(here, fields)
        return cls

    return decorate


def _refusal(here: str, fields: Mapping[str, str]) -> Callable[..., NoReturn]:
    def refuse(self: object, name: str, *_: object) -> NoReturn:
        raise FrozenValueError(type(self).__name__, name, fields.get(name, here))

    return refuse
