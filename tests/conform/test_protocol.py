"""The protocol: commands are judged as adapters are, whatever they do.

Serves: every table
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import columns
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceir.conform import Outcome, Verdict, load_cases
from traceir.conform.__main__ import main
from traceir.conform.judging.adapters import NotLoaded, load
from traceir.conform.judging.answers import Malformed
from traceir.conform.processes.pool import WorkerPool
from traceir.conform.protocol.decoding import (
    read_array,
    read_outcome,
    read_program,
    reading,
)
from traceir.conform.protocol.encoding import program_data
from traceir.ir.jaxpr import ClosedJaxpr

HERE = Path(__file__).parent
PROGRAMS = [c for c in load_cases() if "value" in c.verbs and not c.session][::20]
FIRST, SECOND = "add/special", "neg/floats"


def command(how: str, *more: str) -> str:
    """The command line of a command that behaves so."""
    return shlex.join([sys.executable, str(HERE / "commands.py"), how, *more])


def verdicts(how: str, *names: str, limit: float = 20.0) -> dict[str, Verdict]:
    """The verdicts of a command, which is ended afterwards."""
    adapter = load(f"command {limit} {command(how)}")
    try:
        return {name: adapter.verdict(columns.cases()[name]) for name in names}
    finally:
        adapter.implementation.close()


def test_a_command_is_judged() -> None:
    names = [
        case.name for case in load_cases() if case.name.startswith(("add/", "neg/"))
    ]
    pool = WorkerPool(f"command 20 {command('rightly')}")
    found = dict(pool.verdicts(names))
    assert pool.about is not None
    assert (pool.about.name, pool.about.version) == ("tiny", "2")
    assert {v.kind for v in found.values()} == {"pass", "unsupported"}
    assert found[FIRST].kind == "pass" and found["add/bool"].kind == "pass"


@pytest.mark.parametrize(
    "how, kind, why",
    [
        ("dies", "crashed", "`infer`: ended with status 3; it last wrote: out of mem"),
        ("is killed", "crashed", "`infer`: ended with status -9"),
        ("closes", "crashed", "`infer`: closed its output"),
        ("half a line", "crashed", 'ended with status 0 within a line: {"id": 1, "gi'),
        ("floods", "crashed", "`infer`: a line of more than 64 MiB"),
        ("floods with lines", "crashed", "an answer to 0, asked was 2"),
        ("not UTF-8", "crashed", "no UTF-8, at byte 8"),
        ("no JSON", "crashed", "no JSON: Expecting value"),
        ("NaN", "crashed", "no JSON: NaN"),
        ("too deep", "crashed", "no JSON: "),
        ("no object", "crashed", "no object of JSON: [1, 2]"),
        ("out of order", "crashed", "an answer to 3, asked was 2"),
        ("no id", "crashed", "an answer to null, asked was 2"),
        ("true id", "crashed", "an answer to true, asked was 2"),
        ("nothing", "crashed", "none of gives, rejected, unsupported, error"),
        ("two", "crashed", "gives and unsupported of gives, "),
        ("twice", "crashed", "wrote what nobody asked for"),
        ("error", "crashed", "`infer`: division by zero"),
        ("no rule", "fail", "`infer` is rejected by neither a rule nor a class"),
        ("types", "fail", '{"types": [{"dtype": "float33"}]} is no answer to `infer`'),
        ("lies", "fail", "expected f32"),
        ("weakens", "fail", "typed (~f32[6]), expected (f32[6])"),
        ("few", "fail", "5 elements for f32[6]"),
        ("decimal", "fail", '"1.5" is no hexadecimal text of a number'),
        ("invents a rule", "fail", "by add.dtypes (no rule has this name; a rule is"),
        ("double", "fail", "0x1.0000000000001p+0 is no element of float32"),
        ("floods with errors", "pass", ""),
    ],
)
def test_what_is_broken_has_a_verdict(how: str, kind: str, why: str) -> None:
    found = verdicts(how, FIRST, SECOND)
    assert found[FIRST].kind == kind, found
    assert why in found[FIRST].why
    # The next case finds it started anew.
    assert found[SECOND].kind == kind


@pytest.mark.parametrize("how", ["hangs", "half a line, hangs"])
def test_silence_has_an_end(how: str) -> None:
    found = verdicts(how, FIRST, limit=0.5)
    assert found[FIRST] == Verdict(
        "crashed", "CommandError: `infer`: no answer within 0.5 s"
    )


@pytest.mark.parametrize(
    "how, why",
    [
        ("dies at once", "`hello`: ended with status 4; it last wrote: no such device"),
        ("other version", "`hello`: speaks version 2.0 of the protocol, the judge 1."),
        ("no version", "`hello`: speaks version None of the protocol"),
        ("claims nonsense", "claims the requests dance"),
        ("claims a number", "claims the requests 5, which is no list of texts"),
        ("talks first", "`hello`: no JSON"),
    ],
)
def test_who_does_not_greet_is_not_judged(
    how: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--command", command(how), "--cases", FIRST]) == 2
    assert why in capsys.readouterr().err


def test_who_never_greets_is_not_judged() -> None:
    with pytest.raises(NotLoaded, match=r"within 0\.5 s; does it flush its"):
        load(f"command 0.5 {command('no greeting')}")
    with pytest.raises(NotLoaded, match="cannot be started"):
        load("command 1 no-such-command --here")


def test_a_choice_that_is_not_allowed_fails() -> None:
    found = verdicts("claims a choice", FIRST)
    assert found[FIRST].kind == "fail" and "not allowed" in found[FIRST].why


def test_what_is_not_claimed_is_unsupported() -> None:
    names = ("text/unclosed", "grad/product", "cache/shape")
    known = {case.name for case in load_cases()}
    found = verdicts("rightly", *(name for name in names if name in known))
    assert {v.kind for v in found.values()} == {"unsupported"}


def test_a_command_is_told_to_end(tmp_path: Path) -> None:
    path = tmp_path / "ended"
    pool = WorkerPool(f"command 20 {command('rightly', str(path))}")
    assert dict(pool.verdicts([FIRST]))[FIRST]
    assert path.read_text() == "ended"


# An adapter behind the protocol is judged as it is without.
SAMPLE = [
    *("text/unclosed", "cache/shape", "add/wraps", "add/bool", "jax/odds"),
    *("level/bool-under-jit", "cache/a-global-is-read-by-the-trace"),
    *("while/double-until-100", "reduce_sum/middle"),
]


def test_an_adapter_behind_the_protocol(tmp_path: Path) -> None:
    every = {case.name for case in load_cases()}
    chosen = [name for name in SAMPLE if name in every]
    chosen += [cases[0].name for cases in columns.files().values()]
    served = shlex.join([sys.executable, "-m", "traceir.conform.protocol", "oracle"])
    path = tmp_path / "run.json"
    patterns = [part for name in chosen for part in ("--cases", name)]
    main(["--command", served, "--json", str(path), *patterns])
    run = json.loads(path.read_text())
    adapter = load("oracle")
    cases = columns.cases()
    for name, found in run["verdicts"].items():
        if not cases[name].plain:
            assert found["kind"] == adapter.verdict(cases[name]).kind, (name, found)


# What others say ----------------------------------------------------------------------

GARBAGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["var", "type", "is", "program"]), inner)
    ),
    max_leaves=4,
)


def places(data: Any) -> list[tuple[Any, Any]]:
    """Every place in JSON: a container, and the key or number of a part."""
    keys = data.keys() if isinstance(data, dict) else range(len(data))
    found = [(data, key) for key in keys]
    inner = [data[key] for key in keys if isinstance(data[key], dict | list)]
    return found + [place for part in inner for place in places(part)]


@given(st.data())
def test_whatever_is_answered_is_read_or_malformed(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(PROGRAMS))
    told = json.loads(json.dumps(program_data(case.program())))
    container, key = data.draw(st.sampled_from(places(told)))
    if data.draw(st.booleans()):
        container[key] = data.draw(GARBAGE)
    else:
        del container[key]
    with suppress(Malformed):
        assert isinstance(reading("a program", read_program, told), ClosedJaxpr)


@pytest.mark.parametrize(
    "dtype, element, why",
    [
        ("float32", "nan(0x17fc00001)", "out of bounds for uint32"),
        ("float32", "nan(0x3f800000)", "is no hexadecimal text of a number"),
        ("float32", "0x1p+1000000", "is too large"),
        ("float32", "0x1p+200", "is no element of float32"),
        ("float64", "10", "is no hexadecimal text of a number"),
        ("float64", 1.5, "is no hexadecimal text of a number"),
        ("int8", "128", "is not from -128 to 127"),
        ("int8", "1.0", "is no decimal text of an integer"),
        ("int8", 1, "is no decimal text of an integer"),
        ("int8", "9" * 10000, "is no decimal text of an integer"),
        ("bool", "true", "is no truth value"),
        ("bool", 1, "is no truth value"),
        ("complex64", ["inf"], "is no list of two parts"),
        ("complex64", "0x0p+0", "is no list"),
        ("key<fry>", "-1", "is not from 0 to"),
        ("float33", "0x0p+0", "is no dtype"),
    ],
)
def test_an_element_is_exact_or_malformed(dtype: str, element: Any, why: str) -> None:
    told = {"dtype": dtype, "shape": [], "weak": False}
    with pytest.raises(Malformed, match=re.escape(why)):
        reading("an array", read_array, {"type": told, "elements": [element]})


@given(GARBAGE | st.fixed_dictionaries({"event": GARBAGE, "values": GARBAGE}))
def test_an_outcome_is_read_or_malformed(told: Any) -> None:
    with suppress(Malformed):
        assert isinstance(reading("an outcome", read_outcome, told), Outcome)


def test_functions_that_are_transformed_without_jit(tmp_path: Path) -> None:
    requests = ("infer", "evaluate", "transform")
    served = shlex.join(
        [sys.executable, "-m", "traceir.conform.protocol", "oracle", *requests]
    )
    path = tmp_path / "run.json"
    chosen = [c for c in load_cases() if c.file in ("grad.tir", "vmap.tir") and c.under]
    patterns = [part for c in chosen[::9] for part in ("--cases", c.name)]
    main(["--command", served, "--json", str(path), *patterns])
    found = json.loads(path.read_text())["verdicts"]
    kinds = [verdict["kind"] for verdict in found.values()]
    # What asks for the program of a trace is not asked of them.
    assert {*kinds} <= {"pass", "unsupported"} and kinds.count("pass") > 5
