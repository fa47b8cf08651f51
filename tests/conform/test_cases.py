"""Every case of the specification, and the reader and runner of cases themselves.

Rules: text.case, and all that cases cite
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import columns
import numpy as np
import pytest

from traceir.conform import (
    Call,
    Case,
    Implementation,
    Outcome,
    Session,
    Setting,
    Unsupported,
    Verdict,
    judge,
    load_cases,
    read_cases,
)
from traceir.conform.casefiles.values import TypedValue, same_bits
from traceir.conform.systems.actions import asked
from traceir.conform.systems.host import ACTIONS
from traceir.conform.systems.implementations import Oracle, Reference
from traceir.errors import JaxprSyntaxError, JaxprTypeError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.rules import default
from traceir.text.printer import to_text

CASES = load_cases()
FILES = columns.files()
PASS = Verdict("pass")
GIVEN = "given { lambda ; a:f32[]. let b:f32[] = add a a in (b,) }"


@pytest.mark.parametrize("file", FILES)
def test_the_tables_give_exactly_what_the_cases_say(file: str) -> None:
    found = {case.name: columns.exact(case.name) for case in FILES[file]}
    assert found == {c.name: columns.expected("oracle", c) for c in FILES[file]}


@pytest.mark.parametrize("file", FILES)
def test_the_reference_conforms(file: str) -> None:
    found = {c.name: columns.verdict("reference", c.name) for c in FILES[file]}
    assert found == {c.name: columns.expected("reference", c) for c in FILES[file]}


def test_names_are_unique_across_files() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)) > 300


# Reading ------------------------------------------------------------------------------


def only(text: str) -> Case:
    """The one case of a text."""
    (case,) = read_cases(f"case a/b\n{text}")
    return case


def test_a_case_is_read_verb_by_verb() -> None:
    case = only(
        "  # a comment\n"
        "  cites  add.numeric pointwise2.dtype\n"
        "         pointwise2.broadcast\n"
        "  given  { lambda ; a:f32[2] b:f32[]. let\n"
        "             c:f32[2] = add a b\n"
        "           in (c,) }\n"
        "  weak   b\n"
        "  call   f32[2]{1 -0x1p-1}\n"
        "         ~f32[]{inf}\n"
        "  type   f32[2]\n"
    )
    assert case.cites == ("add.numeric", "pointwise2.dtype", "pointwise2.broadcast")
    program = case.program()
    assert [a.weak_type for a in program.in_avals] == [False, True]
    assert program.out_avals == case.types == (ShapedArray((2,), "float32"),)
    first, second = case.values("call")
    assert first.array.tolist() == [1.0, -0.5]
    assert str(second) == "~f32[]{inf}"
    assert case.line == 1 and case.reject is None and case.session is None


def test_sessions_are_read_as_data() -> None:
    case = only(
        "  given f = { lambda ; x static n. let y = mul x x in (y,) } "
        "    with max_traces=2\n"
        "  given g = f\n"
        "  session f(f32[]{2}, n=(1, 'a')) traces = f32[]{4} ; enable_x64(true)\n"
        "        ; make_jaxpr g({'k': [1, -0.0]}, None) hits\n"
        "        ; g(nan, 2) raises select_n.which-shape\n"
    )
    assert case.session is not None
    first, second = case.session.functions.values()
    assert first.options == {"max_traces": 2} and second.same_as == "f"
    assert first.program is not None
    assert [b.static for b in first.program.inputs] == [False, True]
    call, setting, staged, last = case.session.steps
    assert isinstance(call, Call) and isinstance(last, Call)
    assert call.kwargs == {"n": (1, "a")} and call.verdict == "traces"
    assert call.values is not None and str(call.values[0]) == "f32[]{4.0}"
    assert setting == Setting("enable_x64", (True,))
    assert isinstance(staged, Call) and staged.via == "make_jaxpr"
    assert staged.args == ({"k": [1, -0.0]}, None) and staged.verdict == "hits"
    assert last.rule == "select_n.which-shape" and case.rejected == {last.rule}


def test_a_call_under_a_transform_is_a_session_of_one_call() -> None:
    case = only(
        "  given  { lambda ; x. let host_bool x in (x,) }\n"
        "  under  jit\n"
        "  call   bool[]{true}\n"
        "  reject level.concretize.bool\n"
    )
    assert case.session is not None
    (call,) = case.session.steps
    assert isinstance(call, Call)
    assert (call.function, call.via, call.rule) == ("f", "jit", case.reject)
    assert judge(Oracle(), case) and judge(Reference(), case)


@pytest.mark.parametrize(
    "text, line, problem",
    [
        ("given x\ncase a\n  given x\n", 1, "text before"),
        ("case a\n  given { }\n", 1, "nothing is expected"),
        ("case a\n  type f32[]\n", 1, "no `given`"),
        (f"case a\n  {GIVEN}\n  type f32[]\n  type f32[]\n", 4, "`type` twice"),
        (f"case a\n  {GIVEN}\n  wants f32[]\n", 3, "the verb `wants`"),
        (f"case a\n  {GIVEN}\n  type f32[]\n" * 2, 4, "a second `a`"),
        (f"case a\n  {GIVEN}\n  prints {{\n    }}\n", 1, "line of its own"),
        (f"case a\n  {GIVEN}\n  under jit\n  session f() hits\n", 1, "and `under`"),
    ],
)  # fmt: skip
def test_a_malformed_case_is_refused(text: str, line: int, problem: str) -> None:
    with pytest.raises(JaxprSyntaxError) as caught:
        read_cases(text)
    assert caught.value.rule == "text.case"
    assert caught.value.line == line and problem in caught.value.got


@pytest.mark.parametrize(
    "session, expected",
    [
        ("f(f32[]{1}) maybe", "`;` or the end"),
        ("g(f32[]{1}) hits", "`;` or the end"),
        ("jit g(f32[]{1})", "a function of this case"),
        ("drop('g')", "the name of what this case defines"),
        ("cache_size() = 1", "the name of what this case defines"),
        ("f(f32[]{1} traces", "`,` or `)`"),
        ("f(@) traces", "the character"),
        ("f({1 2}) traces", "`:`"),
        ("f(f32[2]{1})", "1 elements for f32[2]"),
    ],
)
def test_a_malformed_session_is_refused(session: str, expected: str) -> None:
    case = only(f"  given f = {{ lambda ; x. let in (x,) }}\n  session {session}\n")
    with pytest.raises(JaxprSyntaxError) as caught:
        assert case.session
    assert expected in caught.value.got and caught.value.line == 3


def test_a_mistake_in_a_program_is_shown_at_its_line_of_the_file() -> None:
    case = only(
        "  given { lambda ; a:f32[]. let\n    b:f32[] = add a @ in () }\n  type"
    )
    with pytest.raises(JaxprSyntaxError) as caught:
        case.program()
    assert (caught.value.line, caught.value.column) == (3, 21)


def test_cases_of_a_folder_are_read_in_order(tmp_path: Path) -> None:
    for name in ("b", "a"):
        text = f"case {name}/one\n  {GIVEN}\n  type f32[]\n"
        (tmp_path / f"{name}.tir").write_text(text, encoding="utf-8")
    assert [(c.name, c.file) for c in load_cases(tmp_path)] == [
        ("a/one", "a.tir"),
        ("b/one", "b.tir"),
    ]


def test_same_bits() -> None:
    zero, nan = np.float32([0.0]), np.float32([np.nan])
    assert same_bits(nan, np.uint32([0xFFC00001]).view(np.float32))
    assert not same_bits(zero, -zero) and not same_bits(zero, nan)
    assert not same_bits(zero, zero.astype(np.float64))
    assert not same_bits(zero, zero.reshape(1, 1))
    assert same_bits(np.int32([1, 2]), np.int32([1, 2]))


def test_host_functions_do_all_that_the_levels_ask_about() -> None:
    actions = {row.action for row in default().levels.asks.values()}
    assert all(asked(default(), action) for action in actions)
    assert not actions & ACTIONS.keys()
    assert not ACTIONS.keys() & default().prims.keys()


# Judging ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fake:
    """An implementation that answers what it is told to."""

    types: Sequence[ShapedArray] | Exception = (ShapedArray((), "float32"),)
    results: Sequence[np.ndarray] = (np.float32(4),)
    outcomes: Sequence[Outcome] | Exception = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    name: str = "fake"
    shares: Sequence[str] = ("text",)

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        if isinstance(self.types, Exception):
            raise self.types
        return self.types

    def eval(
        self, program: ClosedJaxpr, args: Sequence[np.ndarray]
    ) -> Sequence[np.ndarray]:
        return self.results

    def text(self, program: ClosedJaxpr, full: bool) -> str:
        return to_text(program, full)

    def session(self, session: Session) -> Sequence[Outcome]:
        if isinstance(self.outcomes, Exception):
            raise self.outcomes
        return self.outcomes


def error(rule: str) -> JaxprTypeError:
    """The error of a rule, as an implementation raises it."""
    found = JaxprTypeError("no")
    found.rule = rule
    return found


VALUE = f"  {GIVEN}\n  call f32[]{{2}}\n  value f32[]{{4}}\n"
REJECT = f"  {GIVEN}\n  reject add.numeric\n"
PRINTS = f"  {GIVEN}\n  prints {GIVEN.removeprefix('given ')}\n"
WRONG = f"  {GIVEN}\n  prints {{ lambda ; . let in () }}\n"
SINE = "  given { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }\n"
SINE += "  call f32[]{1}\n  value f32[]{0x1.aed548p-1}\n"
CALLS = "  given f = { lambda ; x. let in (x,) }\n"
CALLS += "  session f(f32[]{1}) traces = f32[]{1} ; f(f32[]{1}) hits\n"
ONE = (TypedValue(ShapedArray((), "float32"), np.float32(1)),)
TWO = (TypedValue(ShapedArray((), "float32"), np.float32(2)),)


@pytest.mark.parametrize(
    "implementation, text, kind, why",
    [
        (Fake(), VALUE, "pass", ""),
        (Fake(results=(np.float32(5),)), VALUE, "fail", "f32[]{5.0}, expected"),
        (Fake(results=(np.float64(4),)), VALUE, "fail", "f64[], expected f32[]"),
        (Fake(results=()), VALUE, "fail", "0 results"),
        (Fake(types=()), VALUE, "fail", "typed"),
        (Fake(types=error("add.numeric")), VALUE, "fail", "rejected by add.numeric"),
        (Fake(types=KeyError("a")), VALUE, "crashed", "KeyError"),
        (Fake(types=Unsupported("no adds")), VALUE, "unsupported", "no adds"),
        (Fake(types=error("add.numeric")), REJECT, "pass", ""),
        (Fake(types=error("x.y")), REJECT, "fail", "rejected by x.y"),
        (Fake(), REJECT, "fail", "accepted"),
        (Fake(), PRINTS, "pass", ""),
        (Fake(), WRONG, "fail", "printed"),
        (Fake(results=(np.float32(0.8414710),)), SINE, "pass", ""),
        (Fake(results=(np.float32(0.8415),)), SINE, "fail", "expected"),
        (Fake(), CALLS, "fail", "0 outcomes"),
        (Fake(outcomes=Unsupported("no jit")), CALLS, "unsupported", "no jit"),
        (Fake(outcomes=(Outcome("traces", None, ONE), Outcome("hits"))), CALLS,
         "pass", ""),
        (Fake(outcomes=(Outcome("traces", None, TWO), Outcome("hits"))), CALLS,
         "fail", "expected f32[]{1.0}"),
        (Fake(outcomes=(Outcome("traces", None, ()), Outcome("hits"))), CALLS,
         "fail", "0 results"),
        (Fake(outcomes=(Outcome("traces", None, ONE), Outcome("traces"))), CALLS,
         "fail", "traces, expected hits"),
        (Fake(outcomes=(Outcome("raises", "x.y"),)), CALLS,
         "fail", "raises x.y (no rule has this name), expected traces"),
        (Fake(choices={"choice.sum-order": "free"}), VALUE, "pass", ""),
        (Fake(choices={"choice.sum-order": "any"}), VALUE, "fail", "not allowed"),
        (Fake(choices={"choice.x": "any"}), VALUE, "fail", "no choice"),
    ],
)  # fmt: skip
def test_verdicts(
    implementation: Implementation, text: str, kind: str, why: str
) -> None:
    verdict = judge(implementation, only(text))
    assert verdict.kind == kind and why in verdict.why
    assert bool(verdict) == (kind == "pass")


def test_what_is_near_enough_for_an_implementation_is_not_for_the_tables() -> None:
    near = Fake(results=(np.nextafter(np.float32(0.8414710), np.float32(1)),))
    case = only(SINE)
    assert judge(near, case) and not judge(near, case, exact=True)
