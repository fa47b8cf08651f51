"""Derivative rules that go with a program. Cites export.derivatives, export.order."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax, nn
from traceir.exports import Exported
from traceir.exports.container import FileContents, pack, unpack

X = np.array([-1.5, 0.25, 2.0], "float32")


@traceir.custom_jvp
def tripled(x: Any, n: Any) -> Any:
    """A function whose slope is not what it computes, of a real and an integer."""
    return x * n, n + 1


@tripled.defjvp
def _tripled_rule(primals: Any, tangents: Any) -> Any:
    (x, n), (t, _) = primals, tangents
    value, other = tripled(x, n)
    return (value, other), (3 * t * jnp.cos(x), np.zeros((), traceir.dtypes.float0))


@traceir.custom_vjp
def turned(x: dict[str, Any], y: Any) -> Any:
    """A function of a tree, whose second argument has no cotangent."""
    return {"s": jnp.sin(x["a"]) * y, "k": jnp.argmax(x["a"])}


def _turned_back(saved: Any, ct: Any) -> Any:
    return {"a": 2 * ct["s"] * jnp.cos(saved["at"]) * TABLE}, None


TABLE = np.array([1.0, 2.0, 4.0], "float32")
turned.defvjp(lambda x, y: (turned(x, y), {"at": x["a"], "not": None}), _turned_back)


def in_a_loop(x: Any) -> Any:
    """The calls are in the body of a loop, and in one branch of a choice."""

    def body(c: Any, v: Any) -> Any:
        c = lax.cond(v > 0, lambda u: nn.relu(u) + nn.relu(2 * u), jnp.sin, c)
        return turned({"a": c}, 0.5)["s"], c.sum()

    last, sums = lax.scan(body, x, jnp.arange(3.0) - 1)
    return jnp.sum(last) + jnp.sum(sums)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "relu": lambda x: jnp.sum(nn.relu(x) ** 2),
    "gelu and softmax": lambda x: jnp.sum(nn.softmax(nn.gelu(nn.silu(x))) * x),
    "a slope that is another": lambda x: jnp.sum(tripled(x, 2)[0]),
    "a backward rule": lambda x: jnp.sum(turned({"a": x}, 3.0)["s"]),
    "a batch of calls": lambda x: jnp.sum(
        traceir.vmap(lambda v: tripled(v, 3)[0] + nn.relu(v))(x)
    ),
    "a batch with a backward rule": lambda x: jnp.sum(
        traceir.vmap(lambda v: turned({"a": v}, v[0])["s"])(jnp.stack([x, 2 * x]))
    ),
    "loops": in_a_loop,
    "calls in inner functions": traceir.jit(
        lambda x: jnp.sum(traceir.jit(nn.relu)(x)) + jnp.sum(traceir.jit(nn.relu)(-x))
    ),
}


TRANSFORMS: list[tuple[Callable[[Any], Any], Any]] = [
    (traceir.grad, X),
    (lambda f: traceir.vmap(traceir.grad(f)), np.stack([X, 2 * X])),
    (lambda f: traceir.grad(lambda x: jnp.sum(traceir.grad(f)(x) * x)), X),
]


def close(found: Any, wanted: Any) -> None:
    """Results are those wanted, but for rounding."""
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def read(function: Any, order: int) -> Exported:
    """The function that is read back."""
    return traceir.deserialize(traceir.export(function, X).serialize(order))


@pytest.mark.parametrize("what", FUNCTIONS)
def test_derivatives_are_those_of_the_function(what: str) -> None:
    function = FUNCTIONS[what]
    program = read(function, 2)
    assert program.has_vjp() and program.serialize() == read(function, 0).serialize()
    for transform, x in TRANSFORMS:
        found = traceir.jit(transform(program), backend="reference")(x)
        close(found, traceir.jit(transform(function), backend="reference")(x))


@pytest.mark.parametrize(
    "what", ["relu", "a slope that is another", "a batch of calls"]
)
def test_forward_mode_as_well(what: str) -> None:
    function = FUNCTIONS[what]
    for order, transform in (
        (1, lambda f: lambda x: traceir.jvp(f, (x,), (2 * x,))),
        (2, traceir.hessian),
    ):
        found = traceir.jit(transform(read(function, order)), backend="reference")(X)
        close(found, traceir.jit(transform(function), backend="reference")(X))


def test_what_was_exported_here_has_its_functions() -> None:
    program = traceir.export(FUNCTIONS["a backward rule"], X)
    assert program.has_vjp()
    wanted = 2 * np.cos(X) * TABLE
    np.testing.assert_allclose(traceir.grad(program)(X), wanted, rtol=1e-6)
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(program))))
    np.testing.assert_allclose(traceir.grad(again)(X), wanted, rtol=1e-6)
    data = program.serialize(vjp_order=1)
    assert traceir.deserialize(data).serialize(vjp_order=1) == data


def test_each_order_has_its_rules() -> None:
    first = read(FUNCTIONS["relu"], 1)
    assert traceir.grad(first)(X).tolist() == [0, 0.5, 4]
    for program in (read(FUNCTIONS["relu"], 0), traceir.jit(traceir.grad(first))):
        with raises_rule("custom.named", TypeError, "vjp_order=n"):
            traceir.hessian(program)(X)
    with raises_rule("custom.named", TypeError):
        first.serialize(vjp_order=2)
    without = read(jnp.sum, 0)
    assert without.has_vjp() and without.serialize(9) == without.serialize()


@pytest.mark.parametrize("order", [-1, 1.0, True, None])
def test_an_order_is_a_number(order: Any) -> None:
    with raises_rule("export.order", ValueError, f"vjp_order={order}"):
        traceir.export(jnp.sum, X).serialize(vjp_order=order)


def test_the_program_of_a_gradient() -> None:
    def f(w: Any, n: Any) -> Any:
        return {"k": n * 2, "y": nn.relu(w["a"]) * n + w["b"]}

    n = np.array([1, 2, 3], "int32")
    program = traceir.export(f, {"a": X, "b": X[0]}, n)
    back = traceir.deserialize(program.vjp().serialize())
    assert repr(back) == "<Exported f_vjp(f32[3], f32[], i32[3], f32[3])>"
    a, b, none = back(X, X[0], n, np.ones(3, "float32"))
    assert (a.tolist(), float(b)) == ([0, 2, 3], 3)
    assert none.dtype == traceir.dtypes.float0 and none.shape == (3,)
    with raises_rule("custom.named", TypeError):
        traceir.deserialize(program.serialize()).vjp()


def test_the_gradient_of_a_plain_function_is_a_plain_function() -> None:
    program = traceir.export(traceir_numba.jit(lambda x: np.sum(tripled(x, 2)[0])), X)
    read = traceir.deserialize(program.serialize(vjp_order=1))
    (found,) = traceir.deserialize(read.vjp().serialize())(X, np.float32(1))
    assert type(found) is np.ndarray
    close(found, 3 * np.cos(X))


def test_rules_are_traced_where_the_function_was() -> None:
    @traceir.custom_jvp
    def f(x: Any) -> Any:
        return x

    f.defjvp(lambda p, t: (f(*p), t[0] * jnp.asarray(1 / 3, dtype=float)))
    with traceir.enable_x64(True):
        program = traceir.export(f, np.float64(1))
    found = traceir.deserialize(program.serialize(vjp_order=1))
    with traceir.enable_x64(True):
        assert float(traceir.grad(found)(1.0)) == 1 / 3


def test_rules_that_cannot_go_with_a_program() -> None:
    @traceir.custom_jvp
    def f(x: Any) -> Any:
        return x

    shape = traceir.ShapeDtypeStruct((), "float32")
    f.defjvp(lambda p, t: (f(*p), traceir.pure_callback(np.sin, shape, t[0])))
    program = traceir.export(f, X[0])
    assert float(traceir.deserialize(program.serialize())(2.0)) == 2
    with raises_rule("export.whole", TypeError, "pure_callback"):
        program.serialize(vjp_order=1)


def test_equal_rules_are_kept_once() -> None:
    def f(x: Any) -> Any:
        for _ in range(5):
            x = nn.relu(x) + 1
        return x

    head = unpack(traceir.export(f, X).serialize(1)).head["derivatives"]
    assert head["calls"] == [0] * 5 and len(head["programs"]) == 1


RULES = traceir.export(
    lambda x: tripled(turned({"a": x}, 3.0)["s"][0], 2)[0] + nn.relu(x[0]), X
).serialize(2)


def changed(**parts: Any) -> bytes:
    """The file with other entries in what its head says of derivatives."""
    found = unpack(RULES)
    told = {**found.head["derivatives"], **parts}
    return pack(
        FileContents({**found.head, "derivatives": told}, found.text, found.blocks)
    )


HEAD = unpack(RULES).head["derivatives"]
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "too few": ({"calls": [0]}, "other rules than calls"),
    "too many": ({"calls": HEAD["calls"] * 2}, "other rules than calls"),
    "negative": ({"calls": [-1] * 3}, "other rules than calls"),
    "unknown": ({"calls": [99] * 3}, "cannot be read"),
    "another's": ({"calls": HEAD["calls"][::-1]}, "not the types"),
    "no list": ({"calls": 3}, "cannot be read"),
    "no programs": ({"programs": None}, "cannot be read"),
    "no text": ({"programs": [{"text": 99, "calls": []}]}, "no constant 99"),
    "a circle": (
        {
            "programs": [{**p, "calls": [0]} for p in HEAD["programs"]],
            "rules": HEAD["rules"],
        },
        "cannot be read|other rules",
    ),
    "no zero": ({"rules": [{"jvp": 0}] * len(HEAD["rules"])}, "cannot be read"),
    "other zeros": (
        {"rules": [{**rule, "zero": [0]} for rule in HEAD["rules"]]},
        "not the types",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_rules_that_do_not_fit_are_refused(what: str) -> None:
    parts, got = WRONG[what]
    with raises_rule("export.file", ValueError, got):
        traceir.deserialize(changed(**parts))
    assert traceir.deserialize(changed()).has_vjp()


def test_a_reader_without_them_reads_the_program() -> None:
    found = unpack(RULES)
    head = {name: part for name, part in found.head.items() if name != "derivatives"}
    program = traceir.deserialize(pack(FileContents(head, found.text, found.blocks)))
    assert float(program(X)) == float(traceir.deserialize(RULES)(X))
    assert not program.has_vjp()


# Written once, by the version that introduced rules in files; never written anew. It is
# sum(squared(scaled(x, 0.5))), whose rules say 3 x of squares and x * ct * T of scaled.
FIRST = Path(__file__).parents[1] / "data" / "exported-1-rules.bin"


def test_a_file_of_the_first_version_with_rules_is_read_for_ever() -> None:
    program = traceir.deserialize(FIRST.read_bytes())
    close(program(X), np.sum((X / 2) ** 2))
    slope = traceir.grad(program)
    close(slope(X), 1.5 * X * X * TABLE)
    second = traceir.grad(lambda x: jnp.sum(slope(x)))(X)
    close(second, 3 * TABLE * X * (X * TABLE) + 1.5 * X * TABLE)
