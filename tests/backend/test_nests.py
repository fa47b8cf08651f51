"""From programs to loop nests: what is simplified, fused, merged, and kept apart."""

from __future__ import annotations

import numpy as np
import pytest
from compiling import polynomial_sum, selu, softmax
from text_programs import LAYOUTS, NESTS

from traceir.errors import TraceirError
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var
from traceir.reference.kernels import KERNELS
from traceir.rules import default
from traceir.text import parse, to_text
from traceir_numba.codegen.body import constant_text
from traceir_numba.emitters import EMITTERS
from traceir_numba.loops.nest import LoopNest
from traceir_numba.loops.program import BufferProgram, CallMatmul, Launch, Reshape
from traceir_numba.lowering.canonicalize import canonicalize
from traceir_numba.pipeline.build_program import build_program


def program(text: str) -> BufferProgram:
    """The program of kernels of a text."""
    return build_program(parse(text), "program")


def nests(text: str) -> list[LoopNest]:
    """The nests of its kernels, in order."""
    return [launch.nest for launch in program(text).launches()]


def roles(text: str) -> list[str]:
    """The roles of its buffers."""
    return [buffer.role for buffer in program(text).buffers]


def test_every_primitive_has_a_row_a_kernel_and_an_emitter() -> None:
    assert set(EMITTERS) == set(default().prims)
    assert set(EMITTERS) - {"jit"} == set(KERNELS) - {"jit"}


# -- simplify -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("b:f32[3] = mul a 1.0:f32[]", "a"),
        ("b:f32[3] = div a 1.0:f32[]", "a"),
        ("b:f32[3] = sub a 0.0:f32[]", "a"),
        ("c:f32[3] = neg a; b:f32[3] = neg c", "a"),
        ("b:f32[3] = convert_element_type[new_dtype=float32 weak_type=False] a", "a"),
        ("b:f32[3] = transpose[permutation=(0,)] a", "a"),
        ("c:f32[] = mul 2.0:f32[] 3.0:f32[]; b:f32[] = add c 1.0:f32[]", "7.0:f32[]"),
    ],
)
def test_what_changes_nothing_goes(body: str, result: str) -> None:
    closed = parse(f"{{ lambda ; a:f32[3]. let {body} in (b,) }}")
    expected = f"{{ lambda ; a:f32[3]. let  in ({result},) }}"
    assert to_text(canonicalize(closed)) == expected


@pytest.mark.parametrize(
    "equation",
    [
        "add a 0.0:f32[]",  # -0.0 + 0.0 is 0.0
        "sub a -0.0:f32[]",
        "mul a -1.0:f32[]",
        "mul a 0.0:f32[]",  # NaN and infinities
        "exp 1.0:f32[]",  # whose bits are the run time's
    ],
)
def test_what_might_change_bits_stays(equation: str) -> None:
    shape = "" if equation.startswith("exp") else "3"
    text = f"{{ lambda ; a:f32[3]. let b:f32[{shape}] = {equation} in (b,) }}"
    assert len(canonicalize(parse(text)).eqns) == 1


def test_equal_equations_become_one_and_dead_ones_go() -> None:
    text = """{ lambda ; a:f32[3]. let
        b:f32[3] = sin a; c:f32[3] = sin a; d:f32[3] = cos a; e:f32[3] = add b c
      in (e,) }"""
    assert [e.primitive for e in canonicalize(parse(text)).eqns] == ["sin", "add"]


def test_calls_are_inlined_each_time_with_their_own_variables() -> None:
    inner = "{ lambda ; c:f32[3]. let d:f32[3] = sin c in (d,) }"
    text = f"""{{ lambda ; a:f32[3]. let
        b:f32[3] = jit[name=f jaxpr={inner}] a
        e:f32[3] = jit[name=f jaxpr={inner}] b
      in (e,) }}"""
    flat = canonicalize(parse(text))
    assert to_text(flat) == (
        "{ lambda ; a:f32[3]. let b:f32[3] = sin a; c:f32[3] = sin b in (c,) }"
    )


