"""Universal functions: their loops, casts and `out`. Serves: face.ufunc, face.cast

NumPy says in which dtypes a function meets its operands and what dtypes its results
have; the function of `traceir.numpy` of the same name computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.base import config
from traceir.face.arrays.aliasing import lay, lay_elementwise, viewed
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.limits import check_length
from traceir.face.arrays.unwrapping import claim_for_writing, unwrapped
from traceir.face.arrays.values import cast, dtype_in, operand_of
from traceir.ir.promotion import canonical_dtype
from traceir.lax.checks.operands import Operand, convert, given
from traceir.numpy.elementwise import standard
from traceir.tracing.trace import typeof

Function = Callable[..., Any]


def _by_zero(function: Function) -> Function:
    """A division as NumPy has it: of integers by 0 it gives 0."""

    def divided(x: Operand, y: Operand) -> Any:
        if typeof(x).dtype.kind == "f":
            return signed(function, function(x, y), x, y)
        zero = jnp.equal(y, 0)
        safe = jnp.where(zero, 1, y)
        found = function(x, safe)
        if isinstance(found, tuple):
            return tuple(jnp.where(zero, 0, part) for part in found)
        return jnp.where(zero, 0, found)

    return divided


def signed(function: Function, found: Any, x: Operand, y: Operand) -> Any:
    """The results of a division of floats, with the signs of zeros as NumPy has them:
    of a remainder that of the divisor, of a quotient that of both operands."""
    if function is jnp.remainder:
        return jnp.copysign(found, y)
    if function is jnp.floor_divide:
        return jnp.copysign(found, jnp.multiply(jnp.copysign(1, x), y))
    if function is jnp.divmod:
        parts = zip((jnp.floor_divide, jnp.remainder), found, strict=True)
        return tuple(signed(part, value, x, y) for part, value in parts)
    return found


def _parts(x: Operand) -> Any:
    """The fraction, of infinities 0, and the whole part, both signed as the number."""
    fraction, whole = jnp.modf(x)
    fraction = jnp.where(jnp.isinf(x), 0, fraction)
    return jnp.copysign(fraction, x), jnp.copysign(whole, x)


def _on_truths(function: Function, truths: Function) -> Function:
    """A function that NumPy takes for another one where the operands are booleans."""

    def applied(x: Operand, y: Operand) -> Any:
        both = typeof(x).dtype.kind == "b"
        return (truths if both else function)(x, y)

    return applied


def _conjugate(x: Operand) -> Any:
    return jnp.conj(x) if typeof(x).dtype.kind == "c" else x


COMPARISONS = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
)
# What the methods of universal functions do; `ufunc_methods` says it.
METHODS: dict[str, Function] = {}

# Functions that mean something else here, or have another name.
OWN: dict[str, Function] = {
    "add": _on_truths(jnp.add, jnp.logical_or),
    "multiply": _on_truths(jnp.multiply, jnp.logical_and),
    "maximum": _on_truths(jnp.maximum, jnp.logical_or),
    "minimum": _on_truths(jnp.minimum, jnp.logical_and),
    "floor_divide": _by_zero(jnp.floor_divide),
    "remainder": _by_zero(jnp.remainder),
    "fmod": _by_zero(jnp.fmod),
    "divmod": _by_zero(jnp.divmod),
    "sign": standard.sign,
    "modf": _parts,
    "spacing": lambda x: jnp.spacing(jnp.add(x, 0)),  # of -0 that of 0
    "conjugate": _conjugate,
}


def function_of(ufunc: np.ufunc) -> Function:
    """The function that computes a universal function.

    Raises TypeError (face.function) where there is none.
    """
    name = ufunc.__name__
    found = OWN.get(name) or getattr(jnp, name, None)
    if found is None or (getattr(np, name, None) is not ufunc and name not in OWN):
        raise rules.error("face.function", got=f"the universal function {name}")
    return found


def apply(
    ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """A universal function, or one of its methods, on arrays of which one is traced.

    Arrays that are known while tracing are NumPy's business.
    """
    given_out = options.get("out")
    out = given_out if isinstance(given_out, tuple) else (given_out,)
    claim_for_writing((*out, *(inputs[:1] if method == "at" else ())))
    try:
        plain = unwrapped(tuple(inputs))
        kept = unwrapped(dict(options))
    except KeyError:
        pass
    else:
        result = getattr(ufunc, method)(*plain, **kept)
        touched = [o for o in (*out, *inputs[:1]) if isinstance(o, NumpyTracer)]
        for array in touched:
            array.touch()
        return viewed(result, touched)
    check_length()
    rest = {name: v for name, v in options.items() if name != "out"}
    if method == "__call__":
        return _call(ufunc, inputs, out, rest)
    found = METHODS[method](ufunc, inputs, rest)
    if out[0] is not None:
        return _stored(ufunc, found, out[0], True, "same_kind")
    return lay(found, getattr(ufunc, method), inputs, rest)


def _call(
    ufunc: np.ufunc,
    inputs: Sequence[Any],
    out: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    where = options.pop("where", True)
    dtype = options.pop("dtype", None)
    casting = options.pop("casting", "same_kind")
    for name in ("order", "subok"):
        options.pop(name, None)
    axis = options.pop("axis", None) if ufunc.signature is not None else None
    if options:
        named = ", ".join(options)
        raise rules.error("face.meaning", got=f"{named} of {ufunc.__name__}")
    results = computed(ufunc, inputs, dtype, axis)
    outs = out if len(out) == len(results) else (None,) * len(results)
    stored = [
        _stored(ufunc, result, into, where, casting)
        for result, into in zip(results, outs, strict=True)
    ]
    return stored[0] if len(stored) == 1 else tuple(stored)


def computed(
    ufunc: np.ufunc, inputs: Sequence[Any], dtype: Any = None, axis: Any = None
) -> list[Any]:
    """The results of a universal function, in NumPy's dtypes."""
    operands = [operand_of(ufunc.__name__, v, k) for k, v in enumerate(inputs)]
    if ufunc.signature is not None:
        return [_product(ufunc, operands, axis)]
    made = _by_element(ufunc, operands, loop_of(ufunc, operands, dtype), inputs)
    for array in made:
        lay_elementwise(array, inputs)
    return made


