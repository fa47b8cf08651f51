"""Pages that run, and what they are given: programs for primitives, sessions as text.

Serves: every table
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from _ext.playground import OTHERS, of_cases, programs

from traceir.conform import load_cases
from traceir.ir.typecheck import check
from traceir.rules import default
from traceir.spec.cases import case_data
from traceir.spec.document import document
from traceir.text import parse

EVENTS = Path(__file__).parents[2] / "spec" / "playground" / "dist/page/events.js"
NODE = shutil.which("node") if EVENTS.exists() else None
# Sessions that a page could play, and others in which more is passed.
FILES = ("machine.tir", "cache.tir", "effect.tir", "levels.tir")
# Reads sessions, and gives the events of each that are others once they were text.
AGAIN = """
import { readFileSync } from "node:fs";
const { load } = await import(process.argv[1].replace("page/events", "src/index"));
const { eventText, readEvents } = await import(process.argv[1]);
const { given, sessions } = JSON.parse(readFileSync(0, "utf8"));
const spec = load(given);
const known = ({ is, function: f, name, args, kwargs, via }) =>
  JSON.stringify({ is, f, name, args, kwargs, via });
const lost = sessions.flatMap(({ functions, steps }) => {
  const text = steps.map((step) => eventText(spec, step)).join("\\n");
  const again = readEvents(spec, text, Object.keys(functions)).map((e) => e.step);
  return steps.filter((step, k) => known(step) !== known(again[k] ?? {}));
});
console.log(JSON.stringify(lost));
"""


def test_each_primitive_has_a_program() -> None:
    assert set(programs()) == set(default().prims)
    other = sorted(programs().keys() - of_cases().keys())
    # What a case evaluates needs none that is written by hand.
    assert other == sorted(tomllib.loads(OTHERS.read_text("utf-8")))
    for name in other:
        closed = parse(programs()[name]["program"])
        check(closed)
        assert name in {eqn.primitive for eqn in closed.eqns}


@pytest.mark.skipif(
    not NODE, reason="takes node, and what `make playground` builds where npm is"
)
def test_events_are_the_same_once_they_were_text() -> None:
    sessions = [
        case_data(c)["session"] for c in load_cases() if c.session and c.file in FILES
    ]
    asked = {"given": document(default(), []), "sessions": sessions}
    done = subprocess.run(
        [str(NODE), "--input-type=module", "-e", AGAIN, str(EVENTS)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []
