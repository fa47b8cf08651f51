"""The cases as JSON: read back, they are what they were. Serves: every table"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from functools import cache
from typing import Any

import columns
import numpy as np
import pytest

from traceir.conform import Call, Case, Function, Probe, Setting, load_cases
from traceir.conform.casefiles.cases import attempt
from traceir.conform.casefiles.plain_functions import PlainCall
from traceir.conform.casefiles.sessions import Session, SessionObject
from traceir.conform.casefiles.values import TypedValue
from traceir.conform.protocol.decoding import (
    read_array,
    read_object,
    read_program,
    read_session,
    read_type,
)
from traceir.conform.protocol.encoding import node_data, object_data
from traceir.dtypes import KEY
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    ClosedJaxpr,
)
from traceir.spec.cases import case_data
from traceir.text import syntax

CASES = load_cases()
FILES = columns.files()
STEPS = {"call": Call, "setting": Setting, "probe": Probe}


@cache
def dumped(name: str) -> Any:
    """A case as a reader of JSON gets it."""
    return json.loads(json.dumps(case_data(columns.cases()[name])))


def same(a: Any, b: Any) -> bool:
    """Equal objects; arrays of equal types and bits."""
    if type(a) is not type(b):
        return False
    match a:
        case TypedValue():
            return a.same(b)
        case tuple() | list():
            return len(a) == len(b) and all(map(same, a, b))
        case dict():
            return same([*a.items()], [*b.items()])
        case float():
            return a.hex() == b.hex()
        case complex():
            return same((a.real, a.imag), (b.real, b.imag))
    return bool(a == b)


@pytest.mark.parametrize("file", FILES)
def test_cases_are_what_they_were(file: str) -> None:
    changed = []
    for case in FILES[file]:
        try:
            check_case(case, dumped(case.name))
        except AssertionError as error:
            changed.append(f"{case.name}: {error}")
    assert changed == []


def check_case(case: Case, data: Any) -> None:
    """A case has its verbs, and each of them what was written."""
    assert [data["name"], data["file"], data["line"]] == [
        case.name, case.file, case.line
    ]  # fmt: skip
    assert data["cites"] == list(case.cites) and data["reject"] == case.reject
    assert same(tuple(map(read_array, data["call"])), case.values("call"))
    assert same(tuple(map(read_array, data["value"] or ())), case.values("value"))
    if data["type"] is not None:
        assert tuple(map(read_type, data["type"])) == case.types
    if case.session:
        check_session(data["session"], case.session)
        return
    if case.plain:
        found = data["plain"]
        calls = tuple(PlainCall(**call) for call in found["calls"])
        again = replace(case.plain, calls=calls, text=found["text"])
        assert again == case.plain and found["function"] == case.plain.name
        return
    program = attempt(case)
    if isinstance(program, ClosedJaxpr):
        found = read_program(data["program"])
        if found != program:  # NaNs of other bits are not equal, nor are loose names
            assert case.reject or "nan" in str(program)
            assert str(found) == str(program)
    else:
        assert data["unreadable"]["rule"] == program.rule == case.reject
        assert data["unreadable"]["text"] and data["program"] is None


def check_session(data: Any, session: Session) -> None:
    """A session has its steps, and each of them its arguments."""
    assert data["functions"].keys() == session.functions.keys()
    assert data["objects"].keys() == session.objects.keys()
    assert len(data["steps"]) == len(session.steps)
    for found, step in zip(data["steps"], session.steps):
        kind = STEPS[found["is"]]
        assert isinstance(step, kind)
        assert found.keys() == {"is", *(field.name for field in fields(kind))}
    assert node_data(read_session(data)) == node_data(session) == data


def test_nothing_is_rounded() -> None:
    values = np.float32([0.1, -0.0, np.inf, -np.inf, 1e-45])
    value = TypedValue(ShapedArray((5,), "float32"), values)
    data = object_data(value)["array"]["elements"]
    assert data[1:4] == ["-0x0.0p+0", "inf", "-inf"]
    assert read_array(object_data(value)["array"]).same(value)
    nans = TypedValue(ShapedArray((2,), "float64"), np.array([np.nan, -np.nan]))
    assert object_data(nans)["array"]["elements"] == ["nan", "-nan"]
    most = TypedValue(ShapedArray((), "uint64"), np.uint64(2**64 - 1))
    assert object_data(most)["array"]["elements"] == [str(2**64 - 1)]


def test_what_json_does_not_tell_apart_is_told() -> None:
    objects = (1, 1.0, 1j, True, (1,), [1], {1: "a"}, None, "nan", float("inf"), KEY)
    assert same(read_object(json.loads(json.dumps(object_data(objects)))), objects)


def test_an_object_without_a_form_is_an_error() -> None:
    with pytest.raises(TypeError, match="bytes has no form"):
        object_data(b"1")


def test_a_host_function_is_a_tree() -> None:
    data = dumped("cache/static-by-type")["session"]["functions"]["f"]
    names = {field.name for field in fields(Function)} - {"source"}
    assert data.keys() == {"is", "closed", *names}
    program = data["program"]
    assert [binder["static"] for binder in program["inputs"]] == [False, True]
    (equation,) = program["equations"]
    parts = {field.name for field in fields(syntax.EquationNode)} - {"at"}
    assert equation.keys() == {"is", *parts} and equation["primitive"] == "mul"
    assert equation["inputs"] == [{"is": "name", "text": "x"}] * 2


def test_objects_of_sessions_are_told_apart() -> None:
    made = object_data(SessionObject("object", (1, (2,))))
    assert made == {"is": "made", "kind": "object", "args": [1, {"tuple": [2]}]}
