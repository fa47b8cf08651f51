"""Refusals of functions of distributions. Rules: random.*"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import random
from traceir.errors import ConcretizationTypeError

KEY = random.key(0)
TWO, THREE = jnp.ones(2), jnp.ones(3)
EYE = jnp.eye(3)

BAD: list[tuple[str, type[Exception], str, Callable[[], Any]]] = [
    (
        "random.floating",
        ValueError,
        "int32 for gamma",
        lambda: random.gamma(KEY, 1.0, dtype=int),
    ),
    (
        "random.floating",
        ValueError,
        "int8 for laplace",
        lambda: random.laplace(KEY, (2,), "int8"),
    ),
    (
        "random.counted",
        ValueError,
        "float32 for poisson",
        lambda: random.poisson(KEY, 3.0, dtype=float),
    ),
    (
        "random.counted",
        ValueError,
        "float32 for geometric",
        lambda: random.geometric(KEY, 0.5, (3,), float),
    ),
    (
        "face.integers",
        TypeError,
        "float32 for randint",
        lambda: random.randint(KEY, (3,), 0, 10, float),
    ),
    (
        "random.shape",
        ValueError,
        r"gamma of \(2,\) for a result of \(3,\)",
        lambda: random.gamma(KEY, TWO, (3,)),
    ),
    (
        "random.shape",
        ValueError,
        r"beta of \(2,\) and \(3,\)",
        lambda: random.beta(KEY, TWO, THREE),
    ),
    (
        "random.shape",
        ValueError,
        r"\(2,\) and \(\) for a result of \(3,\)",
        lambda: random.randint(KEY, (3,), jnp.arange(2), 10),
    ),
    (
        "random.shape",
        ValueError,
        "categorical",
        lambda: random.categorical(KEY, jnp.ones((2, 3)), shape=(3,)),
    ),
    (
        "random.probability",
        TypeError,
        "int32",
        lambda: random.bernoulli(KEY, 1, (3,)),
    ),
    (
        "random.population",
        ValueError,
        "6 of 5 for choice",
        lambda: random.choice(KEY, 5, (6,), replace=False),
    ),
    ("random.population", ValueError, "2 of 0", lambda: random.choice(KEY, 0, (2,))),
    (
        "random.population",
        ValueError,
        "4 of 3 for categorical",
        lambda: random.categorical(KEY, THREE, shape=(4,), replace=False),
    ),
    (
        "random.weights",
        ValueError,
        r"\(3,\) for 5 entries",
        lambda: random.choice(KEY, 5, (2,), p=THREE),
    ),
    ("random.entries", TypeError, "float32", lambda: random.permutation(KEY, 5.0)),
    ("face.axis", ValueError, "axis 1", lambda: random.permutation(KEY, 5, axis=1)),
    (
        "random.covariance",
        ValueError,
        r"\(3, 3\) with a mean of shape \(2,\)",
        lambda: random.multivariate_normal(KEY, TWO, EYE),
    ),
    (
        "face.least-rank",
        ValueError,
        "mean",
        lambda: random.multivariate_normal(KEY, 0.0, EYE),
    ),
    (
        "face.least-rank",
        ValueError,
        "cov",
        lambda: random.multivariate_normal(KEY, TWO, TWO),
    ),
    ("face.least-rank", ValueError, "alpha", lambda: random.dirichlet(KEY, 1.0)),
    (
        "face.choice",
        ValueError,
        "method='lu'",
        lambda: random.multivariate_normal(KEY, THREE, EYE, method="lu"),
    ),
    ("face.choice", ValueError, "mode='x'", lambda: random.gumbel(KEY, mode="x")),
    (
        "face.choice",
        ValueError,
        "mode='x' of bernoulli",
        lambda: random.bernoulli(KEY, mode="x"),
    ),
    ("random.extents", ValueError, r"\(-4,\) for", lambda: random.normal(KEY, -4)),
    (
        "random.extents",
        ValueError,
        r"\(2, -1\)",
        lambda: random.bernoulli(KEY, 0.5, (2, -1)),
    ),
    ("random.extents", ValueError, "-1 and 2", lambda: random.orthogonal(KEY, -1, m=2)),
    (
        "face.axis",
        ValueError,
        "3",
        lambda: random.choice(KEY, THREE, (2,), axis=3),
    ),
    ("face.axis", ValueError, "4", lambda: random.permutation(KEY, EYE, axis=4)),
    ("face.argument", TypeError, "list", lambda: random.permutation(KEY, [1, 2])),
    ("face.shape", TypeError, r"2\.5", lambda: random.maxwell(KEY, (2.5,))),
    (
        "random.one",
        ValueError,
        "poisson",
        lambda: random.poisson(random.split(KEY), 1.0),
    ),
    (
        "random.key",
        TypeError,
        "for exponential",
        lambda: random.exponential(3),
    ),
]


@pytest.mark.parametrize(("rule", "kind", "pattern", "call"), BAD)
def test_what_is_refused(
    rule: str, kind: type[Exception], pattern: str, call: Callable[[], Any]
) -> None:
    with raises_rule(rule, kind, pattern):
        call()


def test_a_shape_that_is_traced() -> None:
    def draw(n: Any) -> Any:
        return random.categorical(KEY, THREE, shape=[n])

    text = "the argument n"
    with raises_rule("face.shape", TypeError, text):
        traceir.jit(draw)(3)


@pytest.mark.parametrize("name", ["permutation", "choice"])
def test_a_number_of_entries_that_is_traced(name: str) -> None:
    function = getattr(random, name)
    with pytest.raises(ConcretizationTypeError):
        traceir.jit(lambda n: function(KEY, n))(np.int32(5))
