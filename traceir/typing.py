"""Typing of primitives and checking of programs, by the tables alone.

Serves: program.*, and the clauses of every primitive
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from traceir.avals import ShapedArray
from traceir.ir import ClosedJaxpr, Params, sort_params
from traceir.rules import Prim, Rules, Scope, default
from traceir.rules.applied import demand, failures, row_scope
from traceir.rules.compiled import Typing, compile_typing
from traceir.rules.describe import describe

Avals = tuple[ShapedArray, ...]
Key = tuple[str, Avals, Params]
MEMO_SIZE = 1 << 15


class Typer:
    """The typing of one set of rules: compiled rows and what they were asked."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.memo: dict[Key, Avals] = {}
        self.rows: dict[str, Typing] = {
            prim.name: compile_typing(prim, rules, ShapedArray)
            for prim in rules.prims.values()
        }
        # Programs in params would be hashed whole, and kept alive.
        self.regions = frozenset(
            prim.name
            for prim in rules.prims.values()
            if any(p.domain == "jaxpr" for p in prim.params)
        )

    def infer(self, primitive: str, avals: Avals, params: Params) -> Avals:
        """The result types; the error of the first clause that fails."""
        found = self.fast(primitive, avals, params)
        if found is None:
            found = self.slow(primitive, avals, params)
        if primitive not in self.regions:
            if len(self.memo) >= MEMO_SIZE:
                self.memo.clear()
            self.memo[primitive, avals, params] = found
        return found

    def fast(self, primitive: str, avals: Avals, params: Params) -> Avals | None:
        """The result types by the compiled row; None if something is wrong."""
        row = self.rows.get(primitive)
        if row is None:
            return None
        try:
            found: Avals | None = row(avals, params)
        except Exception:  # noqa: BLE001  the walked rules say what is wrong
            return None
        return found

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
    if found is None:
        found = _typers[rules] = Typer(rules)
    return found


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
    if primitive not in found.regions:
        try:
            return found.memo[primitive, avals, params]  # type: ignore[index]
        except (KeyError, TypeError):  # unknown, or given as a list or a mapping
            pass
    return found.infer(primitive, tuple(avals), as_params(params))


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
