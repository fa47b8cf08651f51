"""Functions of the module `math` on traced numbers.

Serves: python.argument, python.domain, python.overflow

Each is NumPy's function of the same meaning on one number, and gives a number of
Python's. Where Python raises an exception the program does, too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir import numpy as jnp
from traceir.face.arrays.array import traced
from traceir.face.control_flow.iteration import has_steps
from traceir.face.python import written
from traceir.face.python.numbers import (
    as_float,
    as_integer,
    integer,
    is_traced,
    number,
    real,
    require,
    whole,
)
from traceir.tracing.trace import typeof

Function = Callable[..., Any]
Test = Callable[..., Any]


def _infinite(x: Any) -> Any:
    return jnp.equal(jnp.abs(x), jnp.inf)


def _overflows(found: Any, *values: Any) -> Any:
    """True where a result is infinite, and no operand is."""
    finite = [jnp.less(jnp.abs(v), jnp.inf) for v in values]
    return functools.reduce(jnp.logical_and, finite, _infinite(found))


# Functions of a float, with a test of what is outside of their domain.
_DOMAINS: dict[str, tuple[Function, Test | None]] = {
    "sqrt": (jnp.sqrt, lambda x: x < 0),
    "log": (jnp.log, lambda x: x <= 0),
    "log2": (jnp.log2, lambda x: x <= 0),
    "log10": (jnp.log10, lambda x: x <= 0),
    "log1p": (jnp.log1p, lambda x: x <= -1),
    "acos": (jnp.arccos, lambda x: jnp.abs(x) > 1),
    "asin": (jnp.arcsin, lambda x: jnp.abs(x) > 1),
    "acosh": (jnp.arccosh, lambda x: x < 1),
    "atanh": (jnp.arctanh, lambda x: jnp.abs(x) >= 1),
    "sin": (jnp.sin, _infinite),
    "cos": (jnp.cos, _infinite),
    "tan": (jnp.tan, _infinite),
    "atan": (jnp.arctan, None),
    "asinh": (jnp.arcsinh, None),
    "tanh": (jnp.tanh, None),
    "cbrt": (jnp.cbrt, None),
    "erf": (lax.erf, None),
    "erfc": (lax.erfc, None),
    "fabs": (jnp.abs, None),
    "degrees": (jnp.degrees, None),
    "radians": (jnp.radians, None),
}
# Functions whose result may be greater than any float.
_GROWING: dict[str, Function] = {
    "exp": jnp.exp,
    "exp2": jnp.exp2,
    "expm1": jnp.expm1,
    "cosh": jnp.cosh,
    "sinh": jnp.sinh,
    "lgamma": lax.lgamma,
}
_TESTS: dict[str, Function] = {
    "isnan": jnp.isnan,
    "isinf": jnp.isinf,
    "isfinite": jnp.isfinite,
}
_ROUNDINGS: dict[str, Function] = {
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "trunc": lambda x: x,
}


def _operand(value: Any, name: str) -> Any:
    """A float that is an operand of equations."""
    return traced(real(value, f"math.{name}"))


def _of_domain(name: str, function: Function, outside: Test | None) -> Function:
    def found(x: Any, /) -> Any:
        value = _operand(x, name)
        if outside is not None:
            require(outside(value), "python.domain", f"math.{name}")
        return as_float(function(value))

    return found


def _growing(name: str, function: Function) -> Function:
    def found(x: Any, /) -> Any:
        value = _operand(x, name)
        made = function(value)
        require(_overflows(made, value), "python.overflow", f"math.{name}")
        return as_float(made)

    return found


def _test(name: str, function: Function) -> Function:
    return lambda x, /: traced(function(_operand(x, name)), number=True)


def _rounding(name: str, function: Function) -> Function:
    def found(x: Any, /) -> Any:
        value = number(x, f"math.{name}", "biuf")
        if typeof(value).dtype.kind != "f":
            return as_integer(value)
        return whole(function(value), f"math.{name}")

    return found


def _log(x: Any, base: Any = None, /) -> Any:
    found = _LOG(x)
    return found if base is None else as_float(jnp.divide(found, _logarithm(base)))


def _logarithm(base: Any) -> Any:
    return _LOG(base) if is_traced(base) else math.log(base)


_LOG = _of_domain("log", *_DOMAINS["log"])


def _pow(x: Any, y: Any, /) -> Any:
    x, y = _operand(x, "pow"), _operand(y, "pow")
    found = jnp.power(x, y)
    pole = jnp.logical_and(jnp.equal(x, 0), y < 0)
    numbers = jnp.logical_not(jnp.logical_or(jnp.isnan(x), jnp.isnan(y)))
    nowhere = jnp.logical_and(jnp.isnan(found), numbers)
    poles = jnp.logical_and(pole, y > -jnp.inf)
    require(jnp.logical_or(poles, nowhere), "python.domain", "math.pow")
    grows = jnp.logical_and(_overflows(found, x, y), jnp.logical_not(pole))
    require(grows, "python.overflow", "math.pow")
    return as_float(found)


def _fmod(x: Any, y: Any, /) -> Any:
    x, y = _operand(x, "fmod"), _operand(y, "fmod")
    numbers = jnp.logical_not(jnp.logical_or(jnp.isnan(x), jnp.isnan(y)))
    bad = jnp.logical_or(jnp.equal(y, 0), _infinite(x))
    require(jnp.logical_and(bad, numbers), "python.domain", "math.fmod")
    return as_float(jnp.fmod(x, y))


def _binary(name: str, function: Function) -> Function:
    return lambda x, y, /: as_float(function(_operand(x, name), _operand(y, name)))


def _hypot(*coordinates: Any) -> Any:
    values = [_operand(c, "hypot") for c in coordinates]
    return as_float(functools.reduce(jnp.hypot, values, jnp.zeros(())))


def _dist(p: Sequence[Any], q: Sequence[Any], /) -> Any:
    return _hypot(*(a - b for a, b in zip(p, q, strict=True)))


def _modf(x: Any, /) -> Any:
    fraction, rest = jnp.modf(_operand(x, "modf"))
    return as_float(fraction), as_float(rest)


def _frexp(x: Any, /) -> Any:
    fraction, exponent = jnp.frexp(_operand(x, "frexp"))
    return as_float(fraction), as_integer(exponent)


def _ldexp(x: Any, i: Any, /) -> Any:
    value, exponent = _operand(x, "ldexp"), traced(integer(i, "math.ldexp"))
    small = jnp.clip(exponent, -3000, 3000).astype(np.int32)
    found = jnp.ldexp(value, small)
    require(_overflows(found, value), "python.overflow", "math.ldexp")
    return as_float(found)


def _isclose(a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Any:
    a, b = _operand(a, "isclose"), _operand(b, "isclose")
    most = rel_tol * jnp.maximum(jnp.abs(a), jnp.abs(b))
    near = jnp.abs(a - b) <= jnp.maximum(most, abs_tol)
    finite = jnp.logical_and(jnp.isfinite(a), jnp.isfinite(b))
    found = jnp.logical_or(jnp.equal(a, b), jnp.logical_and(near, finite))
    return traced(found, number=True)


def _of_integers(name: str, function: Function, empty: int) -> Function:
    def found(*integers: Any) -> Any:
        values = [integer(v, f"math.{name}") for v in integers]
        return as_integer(functools.reduce(function, values, np.int64(empty)))

    return found


def _isqrt(n: Any, /) -> Any:
    value = traced(integer(n, "math.isqrt"))
    require(value < 0, "python.domain", "math.isqrt")
    root = as_integer(jnp.sqrt(value.astype(np.float64)))
    # The root of the nearest float may be one off.
    root = root - jnp.greater(root, value // jnp.maximum(root, 1))
    return as_integer(root + jnp.less_equal(root + 1, value // (root + 1)))


_FACTORIALS = np.array([math.factorial(n) for n in range(21)])


def _factorial(n: Any, /) -> Any:
    value = traced(integer(n, "math.factorial"))
    require(value < 0, "python.domain", "math.factorial")
    require(value > 20, "python.overflow", "math.factorial")
    return as_integer(jnp.take(_FACTORIALS, value, mode="clip"))


def _comb(n: Any, k: Any, /) -> Any:
    return written.combinations(
        as_integer(integer(n, "math.comb")), as_integer(integer(k, "math.comb"))
    )


def _perm(n: Any, k: Any = None, /) -> Any:
    if k is None:
        return _factorial(n)
    return written.permutations(
        as_integer(integer(n, "math.perm")), as_integer(integer(k, "math.perm"))
    )


def _prod(iterable: Any, /, *, start: Any = 1) -> Any:
    return written.product(iterable, start)


def _refused(name: str, function: Function) -> Function:
    """A function that no equation computes."""

    def called(*args: Any, **options: Any) -> Any:
        if _depends(args):
            hint = "compute it outside of the function and pass the result"
            raise rules.error("face.function", got=f"math.{name}", hint=hint)
        return function(*args, **options)

    return called


def _depends(args: Sequence[Any]) -> bool:
    parts = [p for a in args for p in (a if isinstance(a, (list, tuple)) else (a,))]
    return is_traced(*parts) or any(
        has_steps(p) and not isinstance(p, range) for p in parts
    )


def _seen(function: Function, own: Function) -> Function:
    """Python's function where no operand is traced, else its stand-in."""

    @functools.wraps(own)
    def called(*args: Any, **options: Any) -> Any:
        return (function if _depends(args) else own)(*args, **options)

    return called


