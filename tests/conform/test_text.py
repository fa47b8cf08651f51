"""Printing and parsing: layout, names, errors, round trips.

Rules: text.roundtrip, text.inner-names, text.left-out, text.untyped,
text.undefined, text.groups, text.shared-name, and all other rows about text
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxprs import RECORDED

from traceir.conform.drawing.programs import programs
from traceir.errors import JaxprSyntaxError, TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from traceir.ir.typecheck import check
from traceir.text import parse, to_text
from traceir.text.doc import DocBreak, DocGroup, DocIndent, concat, layout

# Layout -------------------------------------------------------------------------------


@pytest.mark.parametrize("length, flat", [(80, True), (81, False)])
def test_a_group_fits_up_to_column_80(length: int, flat: bool) -> None:
    inner = concat("[", DocBreak(""), "x" * (length - 2), DocBreak(""), "]")
    text = layout(concat(DocGroup(inner), " what follows is not counted"), 80)
    assert ("\n" not in text) == flat


def test_the_inner_group_stays_flat_when_the_outer_one_breaks() -> None:
    inner = DocGroup(concat("a", DocBreak(), "b"))
    doc = DocGroup(DocIndent(2, concat("x" * 78, DocBreak("; "), inner)))
    assert layout(doc, 80) == "x" * 78 + "\n  a b"


def test_names_go_on_after_z_and_pass_over_number_words() -> None:
    lines = [f"v{k + 1}:f32[] = sin v{k}" for k in range(9000)]
    text = f"{{ lambda ; v0:f32[]. let {'; '.join(lines)} in (v9000,) }}"
    closed = parse(text)
    printed = str(closed)
    assert "    ba:f32[] = sin z\n" in printed
    assert "    in:f32[] = sin im\n    io:f32[] = sin in\n" in printed
    assert "nan:" not in printed and "inf:" not in printed
    assert parse(printed) == closed


# Names and sharing --------------------------------------------------------------------


def _var(shape: tuple[int, ...] = ()) -> Var:
    return Var(ShapedArray(shape, "float32"))


def _jit(inner: ClosedJaxpr, inputs: tuple[Var, ...], name: str = "f") -> Eqn:
    outputs = tuple(Var(a) for a in inner.out_avals)
    params = (("jaxpr", inner), ("keep_unused", False), ("name", name))
    return Eqn("jit", inputs, outputs, params)


def _chain(length: int) -> ClosedJaxpr:
    variables = [_var() for _ in range(length + 1)]
    eqns = tuple(Eqn("neg", (a,), (b,)) for a, b in pairwise(variables))
    return ClosedJaxpr(Jaxpr((), (variables[0],), eqns, (variables[-1],)))


@pytest.mark.parametrize("length, shared", [(10, False), (11, True)])
def test_a_long_program_is_written_first(length: int, shared: bool) -> None:
    a = _var()
    eqn = _jit(_chain(length), (a,))
    text = str(ClosedJaxpr(Jaxpr((), (a,), (eqn,), eqn.outputs)))
    assert text.startswith("let f = {") == shared
    assert parse(text) == ClosedJaxpr(Jaxpr((), (a,), (eqn,), eqn.outputs))


def test_a_program_may_choose_between_two_that_are_written_after_it() -> None:
    text = """let f = { lambda ; a:f32[] b:i32[]. let
    c:f32[] = cond[branches=(jaxpr jaxpr1)] b a
  in (c,) } in
