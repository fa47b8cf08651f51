"""Arguments that are known by demand, as Numba's users write functions of sizes.

Cites: face.demand, cache.key.known
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule
from size_programs import PROGRAMS, Count, M, Mode, X

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir.base.config import local
from traceir.jit.cache.known_arguments import MANY_VALUES
from traceir.jit.function import JitFunction, Options
from traceir.jit.hot_path.raw_keys import raw_key

Function = Callable[..., Any]


def plain(function: Function, **options: Any) -> JitFunction:
    """The function as the decorator traces it, run by the reference."""
    chosen: dict[str, Any] = {"face": "numpy", "x64": True, "numpy_out": True}
    return JitFunction(function, None, None, Options("reference", **chosen, **options))


def demanded(function: JitFunction) -> set[str]:
    """The arguments that calls of a function have demanded."""
    return set(function._cache.known.arguments)


def assert_same(got: Any, wanted: Any) -> None:
    if isinstance(wanted, (list, tuple)):
        assert type(got) is type(wanted)
        assert len(got) == len(wanted)
        for a, b in zip(got, wanted, strict=True):
            assert_same(a, b)
    else:
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
        assert np.shape(got) == np.shape(wanted)


# -- programs as they are written for Numba --------------------------------------------


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_with_sizes(function: Function) -> None:
    """The guard is tried, too, and so are the runners by value."""
    names, calls = PROGRAMS[function]
    f = traceir_numba.jit(function)
    for repeats in (4, 1, 1):
        for args in calls:
            for _ in range(repeats):
                assert_same(f(*args), function(*args))
    assert demanded(f) == names
    assert f.cache_info().misses <= len(calls)


# -- every function of NumPy's that takes a size, an axis or a place -------------------

NEEDED = """
np.zeros(k) | np.zeros((k, 2)) | np.ones((k, k)) | 0 * np.empty(k) | np.full((2, k), k)
np.eye(k) | np.eye(3, k=k) | np.identity(k) | np.tri(k) | np.arange(k) | np.arange(1, k)
np.arange(0.0, 1.0, k / 4) | np.linspace(0, 1, k) | np.logspace(0, 1, k) | np.hanning(k)
np.indices((k, 2)) | np.tile(x, k) | np.repeat(m, k, axis=1) | np.pad(m, (k, 1))
np.diff(x, k) | np.split(x, k) | np.array_split(x, [k, k + 2]) | np.reshape(x, (k, -1))
x.reshape(k, -1) | x.reshape((k, 12 // k)) | m.sum(axis=k - 2) | np.max(m, axis=k - 2)
np.sum(m, axis=(k - 2, 1 - (k - 2))) | np.cumsum(m, k - 2) | np.sort(m, axis=k - 2)
np.flip(m, k - 2) | np.expand_dims(x, k - 2) | np.swapaxes(m, 0, k - 2)
m.argmax(k - 2) | np.concatenate((m, m), axis=k - 2) | np.stack((m, m), k - 2)
np.triu(m, k) | m.repeat(k) | np.diag(x, k) | np.trace(m, k) | np.rot90(m, k)
np.broadcast_to(x, (k, 12)) | np.histogram(x, bins=k)[0] | np.convolve(x, np.ones(k))
np.partition(x, k) | np.linalg.norm(m, axis=k - 2) | np.fft.rfft(x, n=k)
np.fft.fftfreq(k) | np.vander(x, k) | np.round(x / 7, k) | x[:k] | x[k:] | x[::k]
x[-k:] | x[1 : k + 1] | m[k - 1, :k] | x[None, :k] | {2: 1.0, 3: 2.0}[k]
[1.0, 2.0, 3.0, 4.0][k] | (1.0, 2.0, 3.0)[:k] | [x] * k | k * [x]
[x for _ in range(k)] | tuple(range(k)) | np.zeros(len(range(k))) | [k] * range(9)[k]
np.array([j * 2.0 for j in range(k)]) | np.mgrid[0:k, 0:2] | np.r_[0:k, x]
np.triu_indices(k) | np.fromfunction(lambda a, b: a + b, (k, 2))
np.add.reduce(m, axis=k - 2) | np.zeros([k, k]) | np.zeros_like(x, shape=(k,))
np.zeros((k, *m.shape)) | np.zeros(k * 2 + 1) | np.zeros(k >> 1)
np.flatnonzero(np.arange(12) < k) | np.unique(np.arange(9) // k)
len(f"{k}") | len(str(k)) | len("%d" % k) | k in {2, 4}
np.kron(np.eye(k), np.ones((2, 1))) | np.random.default_rng(0).normal(size=k)
np.random.default_rng(0).permutation(k)
"""
NOT_NEEDED = """
k.bit_length() | float(k) | int(k) | min(k, 2) | max(k, 2) | round(k)
np.linspace(0, k, 5) | np.roll(x, k) | np.take(x, k) | np.delete(x, k) | np.append(x, k)
np.broadcast_to(k, (3,)) | np.percentile(x, k) | np.interp(k, x, x) | np.clip(x, 0, k)
np.power(x, k) | x**k | np.where(x > k, x, k) | np.searchsorted(x, k) | x[k]
m[:, k - 1] | np.array([k, 1]) | np.array([x[0], k]) | np.asarray(k) | np.float64(k)
np.full_like(x, k) | np.sum([k, 1]) | abs(k) | divmod(k, 2) | k // 2 | k % 2 | k >> 1
k & 1 | ~k | -k | k / 2 | k**0.5 | k == 2 | k is None | isinstance(k, int)
np.isscalar(k) | type(k) is int | len(x) // k | np.var(x, ddof=k - 2)
np.random.default_rng(0).integers(0, k, 4) | np.sum(x, where=x > k)
"""


def expressions(text: str) -> Iterator[str]:
    for line in text.strip().splitlines():
        yield from (part.strip() for part in line.split(" | "))


@pytest.mark.parametrize("needed", [True, False])
def test_what_demands_and_what_does_not(needed: bool) -> None:
    wrong: list[Any] = []
    for text in expressions(NEEDED if needed else NOT_NEEDED):
        function = eval(f"lambda x, m, k: {text}", {"np": np})
        f = plain(function)
        for k in (2, 3):
            try:
                assert_same(f(X, M, k), function(X, M, k))
            except BaseException as error:
                wrong.append((text, k, repr(error)))
        if demanded(f) != ({"k"} if needed else set()):
            wrong.append((text, "demands", demanded(f)))
    assert wrong == []


# -- what is never known by demand -----------------------------------------------------


def head() -> Function:
    """A function of its own, with its own cache."""
    return lambda a, n: np.roll(a[:n], 0)


@pytest.mark.parametrize("n", [np.array(3), jnp.asarray(3)])
def test_arrays_are_never_known(n: Any) -> None:
    f = plain(head())
    for _ in range(2):
        with raises_rule("slice.length", TypeError, "argument n"):
            f(X, n)
    assert_same(f(X, 3), X[:3])
    with raises_rule("slice.length", TypeError, "argument n"):
        f(X, n)


@pytest.mark.parametrize(
    "place", [np.s_[1:3], np.s_[::-1], np.s_[..., None], np.s_[1:], slice(np.int64(2))]
)
def test_slices_are_known_at_once(place: Any) -> None:
    f = plain(lambda a, place: a[place] + 1)
    for _ in range(2):
        assert_same(f(X, place), X[place] + 1)
    assert f.cache_info().misses == 1 and not demanded(f)
    assert f(X, slice(0, 1)).shape != f(X, slice(0, True + 1)).shape


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.bool])
def test_numpys_integers_are_known_by_demand(kind: Any) -> None:
    f = plain(lambda a, n: np.zeros(n + 1, a.dtype) + n)
    for n in (0, 1, 1, 0):
        assert_same(f(X, kind(n)), np.zeros(n + 1) + n)
    assert f.cache_info().misses == 2 and demanded(f) == {"n"}
    assert f(X, np.int32(1)).dtype == f(X, 1).dtype == X.dtype


def test_values_that_depend_on_elements_are_never_known() -> None:
    with raises_rule("slice.length", TypeError, "arguments a and n"):
        plain(lambda a, n: np.fft.fft(a[: a.argmin() + n]))(X, 3)


def test_a_number_that_is_drawn_demands_nothing() -> None:
    rng = np.random.default_rng(0)
    with raises_rule("slice.length", TypeError):
        plain(lambda a, n: np.fft.fft(a[: rng.integers(0, n)]))(X, 3)


def test_the_other_face_demands_nothing() -> None:
    with raises_rule("index.slice", IndexError, "argument n"):
        traceir.jit(head())(X, 3)
    with raises_rule("jit.argument", TypeError):
        traceir.jit(lambda a, how: a)(X, "sum")


def test_a_traced_number_of_a_transform_is_not_known() -> None:
    with raises_rule("slice.length", TypeError, "argument n"):
        traceir.vmap(lambda n: plain(head())(X, n).sum())(np.arange(3))


# -- functions that call functions -----------------------------------------------------


def test_an_inner_function_demands_of_the_outer_one() -> None:
    inner = plain(head())
    outer = plain(lambda a, n: 2 * inner(a, n + 1))
    for n in (2, 3, 2):
        assert_same(outer(X, n), 2 * X[: n + 1])
    assert demanded(outer) == demanded(inner) == {"n"}
    assert outer.cache_info()[:3] == (1, 2, 2)


def test_a_closure_demands_of_the_function_around() -> None:
    outer = plain(lambda a, n: plain(lambda v: v[:n])(a))
    for n in (2, 3):
        assert_same(outer(X, n), X[:n])


def test_the_other_face_around_is_served() -> None:
    inner = plain(head())
    found = traceir.grad(lambda v: inner(v, 3).sum())(X.astype("float32"))
    assert_same(found, (X < 4).astype("float32"))


# -- the cache -------------------------------------------------------------------------


def test_a_value_is_traced_once() -> None:
    f = plain(head())
    for n in (2, 3, 2, 3, True):
        assert_same(f(X, n), X[:n])
    assert f.cache_info()[:3] == (2, 3, 3)  # True and 1 are two values


@pytest.mark.parametrize("how", [Mode.ONE, Count.TWO, "sum", len, (2, "sum"), None])
def test_what_is_known_has_a_raw_key(how: Any) -> None:
    f = plain(lambda a, how: a)
    for _ in range(2):
        assert_same(f(X, how), X)
    assert raw_key(local.context, (X, how), {}, None) in f._fast


def test_a_sign_of_zero_is_a_value_of_its_own() -> None:
    f = plain(lambda a, z: (a[: int(z)], np.copysign(1.0, z)))
    for _ in range(2):
        assert f(X, 0.0)[1] == 1
        assert f(X, -0.0)[1] == -1
    assert f.cache_info().misses == 2


def test_a_demand_is_no_trace_that_counts() -> None:
    f = plain(head(), max_traces=2)
    assert_same((f(X, 2), f(X, 3)), (X[:2], X[:3]))
    with raises_rule("cache.max_traces", RuntimeError, "argument n was 3"):
        f(X, 4)


def test_explain_shows_what_is_known() -> None:
    f = plain(head())
    f(X, 2)
    found = f.explain(X, 2).splitlines()
    assert found[0] == "hit"
    assert found[1].startswith("argument n is known, 2: its value is needed at ")
    assert "return lambda a, n: np.roll(a[:n], 0)" in found[1]
    missed = f.explain(X, 3).splitlines()
    assert missed[0] == "miss: cache.key.known: argument n was 2 (int), now 3 (int)"
    f.clear_cache()
    assert f.explain(X, 3) == "miss: no trace of this function yet"


def test_stages_leave_out_what_is_known() -> None:
    f = traceir_numba.jit(head())
    assert "slice[limit_indices=(3,)" in str(f.trace(X, 3).jaxpr)
    assert f.eval_shape(X, 3).shape == (3,)
    assert "slice" in f.source(X, 3)
    compiled = f.lower(X, 3).compile()
    assert_same(compiled(X), X[:3])
    with raises_rule("jit.compiled-tree", TypeError, "n is known, and left out"):
        compiled(X, 3)


def test_many_values_are_told_once() -> None:
    f = plain(head())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(MANY_VALUES + 3):
            f(X, n)
    (one,) = caught
    assert one.filename == __file__
    for said in ("<lambda>", "argument n", "a[:n]", "hint: ", "[face.demand]"):
        assert said in str(one.message)
    assert len(str(one.message).splitlines()) < 10


# -- what the function does besides ----------------------------------------------------


def test_arguments_are_written_to() -> None:
    def fill(a: Any, n: int) -> None:
        for i in range(n):
            a[i] = -i
        a[:n] *= 2

    f = traceir_numba.jit(fill)
    for n in (3, 5, 5, 5, 5):
        mine, numpys = X.copy(), X.copy()
        f(mine, n)
        fill(numpys, n)
        assert_same(mine, numpys)


def test_lists_are_changed_once() -> None:
    f = plain(lambda found, n: found.append(np.zeros(n)))
    found: list[Any] = []
    f(found, 2)
    f(found, 3)
    assert [len(a) for a in found] == [2, 3]


def test_no_handler_of_exceptions_stops_a_demand() -> None:
    def careful(a: Any, n: int) -> Any:
        try:
            return a[:n]
        except Exception:
            return a

    assert_same(plain(careful)(X, 2), X[:2])


def test_a_trace_that_ends_by_a_demand_has_set_up_nothing() -> None:
    tables: dict[str, Any] = {}

    def prepared(a: Any, n: int) -> Any:
        if "size" not in tables:
            tables["size"] = len(tables)
        return a[: n + tables["size"]]

    assert_same(plain(prepared)(X, 2), X[:2])
    assert tables == {"size": 0}


def test_parameters_of_every_kind() -> None:
    def f(a: Any, *sizes: int, axis: int = 0, **options: float) -> Any:
        return np.zeros(sizes).sum(axis=axis) + options["extra"] + a[0]

    jitted = plain(f)
    for axis in (0, 1, 0):
        assert_same(jitted(X, 3, 4, axis=axis, extra=1), f(X, 3, 4, axis=axis, extra=1))
    assert demanded(jitted) == {"sizes[0]", "sizes[1]", "axis"}


def test_the_fallback_is_not_needed() -> None:
    f = traceir_numba.jit(head(), fallback="numpy")
    assert_same(f(X, 3), X[:3])


def test_the_error_of_a_value_that_cannot_be_known_is_short() -> None:
    with raises_rule("staged.exit", TypeError):
        plain(_left_by_elements)(X, 2)


def _left_by_elements(a: Any, n: int) -> Any:
    for w in [a, a + 1]:
        if a[0] > n:
            break
        a = a + w
    return a
