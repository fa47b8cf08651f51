"""Random well-typed programs over all primitives of the tables. Serves: program.*

>>> from hypothesis import find
>>> closed = find(programs(size=1), lambda closed: closed.eqns[0].primitive == "add")
>>> [eqn.primitive for eqn in closed.eqns]
['add']
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from traceir.conform.drawing.regions import REGIONS, region
from traceir.conform.drawing.strategies import (
    DRAWN,
    MOST_ELEMENTS,
    DrawnApplication,
    arrays,
    avals,
    elements,
    row_applications,
    violated,
)
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, sort_params
from traceir.ir.typecheck import infer
from traceir.rules import Prim, Rules, default

TRIES = 12
MOST_INPUTS = 6
NAMES = ("f", "g", "_where", "<lambda>")


@st.composite
def programs(
    draw: DrawFn,
    size: int = 6,
    *,
    grid: bool = False,
    wide: bool = False,
    primitives: Sequence[str] | None = None,
    depth: int = 1,
    control: bool = False,
    rules: Rules | None = None,
) -> ClosedJaxpr:
    """Programs of 1 to `size` equations, typed by the tables, with their constants.

    With `grid`, constants and literals are on the dyadic grid and no primitive is
    approximate, so that arguments of the grid mostly have one right answer, which
    `traceir.oracle.scalar_interpreter.judge` tells. `wide` adds 64-bit dtypes;
    `primitives` restricts which are used; `depth` is how deeply programs hold programs,
    `control` whether in conditions and loops.
    """
    rules = rules or default()
    named = [rules.prims[n] for n in sorted(primitives or rules.prims)]
    rows = [r for r in named if drawable(r) and (not grid or _on_grid(r))]
    rows = [r for r in rows if depth > 0 or not _regions(r)]
    builder = _ProgramDrawer(draw, rules, rows, grid, wide, depth, control)
    for _ in range(draw(st.integers(1, 3))):
        builder.input(draw(avals(wide)))
    for _ in range(draw(st.integers(1, size))):
        builder.equation()
    return builder.closed()


def arguments(
    closed: ClosedJaxpr, grid: bool = True
) -> SearchStrategy[list[np.ndarray]]:
    """Arrays of the types of a program's inputs."""
    return st.tuples(*(arrays(a, grid) for a in closed.in_avals)).map(list)


def _on_grid(row: Prim) -> bool:
    return row.accuracy not in ("ulp", "conditioned", "spectrum")


def _regions(row: Prim) -> list[str]:
    return [p.name for p in row.params if p.domain == "jaxpr"]


