"""Functions of NumPy's whose result has the shape, or the dtype, that values decide.

And what else the state of NumPy decides: errors for faults of floats. Cites order.size,
index.size, jit.raising
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba
from traceir.errors import TraceirError

Function = Callable[..., Any]

# Operands of one type and shape, of which functions may make one thing or another.
KINDS: dict[str, list[Any]] = {
    "v": [
        np.array(v) for v in ([1.0, 2, 3], [0.0, 2, 3], [0.0, 0, 0], [1.0, np.nan, 0])
    ],
    "c": [
        np.array(v) for v in ([1j, 2, 3], [0j, 0, 0], [1 + 1j, 1 - 1j, 2], [2j, 1, 1])
    ],
    "i": [np.array(v) for v in ([1, 2, 3], [0, 2, 3], [0, 0, 0], [-1, 2, 2])],
    "b": [np.array(v) for v in ([True, False, True], [False] * 3)],
    "m": [
        np.array(v, float)
        for v in ([[2, 1], [1, 3]], [[0, 1], [-1, 0]], [[0, 0], [0, 0]])
    ],
    "s": [np.float64(v) for v in (2, 0, -1)],
    "n": [np.int64(v) for v in (2, 0, -1)],
}
CALLS = ("v", "c", "i", "b", "m", "s", "n", "vv", "ii", "bv", "mv", "vn", "vs", "mn")
# Functions that write, or that read and show files.
LEFT_OUT = ("empty", "put", "copyto", "fill_diagonal", "place", "err", "buf", "save")
SHOWN = ("show", "info", "test", "load", "from", "memmap", "repr", "2string", "_str")
NONE = ("resize", "format_float", "printoptions", "print", "setflags", "dump", "tofile")


def named() -> Iterator[tuple[str, str, Function]]:
    """NumPy's functions and methods: a name, the source of a call, and the function."""
    for home in ("np", "np.linalg", "np.fft", "np.lib.scimath", "np.ndarray"):
        module: Any = eval(home)
        for name in sorted(vars(module)):
            function = getattr(module, name)
            skipped = name.startswith("_") or isinstance(function, (type, np.ufunc))
            if skipped or not callable(function):
                continue
            if any(part in name for part in (*LEFT_OUT, *SHOWN, *NONE)):
                continue
            call = (
                f"a[0].{name}(*a[1:])" if home == "np.ndarray" else f"{home}.{name}(*a)"
            )
            yield f"{home}.{name}", call, function


def typed(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return tuple(map(typed, result))
    return np.asarray(result).dtype.str, np.shape(result)


def called(function: Function, operands: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return typed(function(*(np.copy(v)[()] for v in operands)))
        except Exception as error:
            return error


def by_value(function: Function) -> Iterator[list[tuple[Any, tuple[Any, ...]]]]:
    """The types of results that a function has for operands of the same types."""
    for kinds in CALLS:
        found: dict[Any, tuple[Any, ...]] = {}
        for operands in itertools.product(*(KINDS[kind] for kind in kinds)):
            result = called(function, operands)
            if not isinstance(result, Exception):
                found.setdefault(result, operands)
        if len(found) > 1:
            yield list(found.items())


def test_what_values_decide_is_refused_or_right() -> None:
    wrong, seen = [], set()
    for name, call, function in named():
        namespace: dict[str, Any] = {"np": np}
        exec(f"def program(*a):\n    return {call}", namespace)
        jitted = traceir_numba.jit(namespace["program"])
        for results in by_value(function):
            seen.add(name)
            for wanted, operands in results:
                found = called(jitted, operands)
                refused = isinstance(found, TraceirError)
                if not refused and found != wanted:
                    wrong.append((name, typed(operands), found, wanted))
    # Those of the last give a warning.
    warned = {"np.poly", "np.linalg.eig", "np.linalg.eigvals"}
    assert [w for w in wrong if w[0] not in warned] == []
    assert {
        "np.polymul",
        "np.roots",
        "np.unique",
        "np.ndarray.nonzero",
    } | warned <= seen


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.linalg.eigvals(a),
        lambda a: np.linalg.eig(a)[0],
        lambda a: np.poly(a[0] * 1j),
    ],
)
def test_a_result_that_may_be_real_gives_a_warning(function: Function) -> None:
    a = KINDS["m"][0]
    with pytest.warns(UserWarning, match="is complex here; NumPy's is real") as told:
        found = traceir_numba.jit(function)(a)
    np.testing.assert_allclose(found, function(a))
    assert [w.filename for w in told] == [__file__]


def test_what_is_complex_anyway_gives_none() -> None:
    a = KINDS["m"][1]
    jitted = traceir_numba.jit(lambda a: (np.linalg.eigvals(a + 0j), np.poly(a[0])))
    values, coefficients = jitted(a)
    np.testing.assert_allclose(abs(values), [1, 1], rtol=1e-12)
    assert values.dtype == np.complex128
    np.testing.assert_array_equal(coefficients, np.poly(a[0]))


@pytest.mark.parametrize("name", ["polymul", "polydiv"])
def test_known_polynomials_are_numpys(name: str) -> None:
    def known(x: Any) -> Any:
        return [*getattr(np, name)([2.0, 3], [1, 1]), x]

    with raises_rule("order.size", TypeError, "leading zeros"):
        traceir_numba.jit(lambda x, y: getattr(np, name)(x, y))(*KINDS["v"][:2])
    found, want = traceir_numba.jit(known)(1.0), known(1.0)
    for ours, numpys in zip(found, want, strict=True):
        np.testing.assert_array_equal(ours, numpys)


def test_errors_that_numpy_is_asked_for() -> None:
    def inverse(x: Any) -> Any:
        return 1 / x

    jitted, x = traceir_numba.jit(inverse), np.array([1.0, 0.0])
    compiled = jitted.lower(x).compile()
    falling = traceir_numba.jit(inverse, fallback="numpy")
    for _ in range(3):  # by each way a call is made
        with np.errstate(divide="ignore"):
            assert jitted(x).tolist() == compiled(x).tolist() == [1, np.inf]
        with np.errstate(divide="raise", over="warn"):
            for function in (jitted, compiled):
                with raises_rule("jit.raising", ValueError, r"divide='raise'\)"):
                    function(x)
    with np.errstate(all="raise"):
        with pytest.warns(UserWarning, match="jit.raising"):
            assert falling(x[:1]).tolist() == [1]
        with pytest.warns(UserWarning), pytest.raises(FloatingPointError):
            falling(x)
    assert jitted(x).tolist() == [1, np.inf]
