"""Names that do not exist: a typed error with what there is, and how it is said here; names of a part's fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import wraps
from inspect import Parameter, getattr_static, signature
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, ParamSpec, TypeVar, final

from .errors import CallError, FrozenValueError, NoAttributeError, OperatorError, UnknownNameError

_P = ParamSpec("_P")
_T = TypeVar("_T")

Unknown = Callable[[str, str, tuple[str, ...]], Exception]
"""From a function, the name of an argument that it does not have, and the names that it has, to the error."""


def names_checked(hint: str = "", /, **meant: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """A function that answers arguments it does not have, too many and too few, with its own.

    Args:
        hint: what is meant where arguments are too many or too few.
        meant: names of other libraries, and how the same is said here.
    """

    def unknown(who: str, name: str, own: tuple[str, ...]) -> Exception:
        words = f"{who} has no argument '{name}'" + (f": {meant[name]}" if name in meant else "")
        return UnknownNameError(f"argument of {who}", name, own, words)

    return answered(unknown, hint)


def given_in(record: type, argument: str = "options") -> dict[str, str]:
    """For `names_checked`: names that are no arguments of a function, but fields of a record that it takes.

    Args:
        record: a dataclass.
        argument: the argument that is one.
    """
    return {each.name: f"{argument}={record.__name__}({each.name}=...)" for each in fields(record)}


def record_by_name(cls: type[_T]) -> type[_T]:
    """A frozen dataclass of fields that are given by name; it answers names that are no fields, and the setting of one.

    It stands above `dataclass`.
    """
    whole: Any = cls
    whole.__init__ = names_checked(f"fields are given by name, {cls.__name__}({fields(whole)[0].name}=...)")(
        whole.__init__
    )
    return unchanging("make a changed copy with dataclasses.replace")(cls)


def answered(unknown: Unknown, hint: str = "") -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """The same, with an error of one's own for arguments that the function does not have.

    The signature stays what it is. A call that fits costs 0.3 us more: it is looked at only after a TypeError, and one
    of the function's own is passed on.

    Args:
        unknown: makes the error.
        hint: what is meant where arguments are too many or too few.
    """

    def decorate(function: Callable[_P, _T]) -> Callable[_P, _T]:
        @wraps(function)
        def checked(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            try:
                return function(*args, **kwargs)
            except TypeError:
                _refuse(function, args, kwargs, unknown, hint)
                raise

        return checked

    return decorate


def _refuse(
    function: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, Any], unknown: Unknown, hint: str
) -> None:
    """Refuse a call that does not fit the signature.

    Raises:
        CallError: too many arguments, or too few.
        Exception: what `unknown` makes.
    """
    whole = signature(function)
    own = {name: each for name, each in whole.parameters.items() if name not in ("self", "cls")}
    who: str = getattr(function, "__qualname__", "function").removesuffix(".__init__")
    name = getattr(function, "__name__", "")
    if "self" in whole.parameters and args and name != "__init__":
        who = f"{type(args[0]).__name__}.{name}"  # of the object's own class, not of a base
    for name in kwargs:
        if name not in own and not any(each.kind is Parameter.VAR_KEYWORD for each in own.values()):
            raise unknown(who, name, tuple(own)) from None
    try:
        whole.bind(*args, **kwargs)
    except TypeError as error:
        bare = [each.replace(annotation=Parameter.empty, default=Parameter.empty) for each in own.values()]
        call = f"{who}{whole.replace(parameters=bare, return_annotation=Parameter.empty)}"
        raise CallError(call, str(error), hint) from None


def can_be_called(function: Callable[..., object], *args: object) -> bool:
    """Whether a user's function takes these arguments; true of those that do not say what they take.

    Args:
        function: the function.
        *args: the arguments.
    """
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
        _meant: names that people try, and how the same is said here.
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
        words: how the same is said.
    """

    def __init__(self, words: str) -> None:
        self._words = words

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

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


def _no_sum(words: str) -> Callable[[object, object], NoReturn]:
    def refuse(self: object, other: object) -> NoReturn:
        raise OperatorError(f"{type(self).__name__} + {type(other).__name__}", words)

    return refuse


def absent(words: Mapping[str, str]) -> Callable[[type[_T]], type[_T]]:
    """A class that answers some names, and the operator +, that it does not have; `dir` does not list them.

    Args:
        words: such a name, or "+" -> how the same is said.
    """

    def decorate(cls: type[_T]) -> type[_T]:
        for name, said in words.items():
            if name == "+":
                cls.__add__ = _no_sum(said)  # pyright: ignore[reportAttributeAccessIssue]
                continue
            what = Absent(said)
            what.__set_name__(cls, name)
            setattr(cls, name, what)
        cls.__dir__ = lambda self: _there(type(self), object.__dir__(self))  # tab completion shows what there is
        return cls

    return decorate


def closed(here: str, /, **fields: str) -> Callable[[type[_T]], type[_T]]:
    """A class whose public attributes are set by `__init__` alone and that answers later ones, misspelt ones too.

    Private ones, and `__dict__`, stay its own business. Reading costs nothing more.

    Args:
        here: how a changed one is made.
        fields: the same for single attributes.
    """

    def set_field(self: Any, name: str, value: object) -> None:
        if name[0] != "_" and self._closed:
            raise FrozenValueError(type(self).__name__, name, fields.get(name, here))
        object.__setattr__(self, name, value)

    def delete_field(self: Any, name: str) -> NoReturn:
        raise FrozenValueError(type(self).__name__, name, fields.get(name, here))

    def decorate(cls: type[_T]) -> type[_T]:
        whole: Any = cls
        make = whole.__init__

        @wraps(make)
        def make_and_close(self: Any, *args: Any, **kwargs: Any) -> None:
            make(self, *args, **kwargs)
            self._closed = True

        whole._closed = False  # an attribute: a look into __dict__ would make attributes slower to read
        whole.__init__, whole.__setattr__, whole.__delattr__ = make_and_close, set_field, delete_field
        return cls

    return decorate


def unchanging(here: str, /, **fields: str) -> Callable[[type[_T]], type[_T]]:
    """A frozen dataclass, or a class with slots, that answers the setting of a field; it stands above `dataclass`.

    Args:
        here: how a changed one is made.
        fields: the same for single fields.
    """

    def refuse(self: object, name: str, *_: object) -> NoReturn:
        raise FrozenValueError(type(self).__name__, name, fields.get(name, here))

    def decorate(cls: type[_T]) -> type[_T]:
        whole: Any = cls
        whole.__setattr__ = whole.__delattr__ = refuse
        return cls

    return decorate
