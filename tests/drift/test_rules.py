"""The loader: each malformed table is an error that says where. Serves: table.*"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes  # noqa: F401  # whose formats are checked once it is imported
import pytest

import traceir
from traceir.errors import RuleTableError
from traceir.rules import default, load
from traceir.rules.formulas.table_errors import PROBLEMS

Tables = Any
Mutation = Callable[[Tables], Any]


def prim(tables: Tables, name: str = "add") -> Any:
    """The row of a primitive."""
    stem = "primitives" if name in tables["primitives"]["prim"] else "regions"
    return tables[stem]["prim"][name]


def clause(tables: Tables, name: str = "add", n: int = 0) -> Any:
    """A clause of a primitive's own."""
    return prim(tables, name)["clause"][n]


def row(tables: Tables, table: str, section: str, n: int = 0) -> Any:
    """A row of another table."""
    return tables[table][section][n]


def face(tables: Tables) -> Any:
    """The edges of the first face."""
    return tables["lattice"]["face"][0]["edges"]


BAD: dict[str, tuple[Mutation, str, tuple[str, ...]]] = {
    "a way that keeps its traces and knows values": (
        lambda t: row(t, "levels", "transform", 4).update(keeps=True),
        "table.keeps",
        ("levels.toml", "level.jvp", "value"),
    ),
    "a judgement that is written without one of its names": (
        lambda t: row(t, "judgements", "judgement").update(form="⊢ P : σs → τs"),
        "table.form",
        ("judgements.toml", "judgement.typed-program", "φ"),
    ),
    "an unknown helper": (
        lambda t: clause(t).update(holds="frob(x.shape)"),
        "table.helper",
        ("primitives.toml", "add", "numeric", "holds", "frob"),
    ),
    "a helper of another kind of formula": (
        lambda t: clause(t).update(holds="run(x, y)"),
        "table.helper",
        ("run",),
    ),
    "an unknown free name": (
        lambda t: clause(t).update(holds="z.shape == ()"),
        "table.name",
        ("primitives.toml", "add", "numeric", "holds", "got: z"),
    ),
    "the output index in a clause": (
        lambda t: clause(t).update(holds="i == ()"),
        "table.name",
        ("got: i",),
    ),
    "an unknown name in a key": (
        lambda t: row(t, "cache", "key").update(part="leaf.shape"),
        "table.name",
        ("cache.toml", "cache.key.function", "part", "got: leaf"),
    ),
    "an unknown name of a program": (
        lambda t: row(t, "program", "clause").update(holds="distinct(x)"),
        "table.name",
        ("program.toml", "program.inputs"),
    ),
    "no formula of the language": (
        lambda t: clause(t).update(holds="[x.dtype]"),
        "table.formula",
        ("primitives.toml", "add", "numeric", "[x.dtype]", "List"),
    ),
    "a duplicate id in a row": (
        lambda t: prim(t)["clause"].append(dict(clause(t))),
        "table.duplicate",
        ("add.numeric",),
    ),
    "a duplicate id across tables": (
        lambda t: row(t, "errors", "clause").update(id="cache.key.x64"),
        "table.duplicate",
        ("cache.key.x64",),
    ),
    "a primitive named as a class": (
        lambda t: t["primitives"]["prim"].update(pointwise2=prim(t)),
        "table.duplicate",
        ("pointwise2",),
    ),
    "an operand named as a helper": (
        lambda t: prim(t).update({"in": ["take", "y"]}),
        "table.duplicate",
        ("add", "take"),
    ),
    "an unknown key of a primitive": (
        lambda t: prim(t).update(colour="red"),
        "table.key",
        ("primitives.toml", "prim.add", "colour"),
    ),
    "an unknown key of a clause": (
        lambda t: clause(t).update(colour="red"),
        "table.key",
        ("add", "numeric", "colour"),
    ),
    "an unknown key of a param": (
        lambda t: prim(t, "sin").update(params={"a": {"domain": "int", "x": 1}}),
        "table.key",
        ("sin", "params.a", "unknown x"),
    ),
    "an unknown key of a row": (
        lambda t: row(t, "levels", "ask").update(colour="red"),
        "table.key",
        ("levels.toml", "level.concretize.bool", "colour"),
    ),
    "an unknown section": (
        lambda t: t["cache"].update(keys=[]),
        "table.key",
        ("cache.toml", "keys"),
    ),
    "an unknown table": (
        lambda t: t.update(colours={}),
        "table.file",
        ("colours.toml",),
    ),
    "a row that is no table": (
        lambda t: prim(t).update(clause=["numeric"]),
        "table.file",
        ("add", "'numeric'"),
    ),
    "a missing key": (
        lambda t: row(t, "cache", "key").pop("per"),
        "table.key",
        ("cache.key.function", "no key 'per'"),
    ),
    "a key of another kind": (
        lambda t: clause(t).update(holds=True),
        "table.key",
        ("add", "numeric: holds", "True"),
    ),
    "a list of other things": (
        lambda t: prim(t).update({"in": [1, 2]}),
        "table.key",
        ("add", "in", "[1, 2]"),
    ),
    "a value outside a closed list": (
        lambda t: row(t, "cache", "key").update(per="argument"),
        "table.key",
        ("cache.key.function", "per", "argument", "call, leaf, static"),
    ),
    "a variadic operand that is not the last": (
        lambda t: prim(t).update({"in": ["*x", "y"]}),
        "table.key",
        ("add", "in", "*x"),
    ),
    "an order of params that are not there": (
        lambda t: prim(t, "jit").update(order=["jaxpr", "colour"]),
        "table.key",
        ("jit", "order", "colour"),
    ),
    "a clause that says nothing": (
        lambda t: clause(t).pop("says"),
        "table.says",
        ("add", "numeric"),
    ),
    "a row that says nothing": (
        lambda t: row(t, "cache", "key").update(says=" "),
        "table.says",
        ("cache.key.function",),
    ),
    "a need of a later clause": (
        lambda t: clause(t, "select_n").update(needs=["which-shape"]),
        "table.needs",
        ("select_n", "which-shape"),
    ),
    "an unknown class of rows": (
        lambda t: prim(t).update({"class": "pointwise9"}),
        "table.class",
        ("add", "pointwise9"),
    ),
    "a class of itself": (
        lambda t: t["primitives"]["class"]["pointwise2"].update({"class": "compare"}),
        "table.class",
        ("class",),
    ),
    "an unknown exception": (
        lambda t: row(t, "errors", "clause").update({"class": "KeyError"}),
        "table.class",
        ("errors.toml", "KeyError"),
    ),
    "an unknown domain": (
        lambda t: prim(t, "sin").update(params={"a": {"domain": "colour"}}),
        "table.domain",
        ("sin", "params.a", "colour"),
    ),
    "a default outside its domain": (
        lambda t: prim(t, "sin").update(
            params={"a": {"domain": "int", "default": "()"}}
        ),
        "table.domain",
        ("sin", "params.a", "default"),
    ),
    "a primitive without a meaning": (
        lambda t: prim(t).pop("value"),
        "table.meaning",
        ("add", "none"),
    ),
    "a primitive with two meanings": (
        lambda t: prim(t).update(means="{ lambda ; . let in () }"),
        "table.meaning",
        ("add", "value, means"),
    ),
    "an unknown accuracy": (
        lambda t: prim(t).update(accuracy="good"),
        "table.accuracy",
        ("add", "good"),
    ),
    "an accuracy in units without units": (
        lambda t: prim(t).update(accuracy="ulp"),
        "table.accuracy",
        ("add", "ulp"),
    ),
    "an event without a transition": (
        lambda t: t["machine"]["transition"].pop(1),
        "table.machine",
        ("machine.toml", "call when kept and shared: no transition"),
    ),
    "an event with two transitions": (
        lambda t: row(t, "machine", "transition", 5).pop("when"),
        "table.machine",
        ("call when tracing and ", ", cache.event.trace-too"),
    ),
    "a transition of what is impossible": (
        lambda t: row(t, "machine", "transition").update({"from": ["absent", "gone"]}),
        "table.machine",
        ("call when gone", "cache.event.first-call"),
    ),
    "a state that nothing leads to": (
        lambda t: row(t, "machine", "transition", -1).pop("does"),
        "table.machine",
        ("gone, which nothing leads to",),
    ),
    "a transition from an unknown state": (
        lambda t: row(t, "machine", "transition").update({"from": ["nowhere"]}),
        "table.key",
        ("cache.event.first-call", "from", "nowhere", "gone, lifted"),
    ),
    "a transition that depends on no fact": (
        lambda t: row(t, "machine", "transition", 3).update(when="caller == maker"),
        "table.name",
        ("cache.event.recursion", "when", "caller"),
    ),
    "a transition that raises nothing": (
        lambda t: row(t, "machine", "transition", 3).update(outcome="hits"),
        "table.machine",
        ("cache.event.recursion", "hits and cache.recursion"),
    ),
    "an event that is a call in some rows alone": (
        lambda t: row(t, "machine", "transition", 2).pop("outcome"),
        "table.machine",
        ("machine.toml", "call: an outcome in some rows and none in others"),
    ),
    "a machine that raises what is no row": (
        lambda t: row(t, "machine", "demand").update(raises="cache.colour"),
        "table.row",
        ("machine.toml", "cache.colour"),
    ),
    "a flag that names another row of the key": (
        lambda t: row(t, "cache", "flag").update(key="cache.key.face"),
        "table.duplicate",
        ("cache.flag.enable_x64", "cache.key.face"),
    ),
    "a flag that does not say what it splits": (
        lambda t: row(t, "cache", "flag", -1).update(key="cache.key.logs"),
        "table.key",
        ("cache.flag.explain_cache_misses", "splits"),
    ),
    "a row of the key that reads a flag": (
        lambda t: row(t, "cache", "key").update(part="call.sanitize"),
        "table.row",
        ("cache.key.function", "sanitize"),
    ),
    "a range that is not NumPy's": (
        lambda t: t["lattice"]["dtype"]["int8"].update(max="126"),
        "table.lattice",
        ("dtype.int8", "126", "NumPy has", "127"),
    ),
    "a range with two ends": (
        lambda t: t["lattice"]["dtype"]["bfloat16"].update(max="0x1p+127"),
        "table.lattice",
        ("dtype.bfloat16",),
    ),
    "an edge to an unknown dtype": (
        lambda t: face(t).update(float64=["float128"]),
        "table.lattice",
        ("promote.jax", "float128"),
    ),
    "a set of an unknown dtype": (
        lambda t: t["lattice"]["set"].update(wide=["complex256"]),
        "table.lattice",
        ("set.wide", "complex256"),
    ),
    "a template of an unknown name": (
        lambda t: prim(t).update(jvp={"x": "mul t z"}),
        "table.template",
        ("primitives.toml", "add", "mul t z", "got: z"),
    ),
    "a template of an unknown primitive": (
        lambda t: prim(t).update(jvp={"x": "frob t"}),
        "table.derivative",
        ("add", "frob t"),
    ),
    "a class of batching that has no formulas": (
        lambda t: prim(t).update(batch={"rule": "pointwise", "dim": "d"}),
        "table.batch",
        ("add", "formulas in the class"),
    ),
    "shared operands of a class that moves all": (
        lambda t: prim(t).update(batch={"rule": "together", "shared": ["x"]}),
        "table.batch",
        ("add", "shared operands in the class"),
    ),
    "edges in a circle": (
        lambda t: face(t).update(float64=["bool"]),
        "table.lattice",
        ("promote.jax", "bool -> int* -> "),
    ),
    "two least bounds": (
        lambda t: face(t).update(int8=["int16", "uint16"]),
        "table.lattice",
        ("promote.jax", "int8 and uint8 meet in int16 and uint16"),
    ),
    "no bound": (
        lambda t: face(t).update(bfloat16=[]),
        "table.lattice",
        ("promote.jax", "bfloat16"),
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_a_malformed_table_is_refused(what: str) -> None:
    mutate, rule, words = BAD[what]
    tables = copy.deepcopy(dict(default().tables))
    mutate(tables)
    with pytest.raises(RuleTableError) as caught:
        load(tables)
    text = str(caught.value)
    assert caught.value.rule == rule
    assert text.startswith(PROBLEMS[rule])
    assert [word for word in words if word not in text] == []
    assert len(text.splitlines()) < 10


def row_paths(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all tables and lists within tables; those to rows end in a number."""
    for step, inner in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(inner, dict | list):
            yield (*path, step)
            yield from row_paths(inner, (*path, step))


def test_every_kind_of_row_refuses_an_unknown_key() -> None:
    tables = copy.deepcopy(dict(default().tables))
    rows = [path for path in row_paths(tables) if type(path[-1]) is int]
    for path in {(path[0], len(path), path[-2]): path for path in rows}.values():
        found: Any = tables
        for step in path:
            found = found[step]
        found["colour"] = "red"
        with pytest.raises(RuleTableError, match="unknown colour"):
            load(tables, like=default())
        del found["colour"]


def test_every_problem_has_a_table_that_has_it() -> None:
    # Only a trace meets a value that is to answer and has none.
    assert {rule for _, rule, _ in BAD.values()} == PROBLEMS.keys() - {"table.answer"}


def test_a_value_that_is_to_answer_and_has_none_is_a_problem_of_the_tables() -> None:
    def asked(x: Any) -> Any:
        with pytest.raises(RuleTableError, match="toml: jit knows shape") as caught:
            x.answer()
        assert caught.value.rule == "table.answer"
        return x

    traceir.make_jaxpr(traceir.jit(asked))(1.0)
