"""The rule language: what it refuses, walked is compiled. Serves: table.formula"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import AVALS, SAMPLES, fitting
from soak import examples

from traceir.base.flags import FLAGS
from traceir.errors import RuleTableError
from traceir.ir.avals import ShapedArray
from traceir.oracle.scalar_interpreter import Elements
from traceir.rules import Formula, Rules, Scope, compile_formula, default, parse, walk
from traceir.rules.formulas.helpers import HELPERS
from traceir.rules.formulas.language import ATTRIBUTES, BUILTINS, FOLDS, VOCABULARY
from traceir.rules.load import spec_path
from traceir.rules.primitives import STEP_CALLS

REFUSED = {
    "lambda v: v": "Lambda",
    "[1, 2]": "List",
    "{1: 2}": "Dict",
    "{1}": "Set",
    "[v for v in s]": "ListComp",
    "(v for v in s)": "GeneratorExp",
    "len(v for v in s)": "GeneratorExp",
    "sum((v for v in s), 1)": "GeneratorExp",
    "all(v for t in s for v in t)": "GeneratorExp",
    "all(v for v in s if v if s)": "GeneratorExp",
    "all(v for v.shape in s)": "GeneratorExp",
    "a ** b": "BinOp",
    "a << b": "BinOp",
    "a ^ b": "BinOp",
    "a @ b": "BinOp",
    "~a": "UnaryOp",
    "+a": "UnaryOp",
    "a is b": "Compare",
    "x.__class__": "Attribute",
    "x.size": "Attribute",
    "s[::2]": "Slice",
    "max(*s)": "Starred",
    "(*s, 1)": "Tuple",
    "max(a, key=b)": "Call",
    "x.shape()": "Call",
    "(v := a)": "NamedExpr",
    "f'{a}'": "JoinedStr",
    "b'a'": "Constant",
    "1j": "Constant",
    "...": "Constant",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_production_is_refused(text: str) -> None:
    with pytest.raises(RuleTableError) as caught:
        parse(text)
    assert caught.value.rule == "table.formula"
    assert REFUSED[text] in caught.value.got
    assert text in str(caught.value)


@pytest.mark.parametrize("text", ["", "a b", "a = 1", "return a", "a;b", "(a"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(RuleTableError) as caught:
        parse(text)
    assert caught.value.rule == "table.formula"


def test_free_names_are_those_that_no_loop_binds() -> None:
    formula = parse("all(a < b + v for a, v in pairs if a in t) and v and take(s, v)")
    assert formula.names == {"b", "pairs", "t", "v", "s"}
    assert formula.calls == {"all", "take"}


def test_a_formula_is_lazy_where_python_is() -> None:
    env = {"s": (), "p": False}
    assert walk(parse("len(s) > 0 and s[0]"), env) is False
    assert walk(parse("len(s) == 0 or s[0]"), env) is True
    assert walk(parse("s[0] if p else 1"), env) == 1
    assert walk(parse("1 < 0 < s[0]"), env) is False
    assert walk(parse("all(s[v] for v in (0, 1) if p)"), env) is True


def test_a_scope_computes_a_part_once_and_only_when_read() -> None:
    asked: list[str] = []

    def b(_: Scope) -> int:
        asked.append("b")
        return 2

    scope = Scope({"a": 1}, {"b": b, "c": lambda s: s["missing"]})
    assert walk(parse("a + b * b"), scope) == 5
    assert asked == ["b"]
    assert sorted(scope) == ["a", "b", "c"] and len(scope) == 3


# --- walked is compiled: random formulas ----------------------------------------------

ENV: dict[str, Any] = {
    "a": 2,
    "b": -1,
    "c": 0,
    "p": True,
    "s": (2, 3),
    "t": (1, 0),
    "e": (),
    "n": None,
    "x": ShapedArray((2, 1), "float32"),
    "d": np.dtype("int8"),
}


def call(name: str, arguments: tuple[str, ...]) -> str:
    return f"{name}({', '.join(arguments)})"


def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """One production more around formulas that are drawn already."""
    binary = st.sampled_from(
        [
            "+",
            "-",
            "*",
            "/",
            "//",
            "%",
            "&",
            "|",
            "and",
            "or",
            "==",
            "!=",
            "<",
            "<=",
            "in",
        ]
    )
    binary |= st.just("not in")
    some = st.lists(inner, min_size=0, max_size=3).map(tuple)
    sequence = inner | st.sampled_from(["s", "t", "range(3)", "box(s)"])
    plain = sorted(VOCABULARY.keys() - {"real"})
    return st.one_of(
        st.tuples(inner, binary, inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} < {t[1]} <= {t[2]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        inner.map(lambda v: f"(-{v})"),
        inner.map(lambda v: f"(not {v})"),
        some.map(lambda vs: f"({''.join(v + ', ' for v in vs)})"),
        st.tuples(inner, inner).map(lambda t: f"{t[0]}[{t[1]}]"),
        st.tuples(inner, inner).map(lambda t: f"{t[0]}[{t[1]}:]"),
        st.tuples(inner, inner).map(lambda t: f"{t[0]}[:{t[1]}]"),
        st.tuples(inner, st.sampled_from(sorted(ATTRIBUTES))).map(
            lambda t: f"({t[0]}).{t[1]}"
        ),
        inner.map(lambda v: f"({v} is None)"),
        inner.map(lambda v: f"({v} is not None)"),
        st.tuples(st.sampled_from(plain), some).map(lambda t: call(*t)),
        st.tuples(st.sampled_from(sorted(FOLDS)), inner, sequence).map(
            lambda t: f"{t[0]}({t[1]} for a in {t[2]})"
        ),
        st.tuples(st.sampled_from(sorted(FOLDS)), inner, sequence, inner).map(
            lambda t: f"{t[0]}({t[1]} for a, b in {t[2]} if {t[3]})"
        ),
    )


LEAVES = st.sampled_from([*ENV, "0", "1", "3", "0.5", "'exp'", "True", "None", "int8"])
FORMULAS = st.recursive(LEAVES, extend, max_leaves=8)


def outcome(function: Callable[[], Any]) -> tuple[str, str]:
    """The value of a call, or the class of the exception that it raised."""
    try:
        value = function()
        if isinstance(value, Iterator):
            value = ("iterator", *value)
    except Exception as error:
        return "raises", type(error).__name__
    return "gives", f"{type(value).__name__} {value!r}"


def both(formula: Formula, env: Mapping[str, Any]) -> tuple[Any, Any]:
    """The values of a formula, walked and compiled.

    A function's arguments have values before it is called, used or not.
    """
    names = sorted(formula.names | {n for n in formula.calls if n in env})

    def walked() -> Any:
        _ = [env[n] for n in names]
        return walk(formula, env)

    def compiled() -> Any:
        return compile_formula(formula, names)(*(env[n] for n in names))

    return outcome(walked), outcome(compiled)


@given(FORMULAS)
@settings(max_examples=examples(400))
def test_a_random_formula_walked_is_compiled(text: str) -> None:
    walked, compiled = both(parse(text), {**ENV, "int8": np.dtype("int8")})
    assert walked == compiled


# --- walked is compiled: the formulas of the tables -----------------------------------


def elements(aval: ShapedArray) -> Elements:
    """An operand of that type with a few different elements."""
    array = np.arange(-1, aval.size - 1).reshape(aval.shape)
    return Elements.of(array.astype(aval.dtype))


# The result of whatever program a formula runs.
FOUND = elements(AVALS[1])


def formulas_of_primitives() -> Iterator[tuple[str, Formula, Mapping[str, Any]]]:
    rules = default()
    for prim in rules.prims.values():
        for k, aval in enumerate(AVALS):
            operands: dict[str, Any] = dict.fromkeys(prim.inputs, elements(aval))
            if prim.variadic:
                operands[prim.inputs[-1]] = (elements(aval), elements(AVALS[1]))
            for p in prim.params:
                operands[p.name] = SAMPLES[p.domain][k % len(SAMPLES[p.domain])]
            if prim.name == "broadcast_in_dim":
                operands |= {"broadcast_dimensions": (0, 1), "shape": aval.shape}
            if k == 0:
                operands |= fitting(prim.name)
            operands |= {"run": lambda program, xs: (FOUND, len(xs))}
            operands |= {"again": len, "fold": lambda *parts: parts[-1]}
            operands |= {"lanes": lambda which, new, old: new, "refuse": len}
            operands |= {"host": lambda function, xs: xs}
            operands |= {"on_devices": lambda program, xs, *given: xs}
            scope = Scope(operands, prim.let, rules.constants)
            parts = {**prim.let, **prim.each, "value": prim.value, "steps": prim.steps}
            parts |= {c.id: c.holds for c in prim.clauses}
            parts |= {p.name: p.parse for p in prim.params}
            if isinstance(prim.out, Formula):
                types = dict.fromkeys(prim.inputs[: prim.arity], aval)
                typed = Scope({**operands, **types}, prim.let, rules.constants)
                yield f"{prim.name}: out", prim.out, typed
            else:
                for n, out in enumerate(prim.out):
                    parts |= {f"{n}.shape": out.shape, f"{n}.dtype": out.dtype}
                    parts |= {f"{n}.weak_type": out.weak_type}
            for rank in range(4):  # that of the result, which reductions lower
                inner = Scope(
                    {"i": (0,) * rank, "part": 0, "out": aval}, prim.each, scope
                )
                for name, formula in parts.items():
                    if formula is not None:
                        yield f"{prim.name}: {name}", formula, inner


def formulas_of_the_machine(
    rules: Rules,
) -> Iterator[tuple[str, Formula, Mapping[str, Any]]]:
    machine = rules.machine
    happens: dict[str, Any] = {**machine.start, "caller": 1, "makers": (1, 2)}
    happens |= {"depth": 0, "captures": ()}
    happens |= {"made": 1, "limit": 2, "no_tracing": False, "strict": True}
    happens |= {"objects": 1, "objects_then": 2, "reads": 1, "reads_then": 1}
    for fact in (*machine.states.values(), *machine.facts.values()):
        yield fact.name, fact.holds, happens
    for effect in machine.effects.values():
        yield effect.name, effect.to, happens
    for variable in machine.variables.values():
        yield variable.name, variable.start, {}
    for demand in machine.demands:
        yield demand.raises, demand.holds, happens
    for row in machine.transitions.values():
        if row.when is not None:
            yield row.id, row.when, dict.fromkeys(machine.facts, True)


def formulas_of_other_tables() -> Iterator[tuple[str, Formula, Mapping[str, Any]]]:
    rules = default()
    call = SimpleNamespace(
        **{name: flag.default for name, flag in FLAGS.items()},
        function=len,
        face="jax",
        strict=False,
        tree=("x",),
        axes=(),
    )
    key: dict[str, Any] = {"call": call, "v": AVALS[1], "typed": lambda v: (type(v), v)}
    for row in rules.keys:
        yield row.id, row.part, key
    nesting: dict[str, Any] = {"depth": 1, "open": ("outer", "inner"), "home": "inner"}
    nesting |= {"whole": 0, "own": 1, "named": 0, "known": 1, "needed": 2}
    nesting |= {"outer": 2, "inner": 1}
    nesting |= {"way": "jit", "disabled": True, "array": False}
    for rule in rules.levels.nesting.values():
        known = (rule.knows, rule.answers, rule.literal, rule.runs)
        for formula in (rule.level, rule.holds, *known):
            if formula is not None:
                yield rule.id, formula, nesting
    yield from formulas_of_the_machine(rules)
    program = {
        "name": "add",
        "primitives": frozenset(rules.prims),
        "operands": AVALS,
        "arity": 2,
        "variadic": False,
        "given": ("a",),
        "declared": ("a",),
        "misfits": (),
        "bound": {1, 2},
        "read": (1, 2),
        "written": (3,),
        "literals": AVALS[:1],
        "results": AVALS[:1],
        "inferred": AVALS[:1],
        "named": ("debug",),
        "does": ("debug",),
        "inputs": (1, 2),
        "constants": AVALS[:1],
        "values": (np.ones(()),),
        "outputs": (3,),
    }
    for clause in rules.program:
        assert clause.holds is not None
        yield clause.id, clause.holds, program


def test_every_formula_of_the_tables_walked_is_compiled() -> None:
    given_value: dict[str, bool] = {}
    for name, formula, scope in (
        *formulas_of_primitives(),
        *formulas_of_other_tables(),
    ):
        found, compiled = both(formula, scope)
        assert found == compiled, name
        given_value[name] = given_value.get(name, False) or found[0] == "gives"
    # Else the samples above would show little.
    assert [name for name, gives in given_value.items() if not gives] == []


# --- the helpers and their chapter ----------------------------------------------------

NOTATION = (spec_path() / "notation.rst").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^ +>>> (.+)\n +(.+)$", NOTATION, re.MULTILINE)
SHOWN: dict[str, Any] = {
    "x": Elements.of(np.array([[10], [20]], "int32")),
    "y": Elements.of(np.array(7, "int32")),
    "t": ShapedArray((3,), "float32"),
}


@pytest.mark.parametrize(("text", "result"), EXAMPLES)
def test_an_example_of_the_notation_is_true(text: str, result: str) -> None:
    formula = parse(text)
    env = {**default().constants, **SHOWN}
    walked, compiled = both(formula, env)
    assert walked == compiled
    assert walked[1].partition(" ")[2] == result


def test_the_notation_defines_every_helper_with_an_example() -> None:
    defined = re.findall(r"^``(\w+)\(.*\)``$", NOTATION, re.MULTILINE)
    assert sorted(defined) == sorted({*HELPERS, *STEP_CALLS})
    shown = {name for text, _ in EXAMPLES for name in parse(text).calls}
    assert shown >= HELPERS.keys()
    assert len(HELPERS) <= 20


def test_the_notation_lists_what_the_language_has() -> None:
    attributes = ATTRIBUTES - FLAGS.keys()
    for name in (*BUILTINS, *FOLDS, *attributes, *default().sets, *SAMPLES):
        assert f"``{name}``" in NOTATION, name


def test_every_helper_has_a_use() -> None:
    used: set[str] = set()
    for _, formula, _ in (*formulas_of_primitives(), *formulas_of_other_tables()):
        used |= formula.calls
    assert HELPERS.keys() - used == set()


def test_the_walker_knows_every_node_that_parsing_lets_through() -> None:
    assert isinstance(parse("-1").node, ast.UnaryOp)
    with pytest.raises(AssertionError, match="unchecked"):
        walk(ast.parse("[1]", mode="eval").body, {})