@dataclass(eq=False)
class _ProgramDrawer:
    """A program being drawn: the values to use so far, and the equations."""

    draw: DrawFn
    rules: Rules
    rows: Sequence[Prim]
    grid: bool
    wide: bool
    depth: int
    control: bool
    inputs: list[Var] = field(default_factory=list)
    constants: list[tuple[Var, np.ndarray]] = field(default_factory=list)
    eqns: list[Eqn] = field(default_factory=list)
    inner: list[ClosedJaxpr] = field(default_factory=list)

    def input(self, aval: ShapedArray) -> Var:
        self.inputs.append(Var(aval))
        return self.inputs[-1]

    def known(self) -> list[Var]:
        """The variables that can be used, the most recent ones first."""
        written = [v for eqn in self.eqns for v in eqn.outputs]
        return [*written[::-1], *self.inputs, *(v for v, _ in self.constants)]

    def closed(self) -> ClosedJaxpr:
        known = self.known()
        count = self.draw(st.integers(1, min(3, len(known))))
        results = known[:count] if self.draw(st.booleans()) else known[-count:]
        constvars = tuple(v for v, _ in self.constants)
        jaxpr = Jaxpr(constvars, tuple(self.inputs), tuple(self.eqns), tuple(results))
        return ClosedJaxpr(jaxpr, tuple(c for _, c in self.constants))

    def equation(self) -> None:
        """Add an equation: the first valid application of a drawn primitive."""
        if self.control and self.depth > 0 and self.draw(st.integers(0, 3)) == 0:
            self.region()
            return
        row = self.draw(st.sampled_from(self.rows))
        if _regions(row):
            self.call(row)
            return
        pool = [v.aval for v in self.known()]
        for _ in range(TRIES):
            found = self.draw(row_applications(row, self.wide, pool))
            if not violated(found, self.rules) and self.small(found):
                self.add(found)
                return
        # No luck: an equation that every type has keeps the program growing.
        aval = pool[0]
        self.add(DrawnApplication("stack", (aval,), (("axis", 0),)))

    def small(self, application: DrawnApplication) -> bool:
        it = application
        found = infer(it.primitive, it.avals, it.params, self.rules)
        return all(a.size <= MOST_ELEMENTS for a in found)

    def add(self, application: DrawnApplication) -> None:
        it = application
        types = infer(it.primitive, it.avals, it.params, self.rules)
        inputs = tuple(self.operand(aval) for aval in it.avals)
        outputs = tuple(map(Var, types))
        self.eqns.append(Eqn(it.primitive, inputs, outputs, it.params))

    def operand(self, aval: ShapedArray) -> Atom:
        """A variable of that type, a literal, a constant or a new input."""
        same = [v for v in self.known() if v.aval is aval]
        fresh = ["literal"] * (aval.shape == ()) + ["constant"]
        fresh += ["input"] * (len(self.inputs) < MOST_INPUTS)
        kinds = ["known"] * 4 * bool(same) + fresh
        match self.draw(st.sampled_from(kinds)):
            case "known":
                return self.draw(st.sampled_from(same))
            case "literal":
                return Literal(self.draw(elements(aval.dtype, self.grid)), aval)
            case "input":
                return self.input(aval)
        value = self.draw(arrays(aval, self.grid))
        self.constants.append((Var(aval), value))
        return self.constants[-1][0]

    def call(self, row: Prim) -> None:
        """Add an equation that holds a program, one that is already held or new."""
        if self.draw(st.booleans()) and self.inner:
            inner: ClosedJaxpr = self.draw(st.sampled_from(self.inner))
        else:
            inner = self.draw(self.nested())
            self.inner.append(inner)
        params: dict[str, Hashable] = {
            p.name: p.default for p in row.params if p.has_default
        }
        params |= dict.fromkeys(_regions(row), inner)
        name = self.draw(st.sampled_from(NAMES))
        params |= {p.name: name for p in row.params if p.domain == "name"}
        inputs = tuple(self.operand(aval) for aval in inner.in_avals)
        outputs = tuple(Var(aval) for aval in inner.out_avals)
        self.eqns.append(Eqn(row.name, inputs, outputs, sort_params(params)))

    def region(self) -> None:
        """Add a condition or a loop about a new program."""
        kind = self.draw(st.sampled_from(REGIONS))
        operands, eqn = region(self.draw, kind, self.draw(self.nested()))
        inputs = tuple(
            self.operand(o) if isinstance(o, ShapedArray) else o for o in operands
        )
        self.eqns.append(Eqn(kind, inputs, eqn.outputs, eqn.params))

    def nested(self) -> SearchStrategy[ClosedJaxpr]:
        return programs(
            3,
            grid=self.grid,
            wide=self.wide,
            primitives=[r.name for r in self.rows],
            depth=self.depth - 1,
            control=self.control,
            rules=self.rules,
        )


def drawable(row: Prim) -> bool:
    """True if applications can be drawn: no param holds a function, and no program must
    fit other operands.
    """
    if row.post:  # whose operands are matrices, which no other equation asks for
        return False
    needed = [p.domain for p in row.params if not p.has_default]
    if _regions(row):
        return sorted({*needed, "name"}) == ["jaxpr", "name"]
    return DRAWN.issuperset(needed)
