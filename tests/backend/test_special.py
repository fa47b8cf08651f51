"""Special functions of both columns against mpmath. Rules: accuracy.conditioned

Grids of operands that are hard: near zeros and poles, tiny, huge, of both signs, and at
the ends of ranges. How near is near is what the rows say.
"""

from __future__ import annotations

from itertools import product

import mpmath
import numpy as np
import pytest

import traceir
import traceir_numba
from traceir import lax, oracle
from traceir.dtypes import KEY
from traceir.kernels import KERNELS
from traceir.rules import default
from traceir.trace import bind

INF, NAN = np.inf, np.nan
LINE = [
    *(0.0, -0.0, 1.0, 2.0, 0.5, 1.5, 2.5, 7.9375, 8.0, 8.0625, 1e-300, 1e-20, 1e-5),
    *(1 + 2.0**-50, 2 - 2.0**-50, 1.4616321449683622, 30.0, 171.5, 1e10, 1e200),
    *(-0.5, -1e-20, -0.49999, -1.0, -1.0 + 2.0**-40, -2.4570247382208005, -20.25),
    *(-2.747682646727413, -0.504083008264455, -7.9999, -1e10 - 0.5, INF, -INF, NAN),
]
SHAPES = [0.0, 1e-8, 0.5, 1.0, 3.0, 11.75, 130.0]
POINTS = [0.0, 1e-20, 0.00390625, 0.75, 1.0625, 1.4375, 3.0, 12.5, INF]
ORDERS = [0.0, 1.0, 2.0, 7.0, 40.0, 170.0, 171.0, 2.0**53, 0.5, -1.0, NAN]
AT = [0.001, 0.25, 1.0, 1.125, 9.5, 1e6, -0.25, -7.75, 0.0, -3.0, INF]
EXPONENTS = [
    1.0,
    1.0009765625,
    2.0,
    3.0,
    20.0,
    300.0,
    3001.0,
    1e38,
    1e13,
    0.5,
    INF,
    NAN,
]


def grid(*columns: list[float]) -> list[np.ndarray]:
    """All combinations, a column each."""
    return list(np.array(list(product(*columns))).T.copy())


OPERANDS = {
    **dict.fromkeys(("lgamma", "digamma", "bessel_i0e", "bessel_i1e"), grid(LINE)),
    **dict.fromkeys(("igamma", "igammac"), grid(SHAPES, POINTS)),
    **dict.fromkeys(("igamma_grad_a", "random_gamma_grad"), grid(SHAPES, POINTS)),
    "polygamma": grid(ORDERS, AT),
    "zeta": grid(EXPONENTS, AT),
    "regularized_incomplete_beta": grid(
        [0.0, 0.0625, 1.0, 20.0],
        [0.5, 3.0, 100.0, INF],
        [0.0, 0.01, 0.5, 0.984375, 1.0],
    ),
}


def results(column: str, prim: str, operands: list[np.ndarray]) -> np.ndarray:
    """What a column gives."""
    if column == "reference":
        with np.errstate(all="ignore"):
            found: np.ndarray = KERNELS[prim](*operands)
        return found
    compiled = traceir_numba.jit(lambda *xs: bind(prim, *xs))
    return np.asarray(compiled(*operands))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("column", ["reference", "numba"])
@pytest.mark.parametrize("prim", sorted(OPERANDS))
def test_hard_operands(prim: str, column: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        operands = [x.astype(dtype) for x in OPERANDS[prim]]
    if dtype == "float32":  # so many that the suite stays short
        operands = [x[::5] for x in operands]
    with traceir.enable_x64(True):
        got = results(column, prim, operands)
    assert oracle.faults(prim, {}, operands, [got]) == []


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
    assert oracle.faults("regularized_incomplete_beta", {}, operands, [got]) == []


def test_every_special_function_has_hard_operands() -> None:
    table = default().tables["special"]["prim"]
    assert OPERANDS.keys() == table.keys()


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
    assert oracle.faults("random_gamma", params, operands, [drawn]) == []
