"""Type inference of primitives and checks of programs, by the tables.

Serves: program.*, and the clauses of every primitive
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import Any, NoReturn, TypeVar
from weakref import WeakKeyDictionary

from traceir.base.caches import cleared
from traceir.ir.avals import ShapedArray
from traceir.ir.effects import effects_of
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Params,
    Var,
    printer,
    sort_params,
    subjaxprs,
)
from traceir.rules import Clause, Prim, Rules, Scope, default
from traceir.rules.applied import (
    SCOPES,
    demand,
    failed_clauses,
    failures,
    misfits,
    row_scope,
)
from traceir.rules.compiled_typing import Typing, compile_scope, compile_typing
from traceir.rules.formulas.describe import describe, show
from traceir.rules.formulas.domains import PROGRAMS

Avals = tuple[ShapedArray, ...]
Key = tuple[str, Avals, Params, Hashable]
MEMO_SIZE = 1 << 15


Made = TypeVar("Made")


class _Lazily(dict[str, Made]):
    """A mapping whose values are made when first asked for."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[str], Made]) -> None:
        self._make = make

    def __missing__(self, name: str) -> Made:
        found = self[name] = self._make(name)
        return found


class Typer:
    """The typing by one set of rules: compiled rows, and their results so far."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.memo: dict[Key, Avals] = {}
        # Made when first asked for: a program uses few of the primitives.
        self.rows = _Lazily(self._row)
        self.regions = _Lazily(self._is_region)
        self.scopes = _Lazily(lambda at: compile_scope(rules.program, at))
        self.declared = _Lazily(self._declared)

    def _row(self, primitive: str) -> Typing | None:
        prim = self.rules.prims.get(primitive)
        return compile_typing(prim, self.rules, ShapedArray) if prim else None

    def _is_region(self, primitive: str) -> bool:
        """Programs in params would be hashed whole, and kept alive."""
        prim = self.rules.prims.get(primitive)
        return prim is not None and any(p.domain in PROGRAMS for p in prim.params)

    def _declared(self, primitive: str) -> tuple[str, ...]:
        return tuple(p.name for p in self.rules.prims[primitive].params)

    def infer(self, primitive: str, avals: Avals, params: Params) -> Avals:
        """The result types; the error of the first clause that fails."""
        found = self.fast(primitive, avals, params)
        if found is None:
            found = self.slow(primitive, avals, params)
        found = self.varied(primitive, avals, params, found)
        if not self.regions[primitive]:
            if len(self.memo) >= MEMO_SIZE:
                self.memo.clear()
            self.memo[primitive, avals, params, kinds(params)] = found
        return found

    def fast(self, primitive: str, avals: Avals, params: Params) -> Avals | None:
        """The result types by the compiled row; None if something is wrong."""
        row = self.rows[primitive]
        if row is None:
            return None
        try:
            found: Avals | None = row(avals, params)
        except Exception:  # the walked rules say what is wrong
            return None
        return found

    def varied(
        self, primitive: str, avals: Avals, params: Params, types: Avals
    ) -> Avals:
        """The result types with the axes along which they may vary (shard_map.vma)."""
        row = self.rules.prims[primitive]
        if row.varies is not None:
            names = row.varies(row_scope(row, avals, params, self.rules))
        elif self.regions[primitive]:
            return types
        else:
            names = tuple(name for a in avals for name in a.vma)
        return tuple(t.update(vma=(*t.vma, *names)) for t in types) if names else types

    def slow(self, primitive: str, avals: Avals, params: Params) -> Avals:
        """The result types by the walked row; raises the first failed clause."""
        for clause, scope in failures(primitive, avals, params, self.rules):
            what = application(primitive, avals, params)
            got = f"{describe(demand(clause), scope)} in `{what}`"
            raise self.rules.error(clause.id, got=got)
        row = self.rules.prims[primitive]
        return results(row, row_scope(row, avals, params, self.rules))


_typers: WeakKeyDictionary[Rules, Typer] = WeakKeyDictionary()


def typer(rules: Rules) -> Typer:
    """The typing of these rules, compiled once."""
    found = _typers.get(rules)
    return found or _typers.setdefault(rules, Typer(rules))


@cleared
def _clear() -> None:
    for found in list(_typers.values()):
        found.memo.clear()


@cache
def _default_typer() -> Typer:
    return typer(default())


def infer(
    primitive: str,
    avals: Sequence[ShapedArray],
    params: Params | Mapping[str, Any] = (),
    rules: Rules | None = None,
) -> Avals:
    """The types of a primitive's results.

    Raises the error of the first clause, in the order of the tables, that the operand
    types and params violate: those of `program.toml` about one equation, then the
    row's. Answers are remembered, except for primitives whose params hold programs.

    >>> x = ShapedArray((2, 3), "float32")
    >>> infer("reduce_sum", (x,), {"axes": (0,), "out_sharding": None})
    (ShapedArray(float32[3]),)
    """
    found = _default_typer() if rules is None else typer(rules)
    if not found.regions[primitive]:
        try:
            # Params that have no hash are an error here, which is caught.
            key: Any = primitive, avals, params, kinds(params)  # type: ignore[arg-type]
            return found.memo[key]
        except (KeyError, TypeError, ValueError):  # unknown; a list or a mapping
            pass
    return found.infer(primitive, tuple(avals), as_params(params))


def kinds(params: Params) -> Hashable:
    """The types within params: 2 and 2.0 are equal and yet not the same.

    >>> kinds((("axes", (0, 1)), ("keep", True)))
    ((<class 'int'>, <class 'int'>), <class 'bool'>)
    """
    if not params:  # of most equations
        return ()
    return tuple([_kinds(v) if type(v) is tuple else type(v) for _, v in params])


def _kinds(value: tuple[Any, ...]) -> tuple[Any, ...]:
    found = tuple(map(type, value))
    if tuple not in found:
        return found
    return tuple([_kinds(v) if type(v) is tuple else type(v) for v in value])


def as_params(params: Params | Mapping[str, Any]) -> Params:
    """Params as an equation stores them."""
    return params if isinstance(params, tuple) else sort_params(params)


def violations(
    primitive: str,
    avals: Sequence[ShapedArray],
    params: Params | Mapping[str, Any] = (),
    rules: Rules | None = None,
) -> set[str]:
    """The ids of all clauses that an application violates, by walking the formulas.

    A clause whose `needs` fail is not asked.

    >>> x, y = ShapedArray((3,), "float32"), ShapedArray((4,), "int32")
    >>> sorted(violations("add", (x, y)))
    ['pointwise2.broadcast', 'pointwise2.dtype']
    """
    found = failures(primitive, tuple(avals), as_params(params), rules or default())
    return {clause.id for clause, _ in found}


def results(row: Prim, scope: Scope) -> Avals:
    """The result types of a row, walked."""
    if not isinstance(row.out, tuple):
        return tuple(row.out(scope))
    return tuple(
        ShapedArray(out.shape(scope), out.dtype(scope), out.weak_type(scope))
        for out in row.out
    )


def application(primitive: str, avals: Avals, params: Params) -> str:
    """An application as an error shows it, such as `reduce_sum[axes=(2,)] f32[3]`."""
    shown = [f"{k}={v}" for k, v in params if not isinstance(v, ClosedJaxpr)]
    inside = f"[{' '.join(shown)}]" if shown else ""
    return " ".join((primitive + inside, *(a.str_short() for a in avals)))


def check(program: ClosedJaxpr | Jaxpr, rules: Rules | None = None) -> None:
    """Check a program, and the programs within, against the tables.

    Raises the error of the first clause that fails: of `program.toml`, or of the row
    of an equation. It shows the equation, and the user's line where that is known.

    >>> from traceir.text import parse
    >>> check(parse("{ lambda ; a:f32[]. let b:f32[3] = sin a in (b,) }"))
    Traceback (most recent call last):
    traceir.errors.JaxprTypeError: A result must be written with the shape and dtype
    that its primitive's row infers.
      got: (float32[3],) and (float32[],) in `b:f32[3] = sin a`
      [program.result-type]
    """
    if not isinstance(program, ClosedJaxpr | Jaxpr):
        raise TypeError(f"what is checked is a program, got {type(program).__name__}")
    from traceir.ir.located import located  # not on the way of an import

    closed = program if isinstance(program, ClosedJaxpr) else ClosedJaxpr(program)
    closed = located(closed)
    _Checker(closed, rules or default()).closed(closed)


class _Checker:
    """Checks one program; the programs within share the names of its text."""

    def __init__(self, outermost: ClosedJaxpr, rules: Rules) -> None:
        self.outermost = outermost
        self.rules = rules
        self.typer = typer(rules)

    def demand(self, at: str, jaxpr: Jaxpr, eqn: Eqn | None, **names: Any) -> None:
        """Raise the error of the first clause of `program.toml` that fails here."""
        if self.typer.scopes[at](*(names[name] for name in SCOPES[at])):
            return
        clauses = [c for c in self.rules.program if c.at == at]
        scope = Scope(names, outer=self.rules.constants)
        for clause in failed_clauses(clauses, scope):
            self.fail(clause, scope, jaxpr, eqn)

    def fail(
        self, clause: Clause, scope: Scope, jaxpr: Jaxpr, eqn: Eqn | None
    ) -> NoReturn:
        texts = printer().parts(self.outermost)

        def display(value: Any) -> str:
            if isinstance(value, tuple) and value and isinstance(value[0], Var):
                return f"({', '.join(map(display, value))})"
            if isinstance(value, Var):
                return texts.atom(jaxpr, value)
            return show(value)

        shown = describe(demand(clause), scope, display)
        inside = f" in `{texts.eqn(jaxpr, eqn)}`" if eqn else ""
        where = str(eqn.source) if eqn and eqn.source else ""
        raise self.rules.error(clause.id, got=shown + inside, where=where)

    def closed(self, closed: ClosedJaxpr) -> None:
        jaxpr = closed.jaxpr
        constants = tuple(v.aval for v in jaxpr.constvars)
        self.demand("closed", jaxpr, None, constants=constants, values=closed.consts)
        inputs = (*jaxpr.constvars, *jaxpr.invars)
        self.demand("program", jaxpr, None, inputs=inputs)
        bound = set(inputs)
        for eqn in jaxpr.eqns:
            self.eqn(jaxpr, eqn, bound)
            bound.update(eqn.outputs)
        outputs = variables(jaxpr.outvars)
        self.demand("end", jaxpr, None, outputs=outputs, bound=bound)

    def eqn(self, jaxpr: Jaxpr, eqn: Eqn, bound: set[Var]) -> None:
        avals = tuple(a.aval for a in eqn.inputs)
        around = {  # in the order of SCOPES
            "read": variables(eqn.inputs),
            "written": eqn.outputs,
            "bound": bound,
            "literals": tuple(a.aval for a in eqn.inputs if isinstance(a, Literal)),
        }
        inferred = self.typer.fast(eqn.primitive, avals, eqn.pairs)
        if inferred is None or not self.well_formed(eqn, avals, around):
            found = failures(eqn.primitive, avals, eqn.pairs, self.rules, around)
            for clause, scope in found:
                self.fail(clause, scope, jaxpr, eqn)
            row = self.rules.prims[eqn.primitive]
            inferred = results(row, row_scope(row, avals, eqn.pairs, self.rules))
        for inner in subjaxprs(eqn):
            self.closed(inner)
        written = tuple(v.aval for v in eqn.outputs)
        self.demand(
            "result",
            jaxpr,
            eqn,
            results=written,
            inferred=inferred,
            named=tuple(sorted(eqn.effects)),
            does=tuple(sorted(effects_of(eqn.primitive, eqn.params))),
        )

    def well_formed(self, eqn: Eqn, avals: Avals, around: Mapping[str, Any]) -> bool:
        """True if the clauses about equations hold, compiled."""
        row = self.rules.prims[eqn.primitive]
        return self.typer.scopes["equation"](
            eqn.primitive,
            self.rules.prims,
            avals,
            tuple(name for name, _ in eqn.params),
            *around.values(),
            row.arity,
            row.variadic,
            self.typer.declared[eqn.primitive],
            misfits(row, eqn.stored()),
        )


def variables(atoms: Sequence[Atom]) -> tuple[Var, ...]:
    """Those that are no literals."""
    return tuple(a for a in atoms if isinstance(a, Var))