let jaxpr = { lambda ; d:f32[]. let e:f32[] = sin d in (e,) } in
let jaxpr1 = { lambda ; g:f32[]. let h:f32[] = cos g in (h,) } in
{ lambda ; i:f32[] j:i32[]. let
    k:f32[] = jit[name=f jaxpr=f] i j
    l:f32[] = jit[name=f jaxpr=f] k j
    m:f32[] = cond[branches=(jaxpr jaxpr1)] j l
  in (m,) }"""
    closed = parse(text)
    assert str(closed) == text
    assert parse(to_text(closed, full=True)) == closed


def test_shared_programs_have_distinct_names_and_stay_shared() -> None:
    a, first, second = _var(), _chain(1), _chain(2)
    eqns, last = [], a
    for inner, name in ((first, "<lambda>"), (second, "<lambda>")) * 2:
        eqns.append(_jit(inner, (last,), name))
        last = eqns[-1].outputs[0]
    text = str(ClosedJaxpr(Jaxpr((), (a,), tuple(eqns), (last,))))
    assert "let lambda = " in text and "let lambda1 = " in text
    one, two, three, _ = (e.param("jaxpr") for e in parse(text).eqns)
    assert one is three and one is not two


def test_equal_programs_that_are_two_objects_are_written_twice() -> None:
    a = _var()
    first, second = _jit(_chain(1), (a,)), _jit(_chain(1), (a,))
    outs = (*first.outputs, *second.outputs)
    text = str(ClosedJaxpr(Jaxpr((), (a,), (first, second), outs)))
    assert not text.startswith("let")
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    "results, body",
    [
        # One dropped result, also as an operand: `_` can only be that one.
        ("b _", "c:f32[] = sin a; _:f32[] = cos a; d:f32[] = sin _ in (d, _)"),
        # Two dropped results, written in the order of definition.
        ("b _ _", "_:f32[] = sin a; _:f32[] = cos a; b:f32[] = tanh a in (b, _, _)"),
    ],
)
def test_dropped_results_are_blank_where_that_is_clear(results: str, body: str) -> None:
    outs = " ".join(f"{r}:f32[]" for r in results.split())
    inner = f"{{ lambda ; a:f32[]. let {body} }}"
    text = f"{{ lambda ; a:f32[]. let {outs} = jit[name=f jaxpr={inner}] a in (b,) }}"
    closed = parse(text)
    assert str(closed).count("_:f32[]") == text.count("_:f32[]")
    assert parse(str(closed)) == closed


def test_dropped_results_are_named_where_blanks_would_be_unclear() -> None:
    inner = (
        "{ lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = cos a; d:f32[] = tanh b "
        "in (d, b, c) }"
    )
    text = (
        "{ lambda ; a:f32[]. let b:f32[] c:f32[] d:f32[] = "
        f"jit[name=f jaxpr={inner}] a in (b,) }}"
    )
    closed = parse(text)
    assert "_:f32[] _:f32[] = jit" in str(closed)
    assert parse(str(closed)) == closed


def test_an_ambiguous_blank_is_refused() -> None:
    text = (
        "{ lambda ; a:f32[]. let _:f32[] = sin a; _:f32[] = cos a; b:f32[] = tanh _ "
        "in (b,) }"
    )
    with pytest.raises(JaxprSyntaxError, match="`_`, of which there are 2"):
        parse(text)


def test_a_number_as_numpy_writes_it_is_the_number() -> None:
    """text.wrapped"""
    text = "{{ lambda ; a:f32[2,3]. let b:f32[2] = reduce_max[axes=({},)] a in (b,) }}"
    wrapped = parse(text.format("np.int64(1)"))
    assert wrapped == parse(text.format("1")) and "np" not in str(wrapped)
    for wrong in ("np.int64(a)", "np.int64(1", "np.int65(1)"):
        with pytest.raises(JaxprSyntaxError):
            parse(text.format(wrong))


# What text leaves out -----------------------------------------------------------------


def test_hidden_parameters_follow_from_the_result() -> None:
    text = "{ lambda ; . let a:f32[2,3] = broadcast_in_dim 0.0:f32[] in (a,) }"
    params = dict(parse(text).eqns[0].params)
    assert params["shape"] == (2, 3) and params["broadcast_dimensions"] == ()


def test_full_text_writes_everything() -> None:
    a = Var(ShapedArray((2,), "float32"))
    b = Var(ShapedArray((), "float32", weak_type=True))
    c = Var(ShapedArray((2,), "float32"))
    literal = Literal(2.0, ShapedArray((), "float32", weak_type=True))
    eqns = (Eqn("mul", (b, literal), (d := Var(b.aval),)), Eqn("add", (a, d), (c,)))
    const = np.float32([np.nan, -0.0])
    closed = ClosedJaxpr(Jaxpr((a,), (b,), eqns, (c,)), (const,))
    text = to_text(closed, full=True)
    assert text == (
        "{ lambda a:f32[2]={nan -0.0}; b:~f32[]. let\n"
        "    c:~f32[] = mul b 2.0:~f32[]\n"
        "    d:f32[2] = add a c\n"
        "  in (d,) }"
    )
    assert parse(text) == closed


@pytest.mark.parametrize(
    "name", ["f", "<lambda>", "my fn", "a]b", "<unnamed function>"]
)
def test_any_function_name_can_be_written(name: str) -> None:
    a = _var()
    eqn = _jit(_chain(1), (a,), name)
    closed = ClosedJaxpr(Jaxpr((), (a,), (eqn,), eqn.outputs))
    assert parse(str(closed)) == closed


@pytest.mark.parametrize(
    "number, result, dtype",
    [
        ("2.0", "f32", "float32"),
        ("2", "i64", "int64"),
        ("2.0", "f64", "float64"),
        ("True", "bool", "bool"),
        ("nan", "f32", "float32"),
        ("2", "f32", "int32"),
        ("0x1.8p1", "f32", "float32"),
    ],
)
def test_an_untyped_literal_has_the_type_of_its_like(
    number: str, result: str, dtype: str
) -> None:
    text = f"{{ lambda ; a:{result}[3]. let b:{result}[3] = pow a {number} in (b,) }}"
    literal = parse(text).eqns[0].inputs[1]
    assert literal.aval is ShapedArray((), dtype)


def test_text_can_be_pasted_without_its_indentation() -> None:
    recorded = max(RECORDED, key=len)
    pasted = "\n".join(line.strip() for line in recorded.split("\n"))
    assert str(parse(pasted)) == recorded


def test_an_operand_on_a_line_of_its_own_is_not_an_equation() -> None:
    closed = parse(
        "{ lambda ; a:f32[2,3,1]. let\n"
        "    b:f32[2,3,1,1] = dot_general["
        "dimension_numbers=(([], []), ([0, 1], [0, 1]))] a\n"
        "      a\n"
        "    c:f32[2,3,1,1] = abs b\n"
        "  in (c,) }"
    )
    assert [len(eqn.inputs) for eqn in closed.eqns] == [2, 1]


# Errors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, line, column, expected",
    [
        ("", 1, 1, "expected a program"),
        ("{ lambda ; a:f32[3. let in () }", 1, 19, "expected `,` or `]`"),
        ("{ lambda ; a:q32[]. let in () }", 1, 14, "expected a dtype"),
        ("{ lambda ; a. let in (a,) }", 1, 12, "expected `a:f32[]`"),
        ("{ lambda ; a:f32[]. let\n  b:f32[] = 3 in () }", 2, 13, "an equation"),
        ("{ lambda ; a:f32[]. let in (a b) }", 1, 31, "expected `,` or `)`"),
        ("{ lambda ; a:f32[]. let in (a) } }", 1, 34, "the end of the program"),
        ("{ lambda ; a:f32[]. let in (a,) ", 1, 33, "the end of the text"),
        ("{ lambda ; a:f32[]. let b:f32[] = sin[x=] a in () }", 1, 41, "the value"),
        ("{ lambda ; a:f32[]. let b:f32[] = f[x=1 x=2] in () }", 1, 41, "not yet"),
        ("{ lambda ; a:f32[]. let @ in () }", 1, 25, "the character '@'"),
        ("let f = { lambda ; . let in () } in { lambda ; . let jit[name=f "
         "jaxpr=g] in () }", 1, 71, "defined by `let g"),
        ("let f = { lambda ; . let jit[name=f jaxpr=f] in () } in { lambda ; . let "
         "jit[name=f jaxpr=f] in () }", 1, 43, "defined by `let f"),
    ],
)  # fmt: skip
def test_a_mistake_is_shown_where_it_is(
    text: str, line: int, column: int, expected: str
) -> None:
    with pytest.raises(JaxprSyntaxError) as caught:
        parse(text)
    error = caught.value
    assert (error.rule, error.line, error.column) == ("text.syntax", line, column)
    message = str(error).split("\n")
    assert expected in message[1]
    assert f"line {line}, column {column}" in message[2]
    source, caret = message[3], message[4]
    assert source.strip() in text or len(source) >= 76
    assert caret.strip() == "^"
    if column < 50:
        assert caret.index("^") - 4 == column - 1
    assert len(message) < 10


@pytest.mark.parametrize(
    "text, rule",
    [
        ("{ lambda ; a:u8[]. let b:u8[] = add a 256:u8[] in (b,) }", "text.literal"),
        ("{ lambda ; a:i32[]. let b:i32[] = add a 2.5:i32[] in () }", "text.literal"),
        ("{ lambda a:f32[2]={1}; . let in (a,) }", "text.literal"),
        ("{ lambda ; . let a:f32[] = f[g=<function h>] in () }", "text.opaque"),
        ("{ lambda ; . let a:f32[] = f[g=partial(h)] in () }", "text.opaque"),
        ("{ lambda ; a:f32[]. let broadcast_in_dim a in () }", "text.hidden"),
    ],
)
def test_other_clauses_of_reading(text: str, rule: str) -> None:
    with pytest.raises(JaxprSyntaxError) as caught:
        parse(text)
    assert caught.value.rule == rule
    assert caught.value.line == 1 < caught.value.column


def test_deep_nesting_is_refused_and_not_a_crash() -> None:
    deep = "(" * 5000
    with pytest.raises(JaxprSyntaxError, match="levels of brackets"):
        parse(f"{{ lambda ; . let a:f32[] = f[x={deep}] in () }}")
    inner = "{ lambda ; . let jit[name=f jaxpr=" * 500
    with pytest.raises(JaxprSyntaxError, match="levels of brackets"):
        parse(inner)


# Properties ---------------------------------------------------------------------------


@given(programs(size=4))
def test_ordinary_text_is_stable_and_full_text_lossless(closed: ClosedJaxpr) -> None:
    text = str(closed)
    assert str(parse(text)) == text
    assert parse(to_text(closed, full=True)) == closed


SPLICES = [
    *("{", "}", "(", ")", "[", "]", "=", ":", ";", ",", ".", "~", "!", "-", " ", "\n"),
    *("in", "let", "lambda", "nan", "_", "f32[]", "1", "2.5", "'", "<", ">", "é", "\0"),
    *("jaxpr", "jit", "None", "static", "0x1p3", "=={", "True", "9" * 50, "\x0c"),
]


@given(st.data())
def test_mutated_text_raises_nothing_but_its_errors(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(RECORDED[:80]))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, min(len(text), start + 12)))
        piece = data.draw(st.sampled_from(SPLICES) | st.just(text[stop : stop + 20]))
        text = text[:start] + piece + text[stop:]
    try:
        closed = parse(text)
        str(closed)
        check(closed)
    except TraceirError as error:
        assert type(error).__name__ in ("JaxprSyntaxError", "JaxprTypeError") or (
            isinstance(error, TypeError | ValueError | IndexError)
        )
        assert error.rule
