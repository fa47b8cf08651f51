"""Every implementation gives the same bits for programs on the exact grid.

Cites accuracy.one-answer, program.*
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from hypothesis import given, note, reject, settings
from hypothesis import strategies as st
from soak import examples

from traceir.conform.drawing.programs import arguments, programs
from traceir.conform.drawing.written import as_case
from traceir.conform.judging.adapters import load
from traceir.conform.judging.run import Unsupported
from traceir.oracle import scalar_interpreter

# JAX is compared where it is installed.
NAMES = ["oracle", "reference", "numba", *["jax"] * bool(find_spec("jax"))]
COLUMNS = {name: load(name).implementation for name in NAMES}
FEW = examples(5)


def plain(array: Any) -> tuple[Any, ...]:
    """The type and the bits, one zero or NaN being as good as another."""
    a = np.asarray(array)
    if a.dtype.kind == "f":
        a = np.where(np.isnan(a), a.dtype.type(np.nan), a + a.dtype.type(0))
    return a.dtype, a.shape, a.tobytes()


@settings(max_examples=FEW)
@given(st.data())
def test_every_column_gives_the_same_bits(data: st.DataObject) -> None:
    closed = data.draw(programs(3, grid=True))
    args = data.draw(arguments(closed))
    note(as_case("drawn/program", closed, args, ["accuracy.one-answer"]))
    want = COLUMNS["oracle"].eval(closed, args)
    try:
        scalar_interpreter.judge(closed, closed.consts, args, want)
    except ValueError:  # a quotient, say, has left the grid and is summed
        reject()
    for name, column in COLUMNS.items():
        try:
            got = column.eval(closed, [a.copy() for a in args])
        except Unsupported:
            continue
        assert list(map(plain, got)) == list(map(plain, want)), name
