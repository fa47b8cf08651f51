"""Plain functions that cannot be traced, or do what NumPy refuses: one error each.

Rules: face.*, index.bounds, staged.*, update.*
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from rule_errors import raises_rule
from scipy import special

import traceir.numpy as jnp
import traceir_numba
from traceir import lax

V = np.arange(4.0)
W = np.arange(12).reshape(3, 4)
FIXED = np.arange(4.0)
FIXED.setflags(write=False)


def put(x: Any, index: Any, value: Any) -> Any:
    """The array, updated."""
    x[index] = value
    return x


def outer(x: Any) -> Any:
    """An update of an array of the function around a loop's body."""

    def body(k: Any, carry: Any) -> Any:
        x[0] = carry
        return carry

    return lax.fori_loop(0, 3, body, 1.0)


def unrolled(x: Any) -> Any:
    """A loop over too many of Python's own values."""
    total = 0.0
    for k in list(range(len(x))):
        total = total + x[k] * 2
    return total


def weighed(x: Any) -> Any:
    """An average by weights, which may add up to zero."""
    return np.average(x, weights=x)


def windows(x: Any) -> Any:
    """A view in which places share elements."""
    return sliding_window_view(x, 2, writeable=True)


def grid(x: Any) -> Any:
    """A grid of a matrix, which NumPy takes for a vector: a view of it, or a copy."""
    (found,) = np.meshgrid(x, copy=False)
    found[0] = 1
    return found


def scalar(x: Any) -> Any:
    """An update of a number."""
    total = np.sum(x)
    total[...] = 1
    return total


def unshared(x: Any) -> Any:
    """A shape that takes a copy, without one."""
    return np.reshape(x.T, (-1,), copy=False)


def noted(x: Any) -> Any:
    """A list with two names that would have one more element."""
    found: list[Any] = []
    other = found
    for value in x:
        if value > 1:
            found.append(value)
    return other


def looked_up(x: Any) -> Any:
    """A loop over Python's data that a traced value ends."""
    for name, limit in {"low": 1, "high": 3}.items():
        if x[0] < limit:
            return name
    return "over"


def named(x: Any) -> Any:
    """A name that is a number or a text, read after that was chosen."""
    kind = "none" if x[0] > 0 else 1
    return kind


