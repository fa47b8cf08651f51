"""The specification as data: what is read back is what was written.

Serves: every table
"""

from __future__ import annotations

import ast
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceir.conform import load_cases
from traceir.dtypes import as_dtype
from traceir.exact.reals import Real
from traceir.oracle.accuracy import Goal, member, settle
from traceir.oracle.scalar_interpreter import declared_choices
from traceir.rules import Formula, Rules, default, load, parse, spec_path
from traceir.spec.__main__ import main
from traceir.spec.codec import encode
from traceir.spec.document import FORMAT, TABLES, digest, document, read
from traceir.spec.schema import schema
from traceir.spec.sets import members, sets_of
from traceir.spec.trees import formula, number, read_number, tree

SCHEMA = spec_path() / "specification.schema.json"


@cache
def exported() -> Any:
    """The document without cases, as a reader of JSON gets it."""
    return json.loads(json.dumps(document(default(), [])))


def tables_of(rules: Rules) -> dict[str, Any]:
    """The tables of rules as plain data, formulas by their trees."""
    found = {name: encode(getattr(rules, name)) for name in TABLES}
    return {**found, "judgements": encode(rules.judgements)}


def test_the_schema_is_that_of_this_form() -> None:
    # A change of it is a new version of the form: `python -m traceir.spec schema`.
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == schema()


def test_the_version_of_the_form_is_told() -> None:
    chapter = (spec_path() / "data.rst").read_text(encoding="utf-8")
    versions = chapter.partition("Versions of the form\n---")[2]
    assert f"\n{FORMAT}\n   " in versions


def test_the_document_validates() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    cases = load_cases()[::37]
    data = json.loads(json.dumps(document(default(), cases)))
    jsonschema.Draft202012Validator(schema()).validate(data)


def test_the_schema_refuses_what_is_none() -> None:
    data = exported()
    shape = data["rules"]["prims"]["add"]["out"][0]["shape"]
    broken = json.loads(json.dumps(data))
    broken["rules"]["prims"]["add"]["out"][0]["shape"] = {**shape, "more": 1}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(broken)


def test_rules_are_read_back() -> None:
    found = dict(read(exported()))
    clauses = {i: encode(c) for i, c in found.pop("clauses").items()}
    assert clauses == {i: encode(c) for i, c in default().clauses.items()}
    assert {k: encode(v) for k, v in found.items()} == tables_of(default())
    assert found["lattice"] == default().lattice
    assert found["choices"] == default().choices


def formulas() -> list[Formula]:
    """Every formula of the tables."""
    found: list[Formula] = []

    def collect(value: Any) -> None:
        if isinstance(value, Formula):
            found.append(value)
        elif isinstance(value, dict):
            for inner in value.values():
                collect(inner)
        elif isinstance(value, (tuple, list, frozenset)):
            for inner in value:
                collect(inner)
        elif hasattr(value, "__dataclass_fields__"):
            for name in value.__dataclass_fields__:
                collect(getattr(value, name))

    for name in TABLES:
        collect(getattr(default(), name))
    collect(default().judgements)
    return found


def test_every_formula_is_read_back() -> None:
    for one in formulas():
        again = formula(json.loads(json.dumps(tree(one.node))))
        assert ast.dump(again.node) == ast.dump(one.node), one.text


NAMES = st.sampled_from("xyab")
NUMBERS = st.integers() | st.floats(0, allow_infinity=False) | st.booleans()
LEAVES = NAMES | NUMBERS.map(lambda n: repr(abs(n))) | st.just("'text'")


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Formulas of formulas."""
    signs = ["+", "-", "*", "/", "//", "%", "&", "|", "<", "==", "in", "and", "or"]
    return (
        st.builds("({} {} {})".format, inner, st.sampled_from(signs), inner)
        | st.builds("({} < {} <= {})".format, inner, inner, inner)
        | st.builds("({} if {} else {})".format, inner, inner, inner)
        | st.builds("(not {})".format, inner)
        | st.builds("(-{})".format, inner)
        | st.builds("({}, {})".format, inner, inner)
        | st.builds("x[{}:{}]".format, inner, inner)
        | st.builds("x.shape[{}]".format, inner)
        | st.builds("sum({} for a, b in {} if {})".format, inner, inner, inner)
        | st.builds("tuple({} for a in {})".format, inner, inner)
        | st.builds("take({}, {})".format, inner, inner)
    )


@given(st.recursive(LEAVES, combined, max_leaves=12))
def test_any_formula_is_read_back(text: str) -> None:
    one = parse(text)
    data = json.loads(json.dumps(tree(one.node)))
    jsonschema.Draft202012Validator(node_schema()).validate(data)
    assert ast.dump(formula(data).node) == ast.dump(one.node)


@cache
def node_schema() -> Any:
    """The schema of a formula's node."""
    return {"$ref": "#/$defs/formula", "$defs": schema()["$defs"]}


