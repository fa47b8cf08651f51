"""Functions of libraries between kernels: the bits are the reference's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from compiling import compiled, grid, reference, same_bits

from traceir.text import parse
from traceir_numba import backend
from traceir_numba.codegen.embedded_reference import reference_name, reference_source
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import ReferenceCall
from traceir_numba.lowering.host_partition import HostDrivenExecutable

PROGRAM = """{ lambda ; a:f32[6,4]. let
    b:f32[6,4] = mul a 2.0:f32[]
    c:f32[2,4] d:f32[4,4] = split[axis=0 sizes=(2, 4)] b
    e:f32[4] = reduce_sum[axes=(0,) out_sharding=None] d
    f:f32[2,4] = add c 1.0:f32[]
  in (e, f, d) }"""

LOOP = """{ lambda ; a:f32[4,3]. let
    b:f32[4,3] = neg a
    c:f32[4,3] = scan[
      jaxpr={ lambda ; d:f32[4,3]. let
          e:f32[4,3] = cumsum[axis=0 reverse=False] d
          f:f32[4,3] = mul e 0.5:f32[]
        in (f,) }
      length=3 num_carry=1 num_consts=0 reverse=False unroll=1
    ] b
    g:f32[4,3] = add c 1.0:f32[]
  in (g,) }"""


@pytest.fixture(autouse=True)
def evaluated(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for primitive in ("split", "cumsum"):
        monkeypatch.setitem(EMITTERS, primitive, ReferenceCall())
    yield


def test_several_results_go_into_kernels() -> None:
    x = grid(6, 4)
    program = compiled(PROGRAM)
    assert same_bits(program.run(x), reference(PROGRAM, x))
    assert "c, d = evaluate_split(b, axis=0, sizes=(2, 4))" in program.source


def test_the_operands_are_left_as_they_are() -> None:
    text = (
        "{ lambda ; a:f32[4]. let b:f32[4] = cumsum[axis=0 reverse=False] a in (b,) }"
    )
    x = grid(4)
    before = x.copy()
    first, second = (compiled(text).run(x)[0] for _ in range(2))
    first += 1
    assert (x.tobytes(), second.tobytes()) == (before.tobytes(), np.cumsum(x).tobytes())


def test_dead_memory_is_used_again() -> None:
    text = """{ lambda ; a:f32[4096,64]. let
        b:f32[4096,64] = exp a
        c:f32[4096,64] = cumsum[axis=0 reverse=True] b
        d:f32[4096,64] = mul c 2.0:f32[]
        e:f32[4096,64] = cumsum[axis=0 reverse=False] d
      in (e,) }"""
    x = np.zeros((4096, 64), np.float32)
    program = compiled(text)
    assert same_bits(program.run(x), reference(text, x))
    # What the first one gives is written over: no other array is made.
    assert program.source.count("empty_large(") == 1


def test_a_loop_with_one_is_driven_from_python() -> None:
    closed = parse(LOOP)
    program = backend.compile(closed, "loop")
    assert isinstance(program, HostDrivenExecutable)
    x = grid(4, 3)
    assert same_bits(program.run(x), reference(LOOP, x))


def test_the_source_runs_with_numpy_alone() -> None:
    space: dict[str, Any] = {}
    source = compiled(PROGRAM, "whole").source
    assert "import traceir" not in source and "from traceir" not in source
    exec(source, space)
    x = grid(6, 4)
    assert same_bits(space["whole"](x), reference(PROGRAM, x))


def test_the_report_tells_of_them() -> None:
    found = compiled(PROGRAM).as_text("speed")
    assert "1 library function" in found
    assert "split: a library's function, f32[6,4] gives f32[2,4], f32[4,4]" in found
    assert "a library's result, which step 4 reads" in found


def test_a_result_that_is_reshaped_has_its_new_shape() -> None:
    text = """{ lambda ; a:f32[2,3]. let
        b:f32[2,3] = cumsum[axis=0 reverse=False] a
        c:f32[6] = reshape[dimensions=None new_sizes=(6,) sharding=None] b
      in (c,) }"""
    x = grid(2, 3)
    [found] = compiled(text).run(x)
    assert found.shape == (6,) and same_bits([found], reference(text, x))


def functions() -> list[str]:
    """The primitives that are functions of libraries."""
    return [name for name, e in EMITTERS.items() if isinstance(e, ReferenceCall)]


@pytest.mark.parametrize("primitive", functions())
def test_the_source_of_a_kernel_needs_no_more_than_libraries(primitive: str) -> None:
    text = "\n".join(reference_source([primitive]))
    assert "traceir" not in text
    space: dict[str, Any] = {"np": np, "evaluated": lambda kernel: kernel}
    exec(text, space)
    assert callable(space[reference_name(primitive)])


def test_sources_of_kernels_do_not_clash() -> None:
    texts: dict[str, str] = {}
    for primitive in functions():
        for node in ast.parse("\n".join(reference_source([primitive]))).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                assert texts.setdefault(node.name, ast.unparse(node)) == ast.unparse(
                    node
                )


SORTED = """{ lambda ; a:f32[7]. let
    b:f32[7] c:f32[7] = sort[dimension=0 is_stable=True num_keys=1] a a
    d:f32[7] = sub b c
    e:f32[2] f:i32[2] = top_k[axis=0 k=2] a
  in (d, e, f) }"""


def test_sorting_runs_with_numpy_alone() -> None:
    space: dict[str, Any] = {}
    exec(compiled(SORTED, "ordered").source, space)
    x = grid(7)
    assert same_bits(space["ordered"](x), reference(SORTED, x))
