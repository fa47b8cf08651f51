"""Exported programs are called, traced and refused like jitted functions.

Cites export.same, export.whole, jit.compiled, jit.compiled-tree, custom.named.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax, nn, random
from traceir.exports import Exported

X = np.linspace(-1.0, 1.0, 4, dtype="float32")
KEY = random.key(3)


def loop(x: Any) -> Any:
    """A loop with a constant in its body, around a choice."""
    table = jnp.asarray(X)

    def body(i: Any, c: Any) -> Any:
        return lax.cond(i % 2 == 0, lambda v: v + table, lambda v: v * v, c)

    return lax.fori_loop(0, 3, body, x)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "softmax": nn.softmax,
    "a rule of its own": lambda x: nn.relu(nn.gelu(x)),
    "a loop": loop,
    "a scan": lambda x: lax.scan(lambda c, v: (c + v, c * v), 0.0, x),
    "random numbers": lambda x: x + random.normal(KEY, (4,)),
    "half the digits": lambda x: x.astype("bfloat16") * X.astype("float16"),
    "complex numbers": lambda x: jnp.exp(1j * x),
    "a gradient": traceir.grad(lambda x: jnp.sum(nn.relu(x) * jnp.sin(x))),
    "a batch": traceir.vmap(lambda v: v * v + 1),
    "an inner function": lambda x: traceir.jit(jnp.linalg.norm)(x)[None] + x,
    "a sort": lambda x: (jnp.sort(x)[::-1], jnp.argsort(x)),
}


def again(exported: Exported, backend: str | None = None) -> Exported:
    """The program that is read back from its file."""
    return traceir.deserialize(exported.serialize(), backend)


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize("what", FUNCTIONS)
def test_a_program_that_is_read_gives_what_the_function_gives(
    what: str, backend: str
) -> None:
    function = traceir.jit(FUNCTIONS[what], backend=backend)
    exported = traceir.export(function, X)
    read = again(exported, backend)
    assert read.jaxpr == exported.jaxpr
    assert str(read.jaxpr) == str(traceir.jit(FUNCTIONS[what]).trace(X).jaxpr)
    found, wanted = read(X), function(X)
    assert traceir.tree.structure(found) == traceir.tree.structure(wanted)
    for a, b in zip(traceir.tree.leaves(found), traceir.tree.leaves(wanted)):
        assert traceir.typeof(a) == traceir.typeof(b)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_a_program_can_be_part_of_others() -> None:
    read = again(traceir.export(lambda x, n: jnp.sum(jnp.sin(x) ** 2) * n, X, 2.0))
    slope = traceir.jit(traceir.grad(read))(X, 3.0)
    np.testing.assert_allclose(slope, 3 * np.sin(2 * X), rtol=1e-5, atol=1e-6)
    batch = traceir.vmap(read, in_axes=(0, None))(np.stack([X, X, X]), 1.0)
    assert batch.shape == (3,)
    assert "jit[name=<lambda>" in str(traceir.make_jaxpr(read)(X, 1.0)).replace(
        "\n      ", ""
    )
    exported = traceir.export(lambda x: read(x, 1.0) + 1, X)
    assert float(again(exported)(X)) == float(read(X, 1.0)) + 1


def test_results_have_the_types_of_the_program() -> None:
    strong = again(traceir.export(lambda x: x * 2, jnp.float32(1)))
    assert not strong(1.0).aval.weak_type
    weak = again(traceir.export(lambda x: x * 2, 1.0))
    assert weak(jnp.float32(1)).aval.weak_type


def test_64_bits_are_kept_where_they_were_exported() -> None:
    with traceir.enable_x64(True):
        wide = traceir.export(lambda x: x / 3, np.ones(2))
    found = again(wide)(np.ones(2))
    assert found.dtype == np.float64 and found.tolist() == [1 / 3, 1 / 3]
    narrow = again(traceir.export(lambda x: x / 3, np.ones(2)))
    with traceir.enable_x64(True):
        assert narrow(np.ones(2)).dtype == np.float32


def test_a_plain_function_gives_arrays_of_numpys() -> None:
    @traceir_numba.jit
    def norm(x: Any, y: Any) -> Any:
        return np.sqrt(np.sum(x * y)), np.cumsum(x)

    x = np.arange(3.0)
    root, sums = again(traceir.export(norm, x, x))(x, x)
    assert type(root) is np.float64 and type(sums) is np.ndarray
    assert (root, *sums) == (5**0.5, 0, 1, 3)


def test_arguments_have_names() -> None:
    def f(a: Any, b: Any = 2.0, *, c: Any) -> Any:
        return a * b + c

    read = again(traceir.export(f, 1.0, b=3.0, c=4.0))
    assert float(read(1.0, c=4.0, b=3.0)) == float(read(1.0, 3.0, 4.0)) == 7
    with raises_rule("jit.signature", TypeError, "'b'"):
        read(1.0, c=1.0)
    assert repr(read) == "<Exported f(f32[], f32[], f32[])>"


def test_other_types_are_refused_by_name() -> None:
    read = again(traceir.export(lambda x, y: x["w"] + y, {"w": X}, X))
    for wrong, got in ((X[:3], r"f32\[3\]"), (np.arange(4), r"i32\[4\]")):
        with raises_rule("jit.compiled", TypeError, rf"x\['w'\] .*f32\[4\].*{got}"):
            read({"w": wrong}, X)
    assert read({"w": X}, X).shape == (4,)


def host(x: Any) -> Any:
    """A function that calls the host within a loop."""
    shape = traceir.ShapeDtypeStruct((4,), "float32")
    return lax.fori_loop(0, 2, lambda i, c: traceir.pure_callback(np.sin, shape, c), x)


def test_what_calls_the_host_is_refused_at_its_line() -> None:
    where = r"`pure_callback`.*\n.*test_programs"
    with raises_rule("export.whole", TypeError, where):
        traceir.export(host, X)
    with raises_rule("export.whole", TypeError, "debug_print"):
        traceir.export(lambda x: traceir.debug.print("{}", x), X)


def test_a_value_of_an_open_trace_is_refused() -> None:
    def outer(x: Any) -> Any:
        return traceir.export(lambda y: x + y, X)(X)

    with raises_rule("export.whole", TypeError, "holds a value"):
        traceir.jit(outer)(X)


def test_a_function_that_writes_is_refused() -> None:
    @traceir_numba.jit
    def write(x: Any) -> None:
        x[0] = 1

    with raises_rule("update.refused"):
        traceir.export(write, np.zeros(2))


def test_a_rule_of_the_users_is_a_name_alone() -> None:
    read = again(traceir.export(lambda x: jnp.sum(nn.relu(x)), X))
    assert float(read(X)) == pytest.approx(float(np.maximum(X, 0).sum()))
    with raises_rule("custom.named", TypeError, r"`jvp` of(.*\n)*.*vjp_order"):
        traceir.grad(read)(X)
