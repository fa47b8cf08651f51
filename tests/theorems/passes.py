"""The trial of the backend's passes: each leaves a program what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from theorems.transformed import alike, point, reads_bits
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.reference.interpreter import eval_jaxpr
from traceir.rules import default
from traceir_numba import backend
from traceir_numba.lowering.canonicalize import canonicalize
from traceir_numba.lowering.filled_constants import fill_constants
from traceir_numba.lowering.fold_ranges import fold_ranges
from traceir_numba.lowering.hoist_reshapes import hoist_reshapes
from traceir_numba.lowering.merge_loops import merge_loops
from traceir_numba.lowering.narrow import lower_narrow
from traceir_numba.lowering.split_pairs import lower_pairs

Pass = tuple[str, Callable[[ClosedJaxpr], ClosedJaxpr]]
# Those that rewrite programs, in the order of the pipeline.
PASSES: tuple[Pass, ...] = (
    ("split_pairs", lambda closed: lower_pairs(closed).closed),
    ("narrow", lambda closed: lower_narrow(closed).closed),
    ("filled_constants", fill_constants),
    ("fold_ranges", fold_ranges),
    ("canonicalize", canonicalize),
    ("merge_loops", merge_loops),
    ("hoist_reshapes", lambda closed: hoist_reshapes(closed)[0]),
)


def passes(program: ClosedJaxpr, subject: Any) -> Iterator[str]:
    """After each pass the program gives what it gave before; so does machine code."""
    if reads_bits(program):
        return
    args = point(program)
    want = eval_jaxpr(program, program.consts, *args)
    after = program
    for name, rewrite in subject.passes or PASSES:
        before, after = after, rewrite(after)
        if not is_specified(after):
            break
        if after == before:
            continue
        yield from _differences(name, eval_jaxpr(after, after.consts, *args), want)
    if subject.compiles:
        got = backend.compile(program, "small").run(*args)
        yield from _differences("all passes", got, want)


def is_specified(program: ClosedJaxpr) -> bool:
    """True if equations are as rows have them: some passes use forms of their own."""
    rows = default().prims
    return all(
        [name for name, _ in eqn.params] == [p.name for p in rows[eqn.primitive].params]
        and all(atom.aval.dtype.kind in "fiub" for atom in (*eqn.inputs, *eqn.outputs))
        for eqn in program.eqns
    )


def _differences(
    name: str, got: Sequence[np.ndarray], want: Sequence[np.ndarray]
) -> Iterator[str]:
    if len(got) != len(want) or not all(map(alike, got, want)):
        yield f"after {name} {got}, before {want}"