def _made() -> dict[str, Function]:
    found: dict[str, Function] = {}
    for name, (function, outside) in _DOMAINS.items():
        found[name] = _of_domain(name, function, outside)
    found |= {name: _growing(name, f) for name, f in _GROWING.items()}
    found |= {name: _test(name, f) for name, f in _TESTS.items()}
    found |= {name: _rounding(name, f) for name, f in _ROUNDINGS.items()}
    found |= {
        "atan2": _binary("atan2", jnp.arctan2),
        "copysign": _binary("copysign", jnp.copysign),
        "nextafter": _binary("nextafter", jnp.nextafter),
        "gcd": _of_integers("gcd", jnp.gcd, 0),
        "lcm": _of_integers("lcm", jnp.lcm, 1),
        "log": _log,
        "pow": _pow,
        "fmod": _fmod,
        "hypot": _hypot,
        "dist": _dist,
        "modf": _modf,
        "frexp": _frexp,
        "ldexp": _ldexp,
        "isclose": _isclose,
        "isqrt": _isqrt,
        "factorial": _factorial,
        "comb": _comb,
        "perm": _perm,
        "prod": _prod,
    }
    return found


def _table() -> dict[Function, Function]:
    made, table = _made(), {}
    for name, own in vars(math).items():
        if callable(own) and not name.startswith("_"):
            table[own] = _seen(made.get(name) or _refused(name, own), own)
    return table


FUNCTIONS = _table()
