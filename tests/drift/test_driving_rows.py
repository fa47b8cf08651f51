"""The rows of levels and effects drive the reference: by others it does something else.

Each thing that a row says is altered as mutants of the tables are; some case of the
specification must then come out otherwise on the reference, or the tables be refused.
Cites: level.answer, level.bind, effect.often
"""

from __future__ import annotations

import pytest
import soak
from own_process import output_of

from traceir.rules.load import read_tables, spec_path

# Alterations by which nothing changes, with the reason; all others change something.
KINDS = "Effects of both kinds are done alike: tests/test_effects.py asks which it is."
STEPS = "What the oracle does; the reference has a kernel, compared in each case."
UNTOLD = {
    "effects/class/told/effects/0: io": KINDS,
    "effects/prim/io_callback/effects/0: debug": KINDS,
    "effects/prim/debug_callback/steps: host(xs, callback)": STEPS,
    "effects/prim/debug_callback/steps: deleted": STEPS,
    "effects/prim/pure_callback/steps: host(xs, callback)": STEPS,
    "effects/prim/io_callback/steps: host(xs, callback)": STEPS,
}


@pytest.mark.parametrize("table", ["levels", "effects"])
def test_an_altered_row_changes_what_the_reference_does(table: str) -> None:
    few = [] if soak.SOAK else ["--few"]
    told_of = output_of("mutation.driven", table, *few).split("\n")
    open_ = [line for line in told_of if line.startswith(f"{table}/")]
    sentences = {line for line in open_ if is_read_alone(line)}
    assert [line for line in open_ if line not in sentences | UNTOLD.keys()] == []
    if soak.SOAK:
        assert UNTOLD.keys() <= {*open_}


def is_read_alone(where: str) -> bool:
    """True for the sentence of a row that nothing raises: it has no exception, and
    says no condition that may fail.

    >>> is_read_alone("levels/transform/level.jit/says: Other words.")
    True
    >>> is_read_alone("levels/ask/level.hash/says: Other words.")
    False
    """
    table, section, name, key = where.partition(": ")[0].split("/")[:4]
    rows = read_tables(spec_path() / "rules")[table].get(section, [])
    found = [row for row in rows if isinstance(row, dict) and row["id"] == name]
    return key == "says" and all("class" not in row for row in found)
