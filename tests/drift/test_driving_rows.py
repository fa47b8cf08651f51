"""The rows of levels and effects drive the reference: by others it does something else.

Each thing that a row says is altered as mutants of the tables are; some case of the
specification must then come out otherwise on the reference, or the tables be refused.
Cites: level.answer, level.bind, effect.often
"""

from __future__ import annotations

import soak
from own_process import output_of

# Alterations by which nothing changes, with the reason; all others change something.
KINDS = "Effects of both kinds are done alike: tests/test_effects.py asks which it is."
STEPS = "What the oracle does; the reference has a kernel, compared in each case."
NAMES = "The clause of the row tells the two names that there are."
HASH = "What a hash of a concrete array would be, no row says: Python has none for it."
UNMAPPED = "What no operand of is mapped, a map leaves to the level below either way."
UNTOLD = {
    "levels/transform/level.vmap/handles: all": UNMAPPED,
    "levels/ask/level.hash/needs: memory": HASH,
    "effects/class/told/effects/0: io": KINDS,
    "effects/prim/io_callback/effects/0: debug": KINDS,
    "effects/prim/debug_callback/params/effect/domain: maybe_name": NAMES,
    "effects/prim/debug_callback/steps: host(xs, callback)": STEPS,
    "effects/prim/debug_callback/steps: deleted": STEPS,
    "effects/prim/pure_callback/steps: host(xs, callback)": STEPS,
    "effects/prim/io_callback/steps: host(xs, callback)": STEPS,
}


def test_an_altered_row_changes_what_the_reference_does() -> None:
    few = [] if soak.SOAK else ["--few"]
    told_of = output_of("mutation.driven", "levels", "effects", *few).split("\n")
    open_ = {line for line in told_of if line.startswith(("levels/", "effects/"))}
    assert open_ - UNTOLD.keys() == set()
    if soak.SOAK:
        assert UNTOLD.keys() <= open_
