"""Results where `out_sharding` says. Cites: sharding.out, sharding.explicit,
sharding.divides, sharding.mesh, sharding.rank"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from eight_devices import eight_devices as eight_devices
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax, nn, ops, random
from traceir.sharding import Mesh, NamedSharding, P, SingleDeviceSharding

KEY = random.key(0)
X, ROWS = jnp.arange(16.0).reshape(8, 2), jnp.arange(8)
SUMS = (X, ROWS // 2, 8)
MODULES = (lax, jnp, jnp.linalg, nn.initializers, ops, random)
# How functions of several operands are called, each for a result of eight rows.
CALLS: dict[str, Callable[..., Any]] = {
    "arange": lambda f, **at: f(8, **at),
    "array": lambda f, **at: f(X, **at),
    "asarray": lambda f, **at: f(X, **at),
    "ball": lambda f, **at: f(KEY, 2, 2.0, (8,), **at),
    "beta": lambda f, **at: f(KEY, 1.0, 2.0, (8,), **at),
    "bincount": lambda f, **at: f(ROWS, length=8, **at),
    "broadcast": lambda f, **at: f(1.0, (8,), **at),
    "broadcast_in_dim": lambda f, **at: f(1.0, (8,), (), **at),
    "broadcast_to": lambda f, **at: f(1.0, (8,), **at),
    "broadcasted_iota": lambda f, **at: f("int32", (8,), 0, **at),
    "categorical": lambda f, **at: f(KEY, X, **at),
    "conv_general_dilated": lambda f, **at: f(
        jnp.ones((8, 1, 4)), jnp.ones((1, 1, 4)), (1,), "VALID", **at
    ),
    "dirichlet": lambda f, **at: f(KEY, jnp.ones(2), (8,), **at),
    "dot": lambda f, **at: f(X, X.T, **at),
    "dot_general": lambda f, **at: f(X, X, (((1,), (1,)), ((), ())), **at),
    "einsum": lambda f, **at: f("ij,kj->ik", X, X, **at),
    "f": lambda f, **at: f(KEY, 2.0, 3.0, (8,), **at),
    "full": lambda f, **at: f((8,), 1.0, **at),
    "full_like": lambda f, **at: f(X, 1.0, **at),
    "matmul": lambda f, **at: f(X, X.T, **at),
    "multivariate_normal": lambda f, **at: f(KEY, jnp.zeros(2), jnp.eye(2), (8,), **at),
    "ones_like": lambda f, **at: f(X, **at),
    "orthogonal": lambda f, **at: f(KEY, 8, **at),
    "percentile": lambda f, **at: f(X, 50, axis=1, **at),
    "permutation": lambda f, **at: f(KEY, X, **at),
    "ragged_dot": lambda f, **at: f(X, jnp.ones((2, 2, 3)), jnp.array([4, 4]), **at),
    "randint": lambda f, **at: f(KEY, (8,), 0, 9, **at),
    "ravel": lambda f, **at: f(X, **at),
    "reduce": lambda f, **at: f(X, 0.0, lax.add, (1,), **at),
    "reduce_sum": lambda f, **at: f(X, (1,), **at),
    "repeat": lambda f, **at: f(X, 2, axis=0, **at),
    "reshape": lambda f, **at: f(X, (16,), **at),
    "segment_max": lambda f, **at: f(*SUMS, **at),
    "segment_min": lambda f, **at: f(*SUMS, **at),
    "segment_prod": lambda f, **at: f(*SUMS, **at),
    "segment_sum": lambda f, **at: f(*SUMS, **at),
    "tensordot": lambda f, **at: f(X, X.T, axes=1, **at),
    "triangular": lambda f, **at: f(KEY, 0.0, 0.5, 1.0, (8,), **at),
    "truncated_normal": lambda f, **at: f(KEY, 0.0, 0.5, (8,), **at),
    "zeros_like": lambda f, **at: f(X, **at),
}
OF_A_FORM = ("chisquare", "gamma", "generalized_normal", "geometric", "loggamma")
OF_A_FORM += ("bernoulli", "lognormal", "pareto", "poisson", "rayleigh", "t", "wald")


def sharded() -> list[tuple[str, Callable[..., Any]]]:
    """The functions that have the parameter, and how each is called."""
    found = []
    for module in MODULES:
        for name in getattr(module, "__all__", dir(module)):
            function = getattr(module, name)
            if not inspect.isfunction(function) or name.startswith("_"):
                continue
            if "out_sharding" not in inspect.signature(function).parameters:
                continue
            if name in OF_A_FORM:
                call: Any = lambda f, **at: f(KEY, 0.5, (8,), **at)  # noqa: E731 # one line of the table above
            elif module in (random, nn.initializers) and name not in CALLS:
                call = lambda f, **at: f(KEY, (8,), **at)  # noqa: E731 # as above
            else:
                call = CALLS.get(name, lambda f, **at: f((8,), **at))
            found.append((f"{module.__name__}.{name}", _bound(call, function)))
    return found


def _bound(call: Any, function: Any) -> Callable[..., Any]:
    return lambda **at: call(function, **at)


def _mesh() -> Mesh:
    return traceir.make_mesh((4, 2), ("x", "y"))


def test_every_function_that_takes_it_lays_its_result_out_so() -> None:
    rows, calls = NamedSharding(_mesh(), P("x")), sharded()
    wrong = []
    for name, call in calls:
        plain, laid = call(), call(out_sharding=rows)
        same = np.array_equal(plain, laid) and plain.dtype == laid.dtype
        if not same or laid.sharding != rows or len(laid.addressable_shards) != 8:
            wrong.append(name)
    assert wrong == [] and len(calls) >= 70


def test_by_place_where_jax_has_it_so() -> None:
    rows = NamedSharding(_mesh(), P("x"))
    laid = [
        ops.segment_sum(*SUMS, False, False, None, None, rows),
        nn.initializers.zeros(KEY, (8,), None, rows),
        lax.reduce(X, 0.0, lax.add, (1,), rows),
    ]
    assert [array.sharding for array in laid] == [rows] * 3


def test_methods_of_arrays() -> None:
    rows = NamedSharding(_mesh(), P("x"))
    found = [
        X.flatten(out_sharding=rows),
        X.ravel(out_sharding=rows),
        ROWS.repeat(2, out_sharding=rows),
        X.at[0].set(1.0, out_sharding=rows),
        X.at[0].multiply(1.0, out_sharding=rows),
        X.at[jnp.array([1] * 8)].get(out_sharding=rows),
    ]
    assert [array.sharding for array in found] == [rows] * 6


def test_a_spec_is_of_the_mesh_that_is_set() -> None:
    with traceir.set_mesh(_mesh()):
        assert jnp.zeros(8, out_sharding=P("x")).sharding.spec == P("x")
    with raises_rule("sharding.mesh", RuntimeError, "zeros"):
        jnp.zeros(8, out_sharding=P("x"))


def test_it_is_checked_inside_a_traced_function() -> None:
    rows = NamedSharding(_mesh(), P("x"))
    found = traceir.jit(lambda x: jnp.dot(x, x.T, out_sharding=rows))(X)
    assert np.array_equal(found, X @ X.T)
    with raises_rule("sharding.divides", ValueError, "the result of dot"):
        traceir.jit(lambda x: jnp.dot(x[:3], x.T, out_sharding=rows))(X)


@pytest.mark.parametrize(
    "rule, kind, shape, place",
    [
        ("sharding.out", TypeError, (8,), lambda: 3),
        ("sharding.out", TypeError, 8, lambda: SingleDeviceSharding(_first())),
        ("sharding.divides", ValueError, 7, lambda: NamedSharding(_mesh(), P("x"))),
        ("sharding.rank", ValueError, (), lambda: NamedSharding(_mesh(), P("x"))),
        (
            "sharding.explicit",
            ValueError,
            8,
            lambda: NamedSharding(Mesh(traceir.devices(), "x"), P("x")),
        ),
    ],
)
def test_refused(rule: str, kind: type, shape: Any, place: Any) -> None:
    with raises_rule(rule, kind, "zeros"):
        jnp.zeros(shape, out_sharding=place())


def _first() -> Any:
    """The first device."""
    return traceir.devices()[0]