def _by_element(
    ufunc: np.ufunc, operands: list[Any], dtypes: Sequence[Any], inputs: Sequence[Any]
) -> list[Any]:
    if ufunc is np.power and type(inputs[1]) is int:
        return [_power(operands[0], inputs[1], dtypes[-1])]
    if ufunc in COMPARISONS and any(map(_beyond, operands, dtypes)):
        return [_compared(ufunc, operands)]
    met = [_met(ufunc, v, d) for v, d in zip(operands, dtypes, strict=False)]
    found = function_of(ufunc)(*met)
    results = found if isinstance(found, tuple) else (found,)
    wanted = dtypes[ufunc.nin :]
    return [traced(convert(r, d)) for r, d in zip(results, wanted, strict=True)]


def _beyond(value: Any, dtype: np.dtype) -> bool:
    """True if a Python integer is not one of the dtype."""
    if type(value) is not int or dtype.kind not in "iu":
        return False
    limits = np.iinfo(dtype)
    return not limits.min <= value <= limits.max


def _compared(ufunc: np.ufunc, operands: Sequence[Any]) -> Any:
    """A comparison with an integer that no element can reach: the same everywhere."""
    (shape,) = (typeof(v).shape for v in operands if type(v) is not int)
    plain = [v if type(v) is int else 0 for v in operands]
    return traced(jnp.full(shape, bool(ufunc(*plain))))


def _power(x: Any, exponent: int, dtype: np.dtype) -> Any:
    """A power with an exponent that is known: products of the base.

    Raises ValueError (face.power) for an integer to a negative one.
    """
    if exponent < 0 and dtype.kind in "iu":
        raise rules.error("face.power", got=f"{typeof(x).str_short()} ** {exponent}")
    return traced(jnp.power(convert(x, dtype), exponent))


def loop_of(ufunc: np.ufunc, values: Sequence[Any], dtype: Any = None) -> Sequence[Any]:
    """The dtypes in which NumPy takes the operands and gives the results.

    While 64-bit types are off they are narrowed. Raises TypeError (face.loop) where
    NumPy has no such function.
    """
    kinds = [dtype_in(v) for v in values]
    if not any(isinstance(kind, np.dtype) for kind in kinds):
        kinds = [typeof(v).dtype for v in values]
    asked = [k if isinstance(k, np.dtype) else type(k) for k in kinds]
    outs = ufunc.nout
    options: dict[str, Any] = {"casting": "same_kind"}
    if dtype is not None:
        options["signature"] = (*[None] * ufunc.nin, *[np.dtype(dtype)] * outs)
    try:
        found = ufunc.resolve_dtypes((*asked, *[None] * outs), **options)
    except TypeError as error:
        shown = ", ".join(typeof(v).str_short() for v in values)
        got = f"{ufunc.__name__} of {shown}: {error}"
        raise rules.error("face.loop", got=got) from None
    x64 = config.local.context.x64
    return found if x64 else tuple(canonical_dtype(d, x64) for d in found)


def _met(ufunc: np.ufunc, value: Any, dtype: np.dtype) -> Any:
    if type(value) is int:
        return given(ufunc.__name__, value, dtype)
    return convert(value, dtype)


def _product(ufunc: np.ufunc, operands: list[Any], axis: Any) -> Any:
    """A function of vectors and matrices: `matmul` and its like."""
    meet = np.result_type(*map(dtype_in, operands))
    dtype = canonical_dtype(meet, config.local.context.x64)
    options = {} if axis is None else {"axis": axis}
    met = [convert(v, dtype) for v in operands]
    return traced(function_of(ufunc)(*met, **options))


def _stored(
    ufunc: np.ufunc, result: NumpyTracer, into: Any, where: Any, casting: str
) -> Any:
    """A result, put into the array that was given for it."""
    if into is None:
        if where is True:
            return result
        return traced(jnp.where(where, result, _zero(result)))
    if isinstance(into, np.ndarray):
        raise rules.error("face.out", got=f"an array of shape {into.shape}")
    check_cast(ufunc.__name__, result.dtype, into.dtype, casting)
    if not stretches(result.shape, into.shape):
        got = f"a result of shape {result.shape} for an output of shape {into.shape}"
        raise rules.error("update.shape", got=got)
    value = cast(jnp.broadcast_to(result, into.shape), into.dtype)
    into.store(value if where is True else jnp.where(where, value, into))
    return into


def stretches(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """True if an array of one shape broadcasts to another one.

    >>> stretches((1, 3), (2, 3)), stretches((2, 3), (3,))
    (True, False)
    """
    lead = len(to) - len(shape)
    pairs = zip(shape, to[lead:], strict=False)
    return lead >= 0 and all(n in (1, m) for n, m in pairs)


def _zero(like: NumpyTracer) -> Any:
    return like.dtype.type(0)


def check_cast(name: str, have: np.dtype, want: np.dtype, casting: str) -> None:
    """Raise TypeError (face.cast) unless the rule allows to convert."""
    # NumPy itself checks the text of a casting.
    if not np.can_cast(have, want, casting):  # type: ignore[arg-type]
        got = f"{name} from {have.name} to {want.name} with casting {casting!r}"
        raise rules.error("face.cast", got=got)
