"""Parameters of public functions: each is read, or stands below with a reason.

Rules: face.no-out, face.choice, linalg.option
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax

ROOT = Path(__file__).parents[1] / "traceir"
PACKAGES = ("lax", "numpy", "scipy", "nn", "random", "image", "ops.py")
# What says how to compute, or what the operand is like: the result is the same.
WITHOUT_EFFECT = {
    "overwrite_a": "arrays never change",
    "overwrite_b": "arrays never change",
    "overwrite_c": "arrays never change",
    "check_finite": "what is not finite has results that are not",
    "debug": "it is of no function of SciPy's any more",
    "turbo": "of LAPACK there is one driver",
    "lapack_driver": "of LAPACK there is one driver",
    "lwork": "of LAPACK there is one driver",
    "assume_unique": "a set is made of any operand",
    "upper_triangular": "the series is that of any matrix",
    "eps": "the decomposition is computed by singular values, not in steps",
    "max_iterations": "the decomposition is computed by singular values, not in steps",
    "tol": "eigenvalues are those of the whole matrix, as near as they can be",
    "recall_target": "elements are found exactly",
    "reduction_input_size_override": "elements are found exactly",
    "copy": "arrays never change",
    "_split_transpose": "it is about how JAX transposes a scan",
    "sorted": "elements of a set are in order",
}
# By function: arguments that it takes for the sake of others that are called alike.
FOR_OTHERS = {
    "histogram_bin_edges.weights",
    "conv_dimension_numbers.rhs_shape",
    "eigh_tridiagonal.key",
    "schur.select_callable",
    "zeros.key",
    "ones.key",
    "namespace.x",
    "composite.version",  # of any version, its decomposition is what is computed
}
# By decorator: the parameter that it takes from calls, and reads for the function.
BY_DECORATOR = {"takes_out_sharding": "out_sharding"}


def unread(tree: ast.Module) -> Iterator[str]:
    """The parameters of public functions that nothing reads."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            decorators = {ast.unparse(d) for d in node.decorator_list}
            if "overload" in decorators:
                continue  # it has no body
            given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            inner = (n for part in node.body for n in ast.walk(part))
            names = {n.id for n in inner if isinstance(n, ast.Name)}
            names |= {p for d, p in BY_DECORATOR.items() if d in decorators}
            yield from (f"{node.name}.{a.arg}" for a in given if a.arg not in names)


def test_every_parameter_is_read() -> None:
    paths = [p for one in PACKAGES for p in (ROOT / one).rglob("*.py")]
    assert len(paths) > 100
    trees = (ast.parse(p.read_text(encoding="utf-8")) for p in paths)
    found = {name for tree in trees for name in unread(tree)}
    unexplained = {f for f in found if f.partition(".")[2] not in WITHOUT_EFFECT}
    assert unexplained == FOR_OTHERS
    assert WITHOUT_EFFECT.keys() == {f.partition(".")[2] for f in found - FOR_OTHERS}


def test_an_unread_parameter_is_told() -> None:
    tree = ast.parse("def f(x, *, y=0):\n    return x\ndef _g(z): pass")
    assert [*unread(tree)] == ["f.y"]
    text = "def f(x, *, y=0, out_sharding=None):\n    return x"
    assert [*unread(ast.parse(text))] == ["f.y", "f.out_sharding"]
    assert [*unread(ast.parse(f"@takes_out_sharding\n{text}"))] == ["f.y"]


X, V = jnp.ones((2, 3)), np.array([0.5])
# The arguments of functions that do not take one matrix.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "choose": (jnp.array([0, 1]), [1, 2]),
    "compress": (np.array([True, False]), X, 0),
    "outer": (X, X),
    "stack": ([X],),
    "take": (X, 0),
    **dict.fromkeys(("quantile", "percentile"), (X, V)),
    **dict.fromkeys(("nanquantile", "nanpercentile"), (X, V)),
}
STORING = [
    name
    for name, function in ((n, getattr(jnp, n)) for n in jnp.__all__)
    if inspect.isfunction(function) and "out" in inspect.signature(function).parameters
]


def test_no_function_leaves_an_array_for_its_result_as_it_is() -> None:
    assert len(STORING) > 35
    for name in STORING:
        storing = functools.partial(getattr(jnp, name), *ARGUMENTS.get(name, (X,)))
        for call in (storing, traceir.jit(storing)):
            with raises_rule("face.no-out", NotImplementedError, "out="):
                call(out=np.zeros(3))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: lax.approx_max_k(x, 1, aggregate_to_topk=False),
        lambda x: lax.ragged_dot(x, x[None], np.array([2]), group_offset=x),
        lambda x: lax.ragged_dot(x, x[None], np.array([2]), precision="most"),
    ],
)
def test_what_an_option_asks_for_is_given_or_refused(call: Callable[..., Any]) -> None:
    with raises_rule("face.choice", ValueError, "topk|offset|precision"):
        call(jnp.ones((2, 2)))


def test_options_of_products_by_groups_are_those_of_products() -> None:
    x, sizes = jnp.ones((2, 2), "float16"), np.array([2])
    found = lax.ragged_dot(x, x[None], sizes, preferred_element_type="float32")
    assert found.dtype == "float32"
    for method in (None, "lu", "qr"):
        assert jnp.linalg.slogdet(2 * jnp.eye(2), method=method).sign == 1
    with raises_rule("linalg.option", ValueError, "method='svd'"):
        jnp.linalg.slogdet(jnp.eye(2), method="svd")
