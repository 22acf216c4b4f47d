"""Numbers in lanes, made known to numba: one number of each of several configurations, in registers of the processor.

A kernel whose memory is in lanes is compiled for them as it stands: sums, products, comparisons and what is below act
lane by lane, and no lane sees another one. A comparison gives a mask, which has no truth value: a branch on a number
is an error of compilation. The compiler takes IEEE 754 at its word: each lane has the bits of the scalar operation.
"""

from __future__ import annotations

import importlib
import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar

from .cache import lanes_wanted

_numba: Any = importlib.import_module("numba")
_extending: Any = importlib.import_module("numba.extending")
_ir: Any = importlib.import_module("llvmlite.ir")
_cgutils: Any = importlib.import_module("numba.core.cgutils")
_imputils: Any = importlib.import_module("numba.core.imputils")
_templates: Any = importlib.import_module("numba.core.typing.templates")
_safe: Any = importlib.import_module("numba.core.typeconv").Conversion.safe
_types: Any = _numba.types
_float, _int, _bool = _types.float64, _types.int64, _types.boolean


LANES = lanes_wanted()
"""Number of lanes."""
_vector = _ir.VectorType(_ir.DoubleType(), LANES)
_bits = _ir.VectorType(_ir.IntType(64), LANES)
_truths = _ir.VectorType(_ir.IntType(1), LANES)


class LanesType(_types.Type):
    """Type of a number in lanes; a plain number meets it as the same in all lanes."""

    def __init__(self) -> None:
        _types.Type.__init__(self, name=f"lanes({LANES})")

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Whether a number of another type becomes one of this."""
        return _safe if isinstance(other, _types.Float | _types.Integer) else None


class MaskType(_types.Type):
    """Type of what a comparison of them says."""

    def __init__(self) -> None:
        _types.Type.__init__(self, name=f"mask({LANES})")

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Whether a truth value of another type becomes one of this."""
        return _safe if isinstance(other, _types.Boolean) else None


lanes: Any = LanesType()
mask: Any = MaskType()


def is_in_lanes(kind: Any) -> bool:
    """Whether a type is a number in lanes, a mask, or a pointer to such numbers."""
    return kind == lanes or kind == mask or (isinstance(kind, _types.CPointer) and kind.dtype == lanes)