def test_an_unknown_primitive_is_refused_by_name() -> None:
    var = parse("{ lambda ; a:f32[3]. let  in (a,) }").jaxpr.invars[0]
    out = Var(var.aval)
    jaxpr = Jaxpr((), (var,), (Eqn("frobnicate", (var,), (out,)),), (out,))
    with pytest.raises(TraceirError, match="frobnicate"):
        canonicalize(ClosedJaxpr(jaxpr))


# -- fuse -----------------------------------------------------------------------------


def test_elementwise_code_is_one_nest_with_nothing_stored_between() -> None:
    (nest,) = nests(selu(3, 4))
    assert (nest.rank, nest.form) == (1, "map")
    assert roles(selu(3, 4)) == ["input", "output"]


def test_a_reduction_takes_its_prologue_and_its_epilogue() -> None:
    text = polynomial_sum(5, 6).replace(
        "in (f,)", "  g:f32[] = div f 30.0:f32[]\n  h:f32[] = sqrt g\n  in (h,)"
    )
    (nest,) = nests(text)
    assert (nest.form, nest.rank) == ("whole", 1)
    assert len(nest.epilogue) == 3 and not nest.stores


def test_outputs_over_one_index_space_share_a_nest() -> None:
    text = NESTS["outputs of one nest"]
    (nest,) = nests(text)
    assert len(nest.stores) == 2 and len(nest.reductions) == 2


def test_softmax_is_one_nest_of_three_passes() -> None:
    (nest,) = nests(softmax(60, 50))
    exponentials = [str(one.body).count("'exp'") for one in nest.passes]
    assert exponentials == [0, 1, 0]
    # They stay in the memory of the result until they are divided.
    assert roles(softmax(60, 50)) == ["input", "output"]


def test_cheap_values_are_computed_again_rather_than_stored() -> None:
    text = NESTS["a cheap value twice"]
    assert "temporary" not in roles(text)
    assert "temporary" in roles(text.replace("add a 1.0:f32[]", "exp a"))


def test_an_expensive_row_is_not_computed_for_every_row_again() -> None:
    text = NESTS["an expensive row"]
    assert len(nests(text)) == 2


def test_a_column_may_be_computed_in_the_outer_loop() -> None:
    text = NESTS["an expensive column"]
    assert len(nests(text)) == 1


def test_no_cycle_is_fused() -> None:
    # The second map needs the product of what the first one stored.
    text = NESTS["around a product"]
    steps = [step for step in program(text).steps if not isinstance(step, Reshape)]
    assert [type(step) for step in steps] == [Launch, CallMatmul, Launch]


def test_a_reshape_of_memory_is_free() -> None:
    text = NESTS["reshaped memory"]
    assert roles(text) == ["input", "output"]
    assert not any(isinstance(step, Reshape) for step in program(text).steps)


def test_a_reshape_between_elementwise_equations_splits_nothing() -> None:
    text = NESTS["reshaped between"]
    assert len(nests(text)) == 1 and "temporary" not in roles(text)
    # What is read elsewhere too stays where it is.
    assert len(nests(text.replace("in (h,)", "in (h, d)"))) == 2


def test_parts_of_a_concatenation_share_a_kernel() -> None:
    text = NESTS["parts"]
    first, *others = nests(text)
    # The first one starts at the beginning, the others at an offset.
    assert first != others[0] and others[0] == others[1]


# -- layouts --------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "rank"), LAYOUTS)
def test_loops_are_merged_where_memory_allows(text: str, rank: int) -> None:
    (nest,) = nests(text)
    assert nest.rank == rank


def test_extents_are_no_part_of_a_nest() -> None:
    small, large = nests(selu(2, 3)), nests(selu(200, 300))
    assert small == large and hash(small[0]) == hash(large[0])


def test_constants_are_told_apart_by_bits() -> None:
    text = "{ lambda ; a:f32[3]. let b:f32[3] = mul a 0.0:f32[] in (b,) }"
    assert nests(text) != nests(text.replace("0.0", "-0.0"))


def test_constants_are_written_briefly_and_exactly() -> None:
    rng = np.random.default_rng(0)
    for bits in rng.integers(0, 2**32, 20_000, dtype=np.uint32):
        value = bits.view(np.float32)
        if np.isfinite(value):
            text = constant_text(repr(float(value)), "float32")
            assert np.float32(float(text[4:-1])).tobytes() == value.tobytes()
