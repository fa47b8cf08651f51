"""Traced, lowered and compiled functions tell by JAX's names what they are.

Cites jit.dialect jit.compiler-options
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.experimental.layout import Format, Layout
from traceir.jit.stages import ArgInfo
from traceir.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

X = jnp.ones((3, 4))


def parts(x: Any, y: Any, n: int = 1, **rest: Any) -> Any:
    return {"a": x * y, "b": x.sum() * n, "c": rest}


def test_arguments_nest_as_in_the_call() -> None:
    f = traceir.jit(parts, donate_argnums=0, static_argnames="n")
    y = jnp.ones(3, "int32")
    traced = f.trace(jnp.ones(3), y=y, n=2, z=[1.0])
    types = traceir.tree.map(traceir.typeof, ((jnp.ones(3),), {"y": y, "z": [1.0]}))
    infos = ((True,), {"y": False, "z": [False]})
    for stage in (traced, traced.lower(), traced.lower().compile()):
        assert stage.in_avals == types
        assert stage.in_tree == traceir.tree.structure(types)
        assert stage.args_info == traceir.tree.map(ArgInfo, types, infos)
        assert stage.donate_argnums == (0,)
    info = traced.args_info[1]["y"]
    assert (info.shape, info.dtype) == ((3,), np.dtype("int32"))
    assert traced.out_avals["c"]["z"][0].weak_type
    assert traced.fun_name == "parts"


def test_of_a_method_and_of_rest_arguments() -> None:
    def total(*rows: Any) -> Any:
        return sum(rows)

    compiled = traceir.jit(total).lower(1.0, X).compile()
    assert [aval.shape for aval in compiled.in_avals[0]] == [(), (3, 4)]
    assert compiled.in_avals[1] == {}


# The operations that JAX 0.10.2 tells of the same functions.
@pytest.mark.parametrize(
    ("f", "flops", "functions"),
    [
        (lambda x: x * x, 12, 0),
        (jnp.sin, 0, 12),
        (lambda x: x @ x.T, 72, 0),
        (lambda x: x.sum(), 11, 0),
        (lambda x: x.T.reshape(-1), 0, 0),
        (lambda x: x.astype("int32"), 12, 0),
        (lambda x: lax.while_loop(lambda c: c[0, 0] < 3, lambda c: c * 2, x), 13, 0),
        (
            lambda x: lax.conv(x[None, None], jnp.ones((1, 1, 2, 2)), (1, 1), "VALID"),
            48,
            0,
        ),
        (lambda x: jnp.linalg.cholesky(x @ x.T), 117, 0),
    ],
)
def test_operations_are_those_that_jax_tells(
    f: Any, flops: int, functions: int
) -> None:
    lowered = traceir.jit(f).lower(X)
    found = lowered.cost_analysis()
    assert (found["flops"], found["transcendentals"]) == (flops, functions)
    assert lowered.compile().cost_analysis() == found


def test_a_scan_counts_by_turns_and_a_choice_by_its_costliest_branch() -> None:
    def turns(x: Any) -> Any:
        return lax.scan(lambda c, row: (c + row.sum(), None), 0.0, x)[0]

    def choice(x: Any) -> Any:
        return lax.cond(x[0, 0] > 0, lambda x: x, lambda x: x * 2 + x, x)

    # A turn is a sum of four, a conversion of the carry, and an addition.
    assert traceir.jit(turns).lower(X).cost_analysis()["flops"] == 3 * (3 + 1 + 1)
    assert traceir.jit(choice).lower(X).cost_analysis()["flops"] >= 24
    assert traceir.jit(jnp.sort).lower(X).cost_analysis()["flops"] == 12 * 2
    sums = traceir.jit(lambda x: jnp.cumsum(x, 0)).lower(X).cost_analysis()
    assert sums["flops"] == 12


def test_bytes_of_equations_and_of_buffers() -> None:
    compiled = traceir.jit(lambda x: jnp.sin(x) * x).lower(X).compile()
    assert compiled.cost_analysis()["bytes accessed"] == 48 * 2 + 48 * 3
    stats = compiled.memory_analysis()
    assert (stats.argument_size_in_bytes, stats.output_size_in_bytes) == (48, 48)
    assert (stats.temp_size_in_bytes, stats.alias_size_in_bytes) == (0, 0)
    between = traceir.jit(lambda x: (x @ x.T) @ x).lower(X).compile()
    assert between.memory_analysis().temp_size_in_bytes == 36
    unused = traceir.jit(lambda x, y: x + 1).lower(X, X).compile()
    assert unused.memory_analysis().output_size_in_bytes == 48
    plain = traceir.jit(jnp.sin, backend="reference").lower(X).compile()
    assert plain.memory_analysis() is None


def test_the_program_is_an_object_or_a_text_of_the_backend() -> None:
    lowered = traceir.jit(jnp.sin).lower(X)
    assert lowered.compiler_ir() is lowered.compiler_ir("jaxpr") is lowered.jaxpr
    assert "@kernel" in lowered.compiler_ir("source")
    assert lowered.as_text(debug_info=True) == lowered.as_text()
    for dialect in ("hlo", "stablehlo"):
        with raises_rule("jit.dialect", ValueError, dialect):
            lowered.compiler_ir(dialect)


def test_options_of_other_compilers_are_refused() -> None:
    lowered = traceir.jit(jnp.sin).lower(X)
    assert lowered.compile(None)(X).shape == lowered.compile({})(X).shape == (3, 4)
    with raises_rule("jit.compiler-options", ValueError, "xla_fast"):
        lowered.compile({"xla_fast": True})


def test_the_executable_runs_on_arrays_of_numpy() -> None:
    compiled = traceir.jit(lambda x: x + 1).lower(X).compile()
    (found,) = compiled.runtime_executable().run(np.ones((3, 4), "float32"))
    assert found.tolist() == (X + 1).tolist()


def test_layouts_are_those_that_were_asked_for() -> None:
    mesh = Mesh(np.array(traceir.devices()[:1]), ("i",))
    split = NamedSharding(mesh, PartitionSpec("i"))
    whole = X.sharding
    f = traceir.jit(parts, in_shardings=(split, None), out_shardings=split)
    compiled = f.lower(X, X).compile()
    assert compiled.input_shardings == ((split, whole), {})
    assert compiled.output_shardings == {"a": split, "b": split, "c": {}}
    alone = traceir.jit(parts).lower(X, y=X).compile()
    assert alone.input_shardings == ((whole,), {"y": whole})
    assert alone.output_shardings["a"] == whole
    assert alone.input_formats[1]["y"] == Format(Layout((0, 1)), whole)
    assert alone.output_formats["b"] == Format(Layout(()), whole)


def test_a_format_in_the_order_of_all_arrays_is_its_sharding() -> None:
    mesh = Mesh(np.array(traceir.devices()[:1]), ("i",), (AxisType.Auto,))
    split = NamedSharding(mesh, PartitionSpec("i"))
    there = traceir.device_put(X, Format(Layout((0, 1)), split))
    assert there.sharding == split and there.format == Format(Layout((0, 1)), split)
    assert traceir.device_put(X, there.format).sharding == split
    for rows in (there.format, Format(None, split)):
        f = traceir.jit(lambda x: x + 1, in_shardings=rows, out_shardings=rows)
        assert f(there).sharding == split
        assert traceir.lax.with_sharding_constraint(X, rows).sharding == split
    with raises_rule("device.platform", RuntimeError):
        traceir.device_put(X, Format(Layout((1, 0)), split))
    with raises_rule("sharding.type", TypeError):
        traceir.lax.with_sharding_constraint(X, Format(Layout((1, 0)), split))