# The rule, the exception's class, a pattern in its text, the function, its arguments.
BAD: list[tuple[str, type[Exception], str, Callable[..., Any], tuple[Any, ...]]] = [
    ("face.loop", TypeError, "bitwise_and", lambda x: x & 1, (V,)),
    ("face.loop", TypeError, "subtract", lambda x: (x > 1) - (x < 2), (V,)),
    ("face.power", ValueError, r"\*\* -1", lambda x: x**-1, (W,)),
    ("face.function", TypeError, "real_if", lambda x: np.real_if_close(x * 1j), (V,)),
    ("face.function", TypeError, "j0", lambda x: special.j0(x), (V,)),
    ("face.function", TypeError, "reduceat", lambda x: np.add.reduceat(V, x), (W[0],)),
    ("face.meaning", TypeError, "nothing", lambda x: x.sum(nothing=1), (V,)),
    ("face.meaning", TypeError, "view as", lambda x: x.view(np.int64), (V,)),
    ("face.meaning", TypeError, "reshape", lambda x: setattr(x, "shape", (2, 2)), (V,)),
    ("face.cast", TypeError, "float64 to int64", lambda x: np.add(x, 0.5, out=x), (W,)),
    ("face.cast", TypeError, "safe", lambda x: x.astype("i4", casting="safe"), (V,)),
    ("face.out", TypeError, r"\(4,\)", lambda x: np.add(x, 1, out=V), (V.copy(),)),
    ("face.size", ValueError, r"\(3, 2\)", lambda x: x.reshape(3, 2), (V,)),
    ("face.size", ValueError, "copy=False", unshared, (W,)),
    ("face.item", ValueError, r"f64\[4\]", lambda x: x.item(), (V,)),
    ("face.weights", ZeroDivisionError, "weights=x", weighed, (np.zeros(4),)),
    ("face.unrolled", RuntimeError, "total = total", unrolled, (np.zeros(20_000),)),
    ("face.selection", TypeError, "add", lambda x: x[x > 1] + x[x > 2], (V,)),
    ("face.selection", TypeError, "update", lambda x: put(x, x > 1, x[x > 2]), (V,)),
    ("index.mask", IndexError, "iteration", lambda x: list(x[x > 1]), (V,)),
    (
        "index.mask",
        IndexError,
        r"roll(.*\n)+.* in <la",
        lambda x: np.roll(x[x > 1], 1),
        (V,),
    ),
    ("order.size", TypeError, "roots", lambda x: np.roots(x), (V,)),
    ("staged.effect", TypeError, "list", noted, (V,)),
    ("staged.exit", TypeError, "loop over", looked_up, (V,)),
    ("staged.join", TypeError, "str and", named, (V,)),
    ("index.bounds", IndexError, r"\(4,\)", lambda x: x[7], (V,)),
    ("index.bounds", IndexError, r"\(3, 4\)", lambda x: x[:, :, 0], (W,)),
    ("index.bounds", IndexError, r"\(4,\)", lambda x: put(x, 4, 1), (V,)),
    ("update.mask", ValueError, "i64", lambda x: np.place(x, x > 1, [7, 8]), (V,)),
    ("update.shape", ValueError, r"\(3,\)", lambda x: put(x, ..., np.ones(3)), (V,)),
    ("update.shape", ValueError, r"\(2,\)", lambda x: np.add(x, 1, out=x[:2]), (V,)),
    ("update.scalar", TypeError, r"f64\[\]", scalar, (V,)),
    ("update.outer", TypeError, r"f64\[4\]", outer, (V,)),
    ("update.argument", TypeError, "x", lambda x: put(x, 0, 1), (jnp.arange(3),)),
    ("update.readonly", ValueError, "x", lambda x: put(x, 0, 1), (FIXED,)),
    ("update.readonly", ValueError, "", lambda x: put(np.diagonal(x), 0, 1), (W,)),
    ("update.readonly", ValueError, "", lambda x: put(x.imag, 0, 1), (V,)),
    (
        "update.shared",
        ValueError,
        "3,2",
        lambda x: put(windows(x), windows(x) > 1, 1),
        (V,),
    ),
    ("update.layout", ValueError, "x", lambda x: put(x.ravel(), 0, 1), (W.T,)),
    ("update.layout", ValueError, "x", lambda x: put(x.T.ravel(), 0, 1), (W.T,)),
    ("update.layout", ValueError, "x", lambda x: x.strides, (W.T,)),
    ("update.layout", ValueError, "x", lambda x: grid(x), (W.T,)),
    ("update.layout", ValueError, "x", lambda x: x.ravel("K"), (W.T,)),
    ("update.layout", ValueError, "x", lambda x: (x + 1).flatten("A"), (W.T,)),
    ("face.axis", ValueError, "swapaxes", lambda x: np.swapaxes(x, 0, 5), (W,)),
    ("face.meaning", TypeError, "axis2", lambda x: x.swapaxes(0), (W,)),
    ("face.strides", TypeError, "16", lambda x: as_strided(x, (9,), (16,)), (V,)),
    ("update.overlap", ValueError, "y", lambda x, y: put(x, 0, y[1]), (V, V[::-1])),
]


@pytest.mark.parametrize(
    ("rule", "kind", "pattern", "function", "arguments"),
    BAD,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_has_one_error(
    rule: str,
    kind: type[Exception],
    pattern: str,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    before = [np.array(a) for a in arguments]
    with raises_rule(rule, kind, pattern):
        traceir_numba.jit(function)(*arguments)
    for array, was in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(array, was)


def test_arguments_are_not_updated_where_that_is_refused() -> None:
    allowed = traceir_numba.jit(put, static_argnames="index")
    refusing = traceir_numba.jit(put, static_argnames="index", write_arguments=False)
    x = np.zeros(3)
    allowed(x, 1, 2.0)
    assert x.tolist() == [0, 2, 0]
    with raises_rule("update.refused", TypeError, "put writes to x"):
        refusing(x, 1, 3.0)
    assert x.tolist() == [0, 2, 0]


def choosing(x: Any) -> Any:
    """A function whose result has a shape that depends on its argument."""
    return x + 1 if x[0] > 0 else x[:2]


def test_a_fallback_is_asked_for_and_loud() -> None:
    with raises_rule("staged.join", TypeError, "f64.4. and f64.2."):
        traceir_numba.jit(choosing)(V)
    function = traceir_numba.jit(choosing, fallback="numpy")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            assert function(V).tolist() == V[:2].tolist()
        assert function(V + 1).tolist() == [2, 3, 4, 5]
    assert [w.filename for w in caught] == [__file__] * 2
    assert "staged.join" in str(caught[0].message)


def test_a_fallback_is_known() -> None:
    with raises_rule("face.fallback", ValueError, "'python'"):
        traceir_numba.jit(choosing, fallback="python")


def test_values_without_a_common_type_on_three_sides_are_refused() -> None:
    def chosen(x: Any) -> Any:
        if x[0] > 0:
            pair = [1.0, x[1]]
        elif x[1] > 0:
            pair = [3.0, x[0]]
        else:
            pair = [5.0, 6.0]
        return pair[0] + x[1]

    with raises_rule("staged.join", TypeError, "pair: list and list"):
        traceir_numba.jit(chosen)(np.array([-1.0, 1.0]))
