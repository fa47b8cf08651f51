"""Special functions of both columns against mpmath. Rules: accuracy.conditioned

Operands that are hard, near zeros and poles, tiny, huge, of both signs, where methods
change: `ulp.hard` has them, and a file what is exact. How near is near is what the rows
say.
"""

from __future__ import annotations

from itertools import product

import mpmath
import numpy as np
import pytest
from ulp import hard

import traceir
import traceir_numba
from traceir import lax
from traceir.dtypes import KEY
from traceir.exact.reals import Real
from traceir.oracle import scalar_interpreter
from traceir.oracle.accuracy import Goal, member
from traceir.reference.kernels import KERNELS
from traceir.rules import default
from traceir.tracing.trace import bind

INF, NAN = np.inf, np.nan
ENDS = [0.0, -0.0, 1.0, -1.0, -3.0, 2.5, -1e10 - 0.5, INF, -INF, NAN]
ROW = default().tables["special"]["prim"]


def grid(*columns: list[float]) -> list[np.ndarray]:
    """All combinations, a column each."""
    return list(np.array(list(product(*columns))).T.copy())


# Where there is no formula to compute: zeros, infinities, operands out of range.
OUTSIDE = {
    **dict.fromkeys(("lgamma", "digamma", "bessel_i0e", "bessel_i1e"), grid(ENDS)),
    **dict.fromkeys(("igamma", "igammac"), grid(ENDS, [*ENDS[:4], INF, NAN])),
    "igamma_grad_a": grid(ENDS[2:], [0.0, -1.0, INF, NAN]),
    "random_gamma_grad": grid(ENDS[2:], [0.0, -1.0, INF, NAN]),
    "polygamma": grid([0.0, 2.0, 7.0, 2.0**53, 0.5, -1.0, NAN], [0.0, -3.0, INF, NAN]),
    "zeta": grid([1.0, 2.0, 3.0, 1e38, 0.5, INF, NAN], [0.0, -3.0, 1.0, -0.25, INF]),
    "regularized_incomplete_beta": grid(
        [0.0, 1.0, INF, -1.0], [0.0, 0.5, INF], [0.0, 0.5, 1.0, 2.0, NAN]
    ),
}


def results(column: str, prim: str, operands: list[np.ndarray]) -> np.ndarray:
    """The results of a column."""
    if column == "reference":
        with np.errstate(all="ignore"):
            found: np.ndarray = KERNELS[prim](*operands)
        return found
    compiled = traceir_numba.jit(lambda *xs: bind(prim, *xs))
    return np.asarray(compiled(*operands))


def misses(
    prim: str,
    dtype: str,
    got: np.ndarray,
    wanted: list[Real],
    ulps: float | None = None,
) -> list[str]:
    """The results that are not in the set that the row says, by the file's values.

    With `ulps`, in that of so many units in the last place.
    """
    row, kind = default().prims[prim], np.dtype(dtype)
    operands, _ = hard.read(prim, dtype)
    found = []
    for k, (value, want) in enumerate(zip(got, wanted, strict=True)):
        goal = Goal(want, kind, ulps or row.ulp[dtype], {})
        if not member(row.accuracy, goal, value):
            found.append(f"{[float(x[k]) for x in operands]}: {value} for {want}")
    return found


@pytest.mark.parametrize("dtype", hard.DTYPES)
@pytest.mark.parametrize("column", ["reference", "numba"])
@pytest.mark.parametrize("prim", sorted(hard.PRIMITIVES))
def test_hard_operands(prim: str, column: str, dtype: str) -> None:
    operands, wanted = hard.read(prim, dtype)
    with traceir.enable_x64(True):
        got = results(column, prim, operands)
    assert misses(prim, dtype, got, wanted) == []


def units(prim: str, dtype: str) -> float:
    """The least power of 2 that no error of either column exceeds on hard operands."""
    operands, wanted = hard.read(prim, dtype)
    ulps = 0.5
    for column in ("reference", "numba"):
        with traceir.enable_x64(True):
            got = results(column, prim, operands)
        while misses(prim, dtype, got, wanted, ulps):
            ulps *= 2
    return ulps


# Functions that have one bound, and how many times as large it is as what was measured.
GROUPS = {
    ("lgamma", "digamma", "bessel_i0e", "bessel_i1e"): 2,
    ("zeta", "polygamma", "igamma", "igammac"): 2,
    ("igamma_grad_a", "random_gamma_grad", "regularized_incomplete_beta"): 4,
}


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0])
def test_the_bound_is_a_multiple_of_what_was_measured(group: tuple[str, ...]) -> None:
    prims = default().prims
    bound = GROUPS[group] * max(units(prim, "float64") for prim in group)
    assert {prim: prims[prim].ulp["float64"] for prim in group} == dict.fromkeys(
        group, bound
    )
    for prim in group:
        assert prims[prim].ulp["float32"] == prims["sin"].ulp["float32"]
        assert units(prim, "float32") <= prims[prim].ulp["float32"] / 4


def test_every_special_function_is_of_a_group() -> None:
    assert sorted(p for group in GROUPS for p in group) == sorted(hard.PRIMITIVES)


@pytest.mark.parametrize("column", ["reference", "numba"])
@pytest.mark.parametrize("prim", sorted(OUTSIDE))
def test_operands_that_have_no_formula(prim: str, column: str) -> None:
    operands = OUTSIDE[prim]
    with traceir.enable_x64(True):
        got = results(column, prim, operands)
    assert scalar_interpreter.faults(prim, {}, operands, [got]) == []