def _model(of: Any, value: Any) -> None:
    class InRegisters(_extending.models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            _extending.models.PrimitiveModel.__init__(self, manager, kind, value)

    _extending.register_model(of)(InRegisters)


_model(LanesType, _vector)
_model(MaskType, _truths)


def _same_in_all(builder: Any, x: Any, kind: Any) -> Any:
    nothing = _ir.Constant(kind, _ir.Undefined)
    one = builder.insert_element(nothing, x, _ir.Constant(_ir.IntType(32), 0))
    return builder.shuffle_vector(one, nothing, _ir.Constant(_ir.VectorType(_ir.IntType(32), LANES), [0] * LANES))


def _number(context: Any, builder: Any, x: Any, kind: Any) -> Any:
    """A number in lanes, whatever it was."""
    return x if kind == lanes else _same_in_all(builder, context.cast(builder, x, kind, _float), _vector)


def _truth(context: Any, builder: Any, x: Any, kind: Any) -> Any:
    """A mask, whatever it was."""
    return x if kind == mask else _same_in_all(builder, context.cast(builder, x, kind, _bool), _truths)


@_imputils.lower_cast(_types.Float, LanesType)
@_imputils.lower_cast(_types.Integer, LanesType)
def _cast_number(context: Any, builder: Any, kind: Any, to: Any, x: Any) -> Any:
    return _number(context, builder, x, kind)


@_imputils.lower_cast(_types.Boolean, MaskType)
def _cast_truth(context: Any, builder: Any, kind: Any, to: Any, x: Any) -> Any:
    return _truth(context, builder, x, kind)


def _named(name: str) -> Callable[..., Any]:
    """One of LLVM's own functions of numbers."""

    def make(builder: Any, *given: Any) -> Any:
        kind = f"v{LANES}f64" if given[0].type == _vector else "f64"
        function = _ir.FunctionType(given[0].type, [one.type for one in given])
        return builder.call(_cgutils.get_or_insert_function(builder.module, function, f"llvm.{name}.{kind}"), given)

    return make


def _pairs(kind: Any, others: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    return [(kind, kind)] + [pair for other in others for pair in ((kind, other), (other, kind))]


def _teach(what: Any, result: Any, arguments: list[tuple[Any, ...]], make: Callable[..., Any]) -> None:
    """Have numba know what an operation gives for these types, and how its code is made."""

    class Template(_templates.ConcreteTemplate):
        cases: ClassVar[Any] = [_templates.signature(result, *kinds) for kinds in arguments]

    _templates.infer_global(what)(Template)
    as_lanes = _truth if arguments[0][0] == mask else _number

    def lower(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        pairs = zip(given, signature.args, strict=True)
        return make(builder, *(as_lanes(context, builder, x, kind) for x, kind in pairs))

    for kinds in arguments:
        _imputils.lower_builtin(what, *kinds)(lower)


def _comparison(sign: str) -> Callable[..., Any]:
    def make(builder: Any, x: Any, y: Any) -> Any:
        return (builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered)(sign, x, y)

    return make


def _teach_all() -> None:
    pairs, truths = _pairs(lanes, (_float, _int)), _pairs(mask, (_bool,))
    arithmetic = {"add": "fadd", "sub": "fsub", "mul": "fmul", "truediv": "fdiv"}
    for name, made_by in arithmetic.items():
        for what in (name, f"i{name}"):
            _teach(getattr(operator, what), lanes, pairs, _method(made_by))
    for name, sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
        _teach(getattr(operator, name), mask, pairs, _comparison(sign))
    for name, made_by in {"and_": "and_", "or_": "or_", "iand": "and_", "ior": "or_"}.items():
        _teach(getattr(operator, name), mask, truths, _method(made_by))
    _teach(operator.neg, lanes, [(lanes,)], _method("fneg"))
    _teach(math.sqrt, lanes, [(lanes,)], _named("sqrt"))
    _teach(abs, lanes, [(lanes,)], _named("fabs"))
    for what, sign in ((min, "<"), (max, ">")):  # as Python's: the second one where it is less, or more
        _teach(what, lanes, pairs, _better(sign))


def _method(name: str) -> Callable[..., Any]:
    def make(builder: Any, *given: Any) -> Any:
        return getattr(builder, name)(*given)

    return make


def _better(sign: str) -> Callable[..., Any]:
    def make(builder: Any, x: Any, y: Any) -> Any:
        return builder.select(builder.fcmp_ordered(sign, y, x), y, x)

    return make


if LANES > 1:
    _teach_all()


# What has no name in Python. Each is a function of numba's code for one number and for lanes.


def _kind_of(*kinds: Any) -> Any:
    return lanes if any(map(is_in_lanes, kinds)) else _float


@_extending.intrinsic
def chosen(context: Any, m: Any, x: Any, y: Any) -> Any:
    """As `jit.chosen`."""
    kinds = [_types.unliteral(kind) for kind in (m, x, y)]
    of = _kind_of(*kinds)

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        pairs = zip(given[1:], signature.args[1:], strict=True)
        if of == lanes:
            x, y = (_number(target, builder, a, kind) for a, kind in pairs)
        else:
            x, y = (target.cast(builder, a, kind, _float) for a, kind in pairs)
        return builder.select(given[0], x, y)

    return of(*kinds), generate


def _of_mask(make: Callable[[Any, Any], Any], result: Any) -> Any:
    def intrinsic(context: Any, m: Any) -> Any:
        kind = mask if m == mask else _bool

        def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
            return make(builder, given[0])

        return (kind if result is None else result)(kind), generate

    return _extending.intrinsic(intrinsic)


def _as_one_integer(builder: Any, m: Any) -> Any:
    return builder.bitcast(m, _ir.IntType(LANES)) if m.type == _truths else m


def _is_not_zero(builder: Any, m: Any) -> Any:
    one = _as_one_integer(builder, m)
    return builder.icmp_unsigned("!=", one, one.type(0))


def _opposite(builder: Any, m: Any) -> Any:
    return builder.not_(m)


def _as_bits(builder: Any, m: Any) -> Any:
    return builder.zext(_as_one_integer(builder, m), _ir.IntType(64))


off = _of_mask(_opposite, None)
any_of = _of_mask(_is_not_zero, _bool)
which_of = _of_mask(_as_bits, _int)


def _of_numbers(count: int, make: Callable[..., Any], gives_truth: bool = False) -> Any:
    def typed(*kinds: Any) -> Any:
        of = _kind_of(*kinds)

        def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
            return make(target, builder, *given)

        return ((mask if of == lanes else _bool) if gives_truth else of)(*([of] * count)), generate

    def of_one(context: Any, x: Any) -> Any:
        return typed(x)

    def of_two(context: Any, x: Any, y: Any) -> Any:
        return typed(x, y)

    return _extending.intrinsic(of_one if count == 1 else of_two)


def _integers(x: Any) -> Any:
    return _bits if x.type == _vector else _ir.IntType(64)


def _all(kind: Any, number: int) -> Any:
    return _ir.Constant(kind, [number] * LANES if kind == _bits else number)


def _odd(target: Any, builder: Any, x: Any) -> Any:
    kind = _integers(x)
    return builder.icmp_signed("!=", builder.and_(builder.bitcast(x, kind), _all(kind, 1)), _all(kind, 0))


def _signed(target: Any, builder: Any, turns: Any, x: Any) -> Any:
    kind = _integers(x)
    sign = builder.shl(builder.and_(builder.bitcast(turns, kind), _all(kind, 2)), _all(kind, 62))
    return builder.bitcast(builder.xor(builder.bitcast(x, kind), sign), x.type)


def _same(target: Any, builder: Any, x: Any, y: Any) -> Any:
    return builder.icmp_signed("==", builder.bitcast(x, _integers(x)), builder.bitcast(y, _integers(y)))


def _by_name(name: str) -> Callable[..., Any]:
    def make(target: Any, builder: Any, x: Any) -> Any:
        return _named(name)(builder, x)

    return make


def _one_by_one(function: Any) -> Callable[..., Any]:
    """A function of the C library, lane for lane."""

    def make(target: Any, builder: Any, *given: Any) -> Any:
        signature = _templates.signature(_float, *([_float] * len(given)))
        call = target.get_function(function, signature)
        if given[0].type != _vector:
            return call(builder, given)
        found = _ir.Constant(_vector, _ir.Undefined)
        for n in range(LANES):
            lane = _ir.Constant(_ir.IntType(32), n)
            one = call(builder, [builder.extract_element(x, lane) for x in given])
            found = builder.insert_element(found, one, lane)
        return found

    return make


is_odd = _of_numbers(1, _odd, gives_truth=True)
signed = _of_numbers(2, _signed)
has_same_bits = _of_numbers(2, _same, gives_truth=True)
rounded = _of_numbers(1, _by_name("rint"))
ceiling = _of_numbers(1, _by_name("ceil"))
sine_by_library = _of_numbers(1, _one_by_one(math.sin))
cosine_by_library = _of_numbers(1, _one_by_one(math.cos))
exponential_by_library = _of_numbers(1, _one_by_one(math.exp))
logarithm_by_library = _of_numbers(1, _one_by_one(math.log))


def _fused(of_signs: Callable[[Any, Any, Any], tuple[Any, Any]], of_integers: Callable[[Any, Any, Any], Any]) -> Any:
    """A product and a sum, of numbers rounded once. `of_signs` gives what is multiplied first, and what is added."""

    def intrinsic(context: Any, x: Any, y: Any, z: Any) -> Any:
        kinds = [_types.unliteral(kind) for kind in (x, y, z)]
        numbers = any(is_in_lanes(kind) or isinstance(kind, _types.Float) for kind in kinds)
        of = _kind_of(*kinds) if numbers else _int

        def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
            pairs = list(zip(given, signature.args, strict=True))
            if of == lanes:
                x, y, z = (_number(target, builder, one, kind) for one, kind in pairs)
            else:
                x, y, z = (target.cast(builder, one, kind, of) for one, kind in pairs)
            if of == _int:
                return of_integers(builder, builder.mul(x, y), z)
            x, z = of_signs(builder, x, z)
            return _named("fma")(builder, x, y, z)

        return of(*kinds), generate

    return _extending.intrinsic(intrinsic)


plus_product = _fused(lambda builder, x, z: (x, z), lambda builder, xy, z: builder.add(z, xy))
"""x y + z."""
minus_product = _fused(lambda builder, x, z: (builder.fneg(x), z), lambda builder, xy, z: builder.sub(z, xy))
"""z - x y."""
product_minus = _fused(lambda builder, x, z: (x, builder.fneg(z)), lambda builder, xy, z: builder.sub(xy, z))
"""x y - z."""


@_extending.intrinsic
def count_of(context: Any, numbers: Any) -> Any:
    """As `jit.count_of`."""

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        return target.get_constant(_int, LANES if is_in_lanes(numbers) else 1)

    return _int(numbers), generate


@_extending.intrinsic
def one_by_one(context: Any, numbers: Any) -> Any:
    """As `jit.one_by_one`."""
    to = _types.CPointer(_float)

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.bitcast(given[0], target.get_value_type(to))

    return to(numbers), generate
