"""Machine code of elementwise kernels: packed instructions, and no calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from compiling import AVX512, CALL, PACKED, assembly, compiled
from soak import sample

from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var
from traceir.ir.typecheck import infer
from traceir.rules import default
from traceir.text import parse
from traceir_numba.device_functions import NUMBERS
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import Elementwise

SCALARS = sorted(n for n, e in EMITTERS.items() if isinstance(e, Elementwise))
LENGTH = 5000

DIVISION = re.compile(r"^\s+(i?divq|[su]div\s)", re.MULTILINE)


def params_of(prim: str, dtype: np.dtype) -> Iterator[dict[str, Any]]:
    """The params with which a primitive's kernel is another."""
    base = dict(default().prims[prim].defaults)
    match prim:
        case "round":
            for way in (0, 1):
                yield {**base, "rounding_method": way}
        case "convert_element_type":
            for name in NUMBERS:
                if np.dtype(name) != dtype:
                    new = {"new_dtype": np.dtype(name), "weak_type": False}
                    yield {**base, **new}
        case _:
            yield base


def operands_of(prim: str, dtype: np.dtype) -> list[ShapedArray]:
    """Arrays of one dtype; what chooses is a truth."""
    row = default().prims[prim]
    count = 3 if prim == "select_n" else row.arity + row.variadic
    avals = [ShapedArray((LENGTH,), dtype)] * count
    if prim == "select_n":
        avals[0] = ShapedArray((LENGTH,), np.dtype("bool"))
    return avals


@cache
def programs() -> dict[str, tuple[str, str, ClosedJaxpr]]:
    """One equation each: every primitive with every dtype that it takes."""
    found = {}
    for prim in SCALARS:
        for name in NUMBERS:
            avals = operands_of(prim, np.dtype(name))
            for params in params_of(prim, np.dtype(name)):
                try:
                    outs = infer(prim, avals, params)
                except TraceirError:
                    continue
                invars = tuple(Var(a) for a in avals)
                results = tuple(map(Var, outs))
                eqn = Eqn(prim, invars, results, tuple(sorted(params.items())))
                closed = ClosedJaxpr(Jaxpr((), invars, (eqn,), results), ())
                changed = [str(v) for v in params.values() if v not in (None, False)]
                label = "-".join([prim, name, *changed])
                found[label] = prim, name, closed
    return found


def kind(label: str) -> str:
    """The kind of a loop: "packed", "slow" by declaration, or a "copy"."""
    prim, dtype, closed = programs()[label]
    entry = EMITTERS[prim]
    assert isinstance(entry, Elementwise)
    types = [
        v.aval.dtype for v in (*closed.jaxpr.invars, *closed.jaxpr.eqns[0].outputs)
    ]
    integers = all(t.kind in "iu" for t in types)
    if prim == "convert_element_type" and integers:
        before, after = types
        if before.itemsize == after.itemsize:
            return "copy"
    return "slow" if dtype in entry.slow else "packed"


def labels(expected: str) -> list[str]:
    """The programs whose loops are expected to be so."""
    return [label for label in programs() if kind(label) == expected]


def text_of(label: str) -> str:
    """The machine code of a program's kernel."""
    (text,) = assembly(programs()[label][2]).values()
    return text


@pytest.mark.parametrize("label", sample(labels("packed"), 3))
def test_an_elementwise_loop_is_packed_and_calls_nothing(label: str) -> None:
    text = text_of(label)
    assert PACKED.search(text), f"no packed instructions in\n{text}"
    assert not CALL.search(text), f"calls in\n{text}"


@pytest.mark.parametrize("label", labels("copy"))
def test_integers_of_another_sign_are_copied_as_they_are(label: str) -> None:
    assert "memcpy" in text_of(label)


@pytest.mark.parametrize("label", labels("slow"))
def test_what_is_declared_slow_has_to_be(label: str) -> None:
    text = text_of(label)
    slow = CALL.search(text) or DIVISION.search(text)
    if "int" in programs()[label][1] and AVX512:
        assert PACKED.search(text) and not slow  # as floating numbers
    else:
        assert slow


REDUCE = {
    "reduce_sum": "reduce_sum[axes=(AXES,) out_sharding=None]",
    "reduce_max": "reduce_max[axes=(AXES,) out_sharding=None]",
    "argmax": "argmax[axes=(AXES,) index_dtype=int32]",
}


