"""Files of programs: what they keep, and that nothing else is read as one.

Cites export.layout, export.head, export.file, export.version, export.program,
export.additions, export.later, export.constants.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule
from soak import SOAK, examples

import traceir
import traceir.numpy as jnp
from traceir.conform.casefiles.cases import Case, load_cases
from traceir.errors import TraceirError
from traceir.exports.constants import Blocks, from_bytes
from traceir.exports.container import FileContents, pack, unpack
from traceir.exports.program import portable
from traceir.ir.jaxpr import subjaxprs
from traceir.ir.typecheck import check
from traceir.text import parse, to_text

SPEC = traceir.ShapeDtypeStruct((3,), "float32")


def scaled(x: Any) -> Any:
    """A function with a constant."""
    return {"y": x * np.array([1.0, 2.0, 3.0], "float32")}


FILE = traceir.export(scaled, SPEC).serialize()
RULES = traceir.export(lambda x: traceir.nn.relu(x["v"]), {"v": SPEC}).serialize(2)


def with_head(**changes: Any) -> bytes:
    """The file with another head, and the digest of its bytes."""
    parts = unpack(FILE)
    return pack(FileContents({**parts.head, **changes}, parts.text, parts.blocks))


def with_text(old: str, new: str) -> bytes:
    """The file with another text, and the digest of its bytes."""
    parts = unpack(FILE)
    assert old in parts.text
    return pack(FileContents(parts.head, parts.text.replace(old, new), parts.blocks))


def test_a_file_is_what_the_specification_says() -> None:
    first, second, head, rest = FILE.split(b"\n", 3)
    body = FILE.split(b"\n", 2)[2]
    assert first == b"traceir program 1"
    assert second.decode() == f"{sha256(body).hexdigest()} {len(body)}"
    sizes = json.loads(head)["sizes"]
    text, blocks = rest[: sizes["text"]], rest[sizes["text"] :]
    assert text.decode().startswith("{ lambda a:f32[3]={0}; b:f32[3]. let")
    assert sizes["blocks"] == [12]
    assert blocks == np.array([1, 2, 3], "<f4").tobytes()


def test_every_cut_is_noticed() -> None:
    for end in range(len(FILE)):
        with raises_rule("export.file", ValueError):
            traceir.deserialize(FILE[:end])
    with raises_rule("export.file", ValueError, "1 bytes|, not"):
        traceir.deserialize(FILE + b"\0")


def test_every_change_of_a_byte_is_noticed() -> None:
    # The number of the format may become that of a later one.
    begin = FILE.index(b"1\n")
    for place in range(len(FILE)):
        changed = bytearray(FILE)
        changed[place] ^= 4
        rule = "export.version" if place == begin else "export.file"
        with raises_rule(rule, ValueError):
            traceir.deserialize(bytes(changed))


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"\x80\4K\1.", b"traceir program\n"])
def test_other_bytes_are_no_file(data: bytes) -> None:
    with raises_rule("export.file", ValueError, "does not begin"):
        traceir.deserialize(data)


def test_only_bytes_are_read() -> None:
    with pytest.raises(TypeError, match="is bytes, got str"):
        traceir.deserialize("traceir program 1")  # type: ignore[arg-type]  # on purpose
    data = traceir.export(lambda x: x + 1.0, 2.0).serialize()
    assert traceir.deserialize(memoryview(data))(2.0) == 3.0


def test_a_later_format_is_refused_before_all_else() -> None:
    with raises_rule("export.version", ValueError, "format 12"):
        traceir.deserialize(b"traceir program 12\nwhatever it is then")


def test_additions_to_the_head_are_passed_over() -> None:
    data = with_head(added={"later": [1, 2]})
    assert traceir.deserialize(data)(jnp.ones(3))["y"].tolist() == [1, 2, 3]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"name": None, "arguments": None}, "cannot be read"),
    "a leaf too many": ({"in": {"tuple": ["*", "*"]}}, "are not those"),
    "a leaf too few": ({"out": None}, "are not those"),
    "no tuple": ({"in": {"list": ["*"]}}, "other names"),
    "names": ({"arguments": []}, "other names"),
    "one name": (
        {"arguments": ["x", "x"], "in": {"tuple": ["*", None]}},
        "have one name",
    ),
    "a tree of another kind": ({"in": {"set": ["*"]}}, "cannot be read"),
    "no tree": ({"in": 7}, "cannot be read"),
    "a deep tree": ({"in": "*", "out": {"tuple": [{"tuple": 3}]}}, "cannot be read"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_head_that_does_not_fit_is_refused(what: str) -> None:
    changes, got = WRONG[what]
    with raises_rule("export.file", ValueError, got):
        traceir.deserialize(with_head(**changes))


@pytest.mark.parametrize(
    ("old", "new", "got"),
    [
        ("mul", "mull", "program.primitive.*written by traceir"),
        ("c:f32[3] = mul", "c:f32[4] = mul", "program.result-type"),
        ("c:f32[3] = mul", "c:f8_e9[3] = mul", "text.*f8_e9"),
        ("= mul ", "= mul[later=3] ", "program.params.*later"),
        ("in (", "in ", "text.syntax"),
        ("={0}", "", "without the number"),
        ("={0}", "={0.5}", "text.literal"),
    ],
)
def test_a_program_that_is_not_known_is_refused(old: str, new: str, got: str) -> None:
    with raises_rule("export.program", ValueError, got):
        traceir.deserialize(with_text(old, new))


@pytest.mark.parametrize(
    ("old", "new", "got"),
    [
        ("={0}", "={1}", "no constant 1"),
        ("a:f32[3]=", "a:f32[2]=", "f32\\[2\\] of 12 bytes"),
        ("a:f32[3]=", "a:bool[12]=", "truth value"),
    ],
)
def test_a_constant_that_does_not_fit_is_refused(old: str, new: str, got: str) -> None:
    with raises_rule("export.file", ValueError, got):
        traceir.deserialize(with_text(old, new))


BODIES = [data.split(b"\n", 2)[2] for data in (FILE, RULES)]
WORDS = [re.findall(rb"[\w.]+|.", body, re.DOTALL) for body in BODIES]
OTHERS = [
    *b"-1 99999999999999999999 nan inf None null { [ 1e400 true f64 key<fry>".split()
]


def altered(random: Random) -> bytes:
    """A file with other bytes or words in some places, and the digest of its bytes."""
    words = [*random.choice(WORDS)]
    for _ in range(random.randint(1, 3)):
        place = random.randrange(len(words))
        other, byte = random.choice(OTHERS), random.randbytes(1)
        instead = random.choice(
            [[], [other], [random.choice(words)], [words[place]] * 2, [byte]]
        )
        words[place : place + 1] = instead
    head, _, rest = b"".join(words).partition(b"\n")
    with suppress(ValueError, TypeError, LookupError):  # most sizes are put right
        found = json.loads(head)
        found["sizes"]["text"] = len(rest) - sum(found["sizes"]["blocks"])
        head = json.dumps(found).encode()
    body = head + b"\n" + rest
    second = f"{sha256(body).hexdigest()} {len(body)}\n".encode()
    return b"traceir program 1\n" + second + body


def test_what_somebody_altered_is_a_program_or_refused() -> None:
    random = Random(5)
    refused = {"export.file": 0, "export.program": 0, "export.tree": 0}
    count = examples(400)
    for _ in range(count):
        try:
            read = traceir.deserialize(altered(random))
            check(read.jaxpr)
        except TraceirError as error:
            refused[error.rule] += 1
    assert count > sum(refused.values()) > count / 2
    assert refused["export.file"] > 0 < refused["export.program"]


def test_constants_are_kept_once() -> None:
    x = np.arange(1000.0, dtype="float32")
    inner = traceir.jit(lambda v: v * x)
    data = traceir.export(lambda v: inner(v) + x, x).serialize()
    assert unpack(data).blocks == (x.astype("<f4").tobytes(),)


def test_every_program_of_the_cases_survives() -> None:
    cases = load_cases()[:: 1 if SOAK else 5]
    programs = [p for p in map(program_of, cases) if p is not None]
    assert len(programs) > len(cases) / 4
    assert [p for p in programs if again(p) != p] == []


def program_of(case: Case) -> traceir.ClosedJaxpr | None:
    """The program of a case, None where it has none that is whole and well formed."""
    try:
        found = portable(case.program())
        check(found)
    except (TraceirError, ValueError, KeyError):
        return None
    return found if is_whole(found) else None


def is_whole(program: traceir.ClosedJaxpr) -> bool:
    """True if all constants are known."""
    within = (inner for eqn in program.eqns for inner in subjaxprs(eqn))
    counts = len(program.consts) == len(program.jaxpr.constvars)
    return counts and all(map(is_whole, within))


def again(program: traceir.ClosedJaxpr) -> traceir.ClosedJaxpr:
    """A program that was written and read."""
    blocks = Blocks()
    text = to_text(program, full=True, keep=blocks.keep)
    return parse(text, kept=lambda n, aval: from_bytes(blocks.found[n], aval))


# Written once, by the version that introduced the format; never written anew.
FIRST = Path(__file__).parents[1] / "data" / "exported-1.bin"


def test_a_file_of_the_first_version_is_read_for_ever() -> None:
    model = traceir.deserialize(FIRST.read_bytes())
    x = np.linspace(-1.0, 1.0, 6, dtype="float32").reshape(2, 3)
    found = model({"w": x, "b": np.float32(0.5)}, x[0])
    wanted = np.tanh(x @ x[0] + 0.5) * np.array([1.0, -2.0], "float32")
    np.testing.assert_allclose(found["y"], wanted, rtol=1e-6)
    drawn, count = found["drawn"]
    assert drawn.tolist() == [2895194379, 4185947648]
    assert count.tolist() == [3, 3]
