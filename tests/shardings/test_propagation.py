"""Results under `jit` lie on devices as JAX's do. Cites: sharding.value"""

from __future__ import annotations

import re
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eight_devices import eight_devices as eight_devices
from recorded import Record
from shardings.programs import PROGRAMS, argument, layouts, place

import traceir
import traceir.numpy as jnp
from traceir.sharding import NamedSharding, P, SingleDeviceSharding

LINE = re.compile(r"^(\w+) (.*) -> (.*)$", re.MULTILINE)
RECORDED = {
    name: found for name, _, found in LINE.findall(Record("shardings.txt").read_text())
}
DATA = Path(__file__).parents[1] / "data" / "sharding-differences.toml"
DIFFERENT = tomllib.loads(DATA.read_text(encoding="utf-8"))
KNOWN = {name for names in DIFFERENT.values() for name in names}


def test_every_program_is_recorded() -> None:
    assert RECORDED.keys() == PROGRAMS.keys()
    assert len(RECORDED) >= 160 and len(KNOWN) <= 7 and PROGRAMS.keys() >= KNOWN


def test_results_lie_as_those_of_jax() -> None:
    found = {name: layouts(traceir, name) for name in PROGRAMS}
    assert {n for n, layout in found.items() if layout != RECORDED[n]} == KNOWN
    assert {found[name] for name in DIFFERENT["replicated"]} == {"replicated"}


def test_values_are_those_of_arrays_that_lie_on_one_device() -> None:
    for name in list(PROGRAMS)[::4]:
        function, arguments = PROGRAMS[name]
        if name.startswith("captured"):
            continue
        placed = [argument(traceir, text) for text in arguments]
        plain = [jnp.asarray(np.array(value)) for value in placed]
        jitted = traceir.jit(partial(function, traceir))
        pairs = zip(*map(traceir.tree.leaves, (jitted(*placed), jitted(*plain))))
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in pairs), name
        assert jitted.cache_info().misses == 1, name


def _rows() -> Any:
    return argument(traceir, "8,4 x -")


def test_layouts_are_explained() -> None:
    turned = argument(traceir, "8,4 y x")
    f = traceir.jit(lambda a, b: {"sum": a + b, "sine": jnp.sin(a)})
    found = f.explain(_rows(), turned, what="sharding").splitlines()
    assert [line.split(":")[0] for line in found] == [
        "result['sine']",
        "result['sum']",
        "given up after add",
    ]
    assert "spec=P('x', None)" in found[0] and "spec=P()" in found[1]
    assert "P('x', None) and P('y', 'x') disagree" in found[2]
    assert f.explain(1.0, 2.0, what="sharding").count("on the first device") == 2


def test_shardings_of_jit_are_those_of_arguments() -> None:
    rows = place(traceir, "x -")
    plain = np.ones((8, 4), "float32")
    given = traceir.jit(lambda a: a.T, in_shardings=rows)
    assert given(plain).sharding.spec == P(None, "x")
    assert given(jnp.asarray(plain)).sharding.spec == P(None, "x")
    inner = traceir.jit(lambda a: a * 2, out_shardings=rows)
    outer = traceir.jit(lambda a: inner(a) + 1)
    assert outer(jnp.ones((8, 4))).sharding.is_equivalent_to(rows, 2)


def test_a_function_that_is_compiled_ahead_is_so_for_layouts() -> None:
    plain, rows = np.ones((8, 4), "float32"), place(traceir, "x -")
    columns = NamedSharding(rows.mesh, P(None, "x"))
    described = traceir.ShapeDtypeStruct((8, 4), "float32", sharding=rows)
    turned = jnp.transpose
    for function, given, found in (
        (traceir.jit(turned), _rows(), columns),
        (traceir.jit(turned), described, columns),
        (traceir.jit(turned, in_shardings=rows), plain, columns),
        (traceir.jit(turned, out_shardings=rows), plain, rows),
        (traceir.jit(turned, in_shardings=rows, out_shardings=rows), described, rows),
        (traceir.jit(turned, donate_argnums=0), described, columns),
    ):
        compiled = function.lower(given).compile()
        lies = given is plain and function._shardings[0] is None
        wanted = SingleDeviceSharding() if lies else rows
        assert compiled.input_shardings == ((wanted,), {})
        assert compiled.output_shardings.is_equivalent_to(found, 2)
        # An array that lies elsewhere is moved: a layout is no part of a type.
        for array in plain, jnp.asarray(plain), _rows():
            result = compiled(array)
            assert result.sharding.is_equivalent_to(found, 2)
            assert np.array_equal(result, np.transpose(array))
    compiled = traceir.jit(turned).lower(plain).compile()
    assert compiled.output_shardings == SingleDeviceSharding()
    assert compiled(plain).sharding == SingleDeviceSharding()
    with pytest.raises(ValueError, match=r"sharding.keyword"):
        traceir.jit(lambda a: a, in_shardings=rows).lower(a=plain)
    with pytest.raises(ValueError, match=r"sharding.divides"):
        traceir.jit(lambda a: a, in_shardings=rows).lower(plain[:3])


def test_a_donated_array_has_a_successor_that_lies_as_it_did() -> None:
    step = traceir.jit(lambda a: a + 1, donate_argnums=0)
    array = _rows()
    for _ in range(5):
        before, array = array, step(array)
        assert before.is_deleted() and array.sharding.spec == P("x", None)
    assert array[0, 0] == 5


def test_calls_with_layouts_and_without_take_turns() -> None:
    f = traceir.jit(lambda a: a * 2)
    for _ in range(50):
        assert f(jnp.ones((8, 4))).sharding == SingleDeviceSharding()
        assert f(_rows()).sharding.spec == P("x", None)
    assert f.cache_info().misses == 1


def test_a_result_is_on_the_device_of_the_arguments() -> None:
    there = traceir.device_put(jnp.ones(3), traceir.devices()[3])
    assert traceir.jit(lambda a: a * 2)(there).device == traceir.devices()[3]


def test_results_outside_of_jit_lie_so_too() -> None:
    rows = _rows()
    for _ in range(3):
        assert (rows + 1).sharding.spec == P("x", None)
        assert jnp.sum(rows, axis=1).sharding.spec == P("x")
        assert (jnp.ones((8, 4)) + rows).sharding.spec == P("x", None)
        assert jnp.zeros_like(rows).sharding == rows.sharding
        assert rows[:, 1].sharding.spec == rows[:, jnp.array(1)].sharding.spec == P("x")
        assert rows[rows > 3].shape == (28,)
        assert (jnp.ones((8, 4)) + 1).sharding == SingleDeviceSharding()


@pytest.mark.parametrize("method", ["copy", "delete"])
def test_an_array_that_was_put_somewhere_is_an_array(method: str) -> None:
    rows = _rows()
    assert isinstance(rows, traceir.Array) and type(rows).__name__ == "Array"
    getattr(rows, method)()
    assert rows.is_deleted() is (method == "delete")


def test_axes_whose_layout_is_a_type_are_followed_as_well() -> None:
    mesh = traceir.make_mesh((4, 2), ("x", "y"))
    a, b = jnp.ones((8, 4)), jnp.ones((4, 6))
    left = traceir.device_put(a, NamedSharding(mesh, P("x", None)))
    right = traceir.device_put(b, NamedSharding(mesh, P(None, "y")))
    assert traceir.jit(jnp.dot)(left, right).sharding.spec == P("x", "y")