@pytest.mark.parametrize("prim", sorted(hard.PRIMITIVES))
def test_the_file_says_what_the_rows_say(prim: str) -> None:
    """Some lines of each block; the whole file is written anew by its script."""
    for dtype in hard.DTYPES:
        operands, wanted = hard.read(prim, dtype)
        assert len(wanted) >= 25
        of, _ = hard.PRIMITIVES[prim]
        for k in range(0, len(wanted), 29):
            exact = of(*(Real.of(float(x[k])) for x in operands))
            again = hard.told(hard.shown(exact), "0")
            assert (again.value, again.special) == (wanted[k].value, wanted[k].special)


# Where one parameter of the incomplete beta function is tiny, or the share is.
SHARES = [
    (2.3, 2e-4, 0.9995),
    (1e-9, 0.75, 1e-30),
    (0.4375, 1e-5, 1 - 2.0**-40),
    (1.0, 3.0, 1e-10),
    (2.5, 4.75, 1e-9),
    (85.0, 1.40625, 0.971),
    (3.3125, 180.25, 0.0259),
    (400.0, 1e-6, 0.25),
    (0.25, 1e-12, 1e-300),
    (198.0, 199.5, 0.5),
    (1e-5, 1e7, 1e-7),
]


@pytest.mark.parametrize("column", ["reference", "numba"])
def test_incomplete_beta_functions_of_uneven_parameters(column: str) -> None:
    operands = list(np.array(SHARES).T.copy())
    operands = [
        np.append(x, y) for x, y in zip(operands, [*operands[1::-1], 1 - operands[2]])
    ]
    with traceir.enable_x64(True):
        got = results(column, "regularized_incomplete_beta", operands)
    assert (
        scalar_interpreter.faults("regularized_incomplete_beta", {}, operands, [got])
        == []
    )


def test_every_special_function_has_hard_operands() -> None:
    assert OUTSIDE.keys() == hard.PRIMITIVES.keys() == ROW.keys()


def moved(a: float, x: float) -> mpmath.mpf:
    """The change of a gamma sample with its shape."""
    change = mpmath.diff(lambda b: mpmath.gammainc(b, 0, x, regularized=True), a)
    return -change * mpmath.gamma(a) * mpmath.exp(x) * x ** (1 - a)


DERIVATIVES = {
    "lgamma": (lax.lgamma, mpmath.loggamma, [0.25, 1.0, 5.5, 40.0]),
    "digamma": (lax.digamma, mpmath.digamma, [0.25, 1.5, 5.5, 40.0]),
    "bessel_i0e": (
        lax.bessel_i0e,
        lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)),
        [0.25, -3.0, 9.0],
    ),
    "bessel_i1e": (
        lax.bessel_i1e,
        lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)),
        [0.25, -3.0, 9.0],
    ),
    "polygamma": (
        lambda x: lax.polygamma(2.0, x),
        lambda x: mpmath.psi(2, x),
        [0.25, 3.0, 30.0],
    ),
    "igamma by x": (
        lambda x: lax.igamma(2.5, x),
        lambda x: mpmath.gammainc(2.5, 0, x, regularized=True),
        [0.25, 2.0, 10.0],
    ),
    "igamma by a": (
        lambda a: lax.igamma(a, 2.5),
        lambda a: mpmath.gammainc(a, 0, 2.5, regularized=True),
        [0.25, 2.0, 10.0],
    ),
    "igammac by a": (
        lambda a: lax.igammac(a, 2.5),
        lambda a: mpmath.gammainc(a, 2.5, regularized=True),
        [0.25, 2.0, 10.0],
    ),
    "random_gamma_grad": (
        lambda x: lax.random_gamma_grad(2.5, x),
        lambda x: moved(2.5, x),
        [0.25, 2.0, 10.0],
    ),
    "betainc": (
        lambda x: lax.betainc(2.5, 0.75, x),
        lambda x: mpmath.betainc(2.5, 0.75, 0, x, regularized=True),
        [0.125, 0.5, 0.875],
    ),
}


@pytest.mark.parametrize("name", sorted(DERIVATIVES))
def test_derivatives(name: str) -> None:
    function, real, places = DERIVATIVES[name]
    with traceir.enable_x64(True), mpmath.workdps(40):
        for x in places:
            wanted = float(mpmath.re(mpmath.diff(real, x)))
            assert np.isclose(float(traceir.grad(function)(x)), wanted, rtol=1e-12)


def test_a_sample_moves_so_that_its_share_stays() -> None:
    with traceir.enable_x64(True):
        a, x, step = 3.5, 2.25, 1e-6
        moved = x + step * float(lax.random_gamma_grad(a, x))
        shares = lax.igamma(a, x), lax.igamma(a + step, moved)
        assert abs(float(shares[0]) - float(shares[1])) < 1e-12


@pytest.mark.parametrize(
    ("dtype", "form"), [("float16", 1e-2), ("float32", 1e-2), ("float64", 1e-3)]
)
def test_gamma_numbers_that_are_nearly_zero_are_those_of_their_keys(
    dtype: str, form: float
) -> None:
    words = np.arange(60, dtype=np.uint32).reshape(30, 2)
    params = {"log_space": False, "partitionable": True}
    with traceir.enable_x64(True):
        forms = np.full(30, form, dtype)
        keys = traceir.random.wrap_key_data(traceir.numpy.asarray(words))
        drawn = np.asarray(bind("random_gamma", keys, forms, **params))
    operands = [words.view(KEY).reshape(30), forms]
    assert np.count_nonzero(drawn < np.finfo(dtype).smallest_normal)
    assert scalar_interpreter.faults("random_gamma", params, operands, [drawn]) == []