@given(st.integers() | st.floats(allow_nan=False))
def test_numbers_are_exact(value: float) -> None:
    found = read_number(json.loads(json.dumps(number(value))))
    assert (found, type(found)) == (value, type(value))


def test_a_digest_is_of_the_meaning() -> None:
    data = document(default(), [])
    assert data["suite"]["sha256"]["rules"] == digest(exported()["rules"])


def test_other_tables_are_exported(tmp_path: Path) -> None:
    for path in (spec_path() / "rules").glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        if path.stem == "primitives":
            text = text.replace('value = "a + b"', 'value = "a - b"', 1)
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    output = tmp_path / "specification.json"
    arguments = ["export", "--without-cases", "-o", str(output)]
    assert main([*arguments, "--rules", str(tmp_path)]) == 0
    found = json.loads(output.read_text(encoding="utf-8"))
    assert found["rules"]["prims"]["add"]["value"]["op"] == "-"
    assert found["suite"]["sha256"]["rules"] != exported()["suite"]["sha256"]["rules"]
    assert tables_of(load(tmp_path))["prims"] == found["rules"]["prims"]


# The sets of cases --------------------------------------------------------------------

FLOATS = ("float16", "bfloat16", "float32", "float64")
REAL = ("exact", "rounded", "extremum", "ulp", "conditioned", "sum", "product")


def within(name: str, found: list[Any], got: Any) -> bool:
    """True if a set as JSON has a number: a reader's own few lines."""
    if np.iscomplexobj(got):
        both = ("re", got.real), ("im", got.imag)
        return any(all(within(name, one[k], v) for k, v in both) for one in found)
    if np.isnan(got):
        return "nan" in found
    place = math.copysign(1.0, got), float(got)
    for one in found:
        low, high = (one["from"], one["to"]) if isinstance(one, dict) else (one, one)
        if low != "nan" and before(low, place) and not before(high, place, strict=True):
            return True
    return False


def before(text: str, place: tuple[float, float], strict: bool = False) -> bool:
    """True if a number stands before another, or at its place; -0 is before 0."""
    number = float.fromhex(text)
    mine = number, math.copysign(1.0, number)
    other = place[1], place[0]
    return mine < other if strict else mine <= other


@given(st.data())
def test_sets_have_the_members_that_the_oracle_accepts(data: st.DataObject) -> None:
    dtype = as_dtype(data.draw(st.sampled_from(FLOATS)))
    name = data.draw(st.sampled_from(REAL))
    terms = data.draw(st.lists(st.floats(width=16, allow_subnormal=False), max_size=4))
    want = sum((Real.of(x) for x in terms), Real.of(0))
    usual = declared_choices(default())
    goal = Goal(want, dtype, data.draw(st.integers(0, 3)), usual)
    found = json.loads(json.dumps(members(name, goal)))
    middle = settle(want, dtype)
    near = [middle]
    for _ in range(6):
        near += [np.nextafter(near[-1], dtype.type(np.inf)) for _ in (1,)]
    near += [np.nextafter(middle, dtype.type(-np.inf)), -middle]
    near += [dtype.type(x) for x in (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0)]
    for got in map(dtype.type, near):
        assert within(name, found, got) == member(name, goal, got), got


def test_every_value_is_in_its_sets() -> None:
    wrong, seen = [], 0
    for case in load_cases():
        if not case.name.startswith(("sin/", "exp/", "logistic/", "erfc/", "max/")):
            continue
        found = sets_of(case, default())
        if not isinstance(found, list):
            continue
        for part, value in zip(found, case.values("value"), strict=True):
            for one, got in zip(part, value.array.reshape(-1), strict=True):
                seen += 1
                if not within("", one, got):
                    wrong.append((case.name, one, got))
    assert seen > 20 and wrong == []
