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
from traceir.conform.__main__ import main
from traceir.conform.casefiles.cases import attempt
from traceir.conform.casefiles.plain_functions import PlainCall
from traceir.conform.casefiles.sessions import Session, SessionObject
from traceir.conform.casefiles.values import Ref, TypedValue
from traceir.conform.reporting.dump import case_data, object_data
from traceir.dtypes import KEY, as_dtype, is_key, kind_of
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    ClosedJaxpr,
    Eqn,
    HostFunction,
    Jaxpr,
    Literal,
    Var,
    sort_params,
)
from traceir.text import syntax
from traceir.text.objects import read_tree

CASES = load_cases()
FILES = columns.files()
STEPS = {"call": Call, "setting": Setting, "probe": Probe}


@cache
def dumped(name: str) -> Any:
    """A case as a reader of JSON gets it."""
    return json.loads(json.dumps(case_data(columns.cases()[name])))


# A reader of the form that the chapter describes, which knows JSON and NumPy alone
# until it makes what is compared.


def read_type(data: Any) -> ShapedArray:
    """A type."""
    assert data.keys() == {"dtype", "shape", "weak"}
    return ShapedArray(data["shape"], data["dtype"], data["weak"])


def read_elements(data: Any, aval: ShapedArray) -> np.ndarray:
    """Elements, of the type's shape."""
    if is_key(aval.dtype):
        words = [[key >> 32, key & 0xFFFFFFFF] for key in map(int, data)]
        return (
            np.array(words, "uint32")
            .reshape(-1, 2)
            .view(KEY)[..., 0]
            .reshape(aval.shape)
        )
    match kind_of(aval.dtype):
        case "i" | "u":
            assert all(isinstance(text, str) for text in data)
            data = list(map(int, data))
        case "f":
            data = [float.fromhex(text) for text in data]
        case "c":
            data = list(map(read_complex, data))
    return np.array(data, aval.dtype).reshape(aval.shape)


def read_complex(parts: Any) -> complex:
    """A complex number."""
    return complex(*map(float.fromhex, parts))


def read_array(data: Any) -> TypedValue:
    """An array."""
    aval = read_type(data["type"])
    return TypedValue(aval, read_elements(data["elements"], aval))


def read_program(data: Any) -> ClosedJaxpr:
    """A program."""
    known: dict[int, Var] = {}

    def binder(data: Any) -> Var:
        return known.setdefault(data["var"], Var(read_type(data["type"])))

    def atom(data: Any) -> Var | Literal:
        if "literal" not in data:
            return known[data["var"]] if "type" not in data else binder(data)
        aval = read_type(data["type"])
        return Literal(
            read_elements([data["literal"]], aval.update(shape=()))[()], aval
        )

    constants = tuple(map(binder, data["constants"]))
    values = [c for c in data["constants"] if "elements" in c]
    consts = (read_elements(c["elements"], read_type(c["type"])) for c in values)
    inputs = tuple(map(binder, data["inputs"]))
    eqns = []
    for e in data["equations"]:
        operands = tuple(map(atom, e["inputs"]))
        params = {name: read_object(value) for name, value in e["params"].items()}
        outputs = tuple(map(binder, e["outputs"]))
        effects = frozenset(e["effects"])
        args = (e["primitive"], operands, outputs, sort_params(params), effects)
        eqns.append(Eqn(*args))
    results = tuple(map(atom, data["results"]))
    return ClosedJaxpr(Jaxpr(constants, inputs, tuple(eqns), results), tuple(consts))


@cache
def read_once(text: str) -> ClosedJaxpr:
    """A program within others; one that stands in several places is shared."""
    return read_program(json.loads(text))


def read_object(data: Any) -> Any:
    """A parameter or an argument."""
    if not isinstance(data, dict):
        return data
    ((kind, part),) = data.items()
    match kind:
        case "float":
            return float.fromhex(part)
        case "int":
            return int(part)
        case "complex":
            return read_complex(part)
        case "tuple" | "list":
            return {"tuple": tuple, "list": list}[kind](map(read_object, part))
        case "dict":
            return {read_object(key): read_object(value) for key, value in part}
        case "dtype":
            return as_dtype(part)
        case "type":
            return read_type(part)
        case "array":
            return read_array(part)
        case "program":
            return read_once(json.dumps(part))
        case "ref":
            return Ref(part)
        case "function":
            return HostFunction(part)
        case "tree":
            return read_tree(part)
    raise ValueError(kind)


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
        if not isinstance(step, Call):
            continue
        assert found["function"] == step.function and found["via"] == step.via
        if not any("is" in a for a in found["args"] if isinstance(a, dict)):
            assert same(tuple(map(read_object, found["args"])), step.args)
        values = found["values"]
        got = values if values is None else tuple(map(read_object, values))
        assert same(got, step.values)


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
    objects = (1, 1.0, 1j, True, (1,), [1], {1: "a"}, None, "nan", float("inf"))
    assert same(read_object(json.loads(json.dumps(object_data(objects)))), objects)


def test_an_object_without_a_form_is_an_error() -> None:
    with pytest.raises(TypeError, match="bytes has no form"):
        object_data(b"1")


def test_a_host_function_is_a_tree() -> None:
    data = dumped("cache/static-by-type")["session"]["functions"]["f"]
    names = {field.name for field in fields(Function)} - {"source"}
    assert data.keys() == {"is", *names}
    program = data["program"]
    assert [binder["static"] for binder in program["inputs"]] == [False, True]
    (equation,) = program["equations"]
    parts = {field.name for field in fields(syntax.EquationNode)} - {"at"}
    assert equation.keys() == {"is", *parts} and equation["primitive"] == "mul"
    assert equation["inputs"] == [{"is": "name", "text": "x"}] * 2


def test_objects_of_sessions_are_told_apart() -> None:
    made = object_data(SessionObject("object", (1, (2,))))
    assert made == {"is": "made", "kind": "object", "args": [1, {"tuple": [2]}]}


def test_the_command_prints_all_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dump"]) == 0
    text = capsys.readouterr().out
    data = json.loads(text)
    assert data.keys() == {"format", "cases"} and data["format"] == 2
    assert [case["name"] for case in data["cases"]] == [c.name for c in CASES]
    assert len(text.splitlines()) == len(CASES) + 2