@pytest.mark.parametrize("primitive", REDUCE)
@pytest.mark.parametrize("dtype", ["f32", "f64", "i32"])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((5000,), 0),  # everything
        ((50, 3000), 1),  # long rows
        ((500, 100), 1),  # medium rows, masked
        ((5000, 4), 1),  # short rows, unrolled
        ((100, 3000), 0),  # columns
        ((5000, 4), 0),  # few columns
        ((3, 5000), 0),  # columns of few rows
    ],
)
def test_reductions_are_packed(
    primitive: str, dtype: str, shape: tuple[int, ...], axis: int
) -> None:
    left = ",".join(str(n) for d, n in enumerate(shape) if d != axis)
    out = "i32" if primitive == "argmax" else dtype
    extents = ",".join(map(str, shape))
    equation = REDUCE[primitive].replace("AXES", str(axis))
    body = f"b:{out}[{left}] = {equation} a"
    text = f"{{ lambda ; a:{dtype}[{extents}]. let {body} in (b,) }}"
    assert any(map(PACKED.search, assembly(parse(text)).values()))


def test_a_transposed_read_stays_in_tiles() -> None:
    text = """{ lambda ; a:f32[300,200]. let
        b:f32[200,300] = transpose[permutation=(1, 0)] a
        c:f32[200,300] = neg b
      in (c,) }"""
    found = compiled(text)
    assert found.source.count("for t") == 2
    x = np.random.default_rng(0).normal(size=(300, 200)).astype("float32")
    assert np.array_equal(found.run(x)[0], -x.T)


# More than WAITING: several vectors of it are computed side by side.
LONG = """{ lambda ; a:f32[N]. let
    b:f32[N] = log a
    c:f32[N] = sin b
    d:f32[N] = exp c
    e:f32[N] = erf d
  in (e,) }"""


def test_long_bodies_are_computed_for_several_vectors_at_once() -> None:
    many, few = (compiled(LONG.replace("N", str(n))) for n in (20_000, 5000))
    assert "vectors interleaved" in many.source
    assert "vectors interleaved" not in few.source
    packed = [len(PACKED.findall(f.as_text("asm"))) for f in (many, few)]
    assert packed[0] > 2 * packed[1]
    x = np.random.default_rng(0).uniform(0.5, 2, 20_000).astype("float32")
    whole, part = many.run(x)[0], few.run(x[7:5007].copy())[0]
    assert whole[7:5007].tobytes() == part.tobytes()


def test_folds_of_several_rows_have_vectors_as_accumulators() -> None:
    text = """{ lambda ; a:f32[100,100,100]. let
        b:f32[100] = reduce_sum[axes=(0,2) out_sharding=None] a
      in (b,) }"""
    found = compiled(text).as_text("asm")
    pairs = re.findall(r"vmovsd.*\n\s+vaddps", found)  # two numbers as a vector
    assert not pairs


@pytest.mark.skipif(not AVX512, reason="the processor has no such vectors")
@pytest.mark.parametrize("shape", ["5000", "100,3000"])
def test_folds_round_to_16_bits_in_vectors(shape: str) -> None:
    rows = shape.rpartition(",")[0]
    text = f"""{{ lambda ; a:f16[{shape}]. let
        b:f16[{shape}] = mul a a
        c:f32[{shape}] = convert_element_type[new_dtype=float32 weak_type=False] b
        d:f32[{rows}] = reduce_sum[axes=({int(bool(rows))},) out_sharding=None] c
      in (d,) }}"""
    rounded = re.findall(r"vcvtps2ph.*", compiled(text).as_text("asm"))
    assert any("zmm" in line for line in rounded)


def test_elements_far_apart_are_read_one_by_one() -> None:
    text = """{ lambda ; a:f32[5000,16]. let
        b:f32[5000] = reduce_max[axes=(1,) out_sharding=None] a
        c:f32[5000,8] = slice[
          limit_indices=(5000, 16) start_indices=(0, 0) strides=(1, 2)
        ] a
        d:f32[5000,8] = neg c
      in (b, d) }"""
    assert "gather" not in compiled(text).as_text("asm")
