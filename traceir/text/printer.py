"""Programs as text: JAX's layout, names and order. Serves: text.layout, text.hidden"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from traceir.ir import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from traceir.rules import Param, Prim, Rules, default
from traceir.text.doc import Break, Concat, Doc, Group, Nest, Text, concat, join, layout
from traceir.text.naming import Names, Shared, shared_programs
from traceir.text.words import number_text, value_text


def to_text(
    jaxpr: Jaxpr | ClosedJaxpr, full: bool = False, rules: Rules | None = None
) -> str:
    """The program as text of 80 columns, laid out as JAX 0.10.2 does.

    `full` leaves nothing out: weak types are marked `~`, hidden parameters and the
    values of constants are written, so that `parse` gives an equal program.

    >>> from traceir.text.parser import parse
    >>> closed = parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")
    >>> to_text(closed)
    '{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }'
    """
    closed = jaxpr if isinstance(jaxpr, ClosedJaxpr) else ClosedJaxpr(jaxpr)
    return layout(_Printer(rules or default(), full, closed).module(closed))


class _Printer:
    def __init__(self, rules: Rules, full: bool, closed: ClosedJaxpr) -> None:
        self.rules = rules
        self.full = full
        self.shared: Shared = shared_programs(closed, full)
        self.names = Names(self.shared.names())

    def module(self, closed: ClosedJaxpr) -> Doc:
        if not self.full:
            self.names.drop_unused(closed.jaxpr)
        docs: list[Doc] = []
        for name, inner in self.shared.programs:
            body = self.program(inner)
            docs.append(concat(f"let {name} = ", body, " in", Break()))
        return Concat((*docs, self.program(closed)))

    # -- programs -------------------------------------------------------------

    def program(self, closed: ClosedJaxpr) -> Doc:
        jaxpr = closed.jaxpr
        constants = self.constants(closed)
        inputs = self.binders(jaxpr, jaxpr.invars)
        eqns = join(Break("; "), [self.eqn(jaxpr, e) for e in jaxpr.eqns])
        results = self.results(jaxpr)
        head = concat("{ lambda ", constants, "; ", inputs, ". let")
        body = concat(head, Nest(2, concat(Break(), eqns)), Break(), "in ", results)
        return Group(concat(Nest(2, body), " }"))

    def results(self, jaxpr: Jaxpr) -> Doc:
        atoms = [Text(self.atom(jaxpr, a)) for a in jaxpr.outvars]
        return concat("(", _fill(atoms, ","), ",)" if len(atoms) == 1 else ")")

    def constants(self, closed: ClosedJaxpr) -> Doc:
        jaxpr = closed.jaxpr
        if not self.full or len(closed.consts) != len(jaxpr.constvars):
            return self.binders(jaxpr, jaxpr.constvars)
        pairs = zip(jaxpr.constvars, closed.consts)
        return _fill([Text(self.binder(jaxpr, v) + _elements(c)) for v, c in pairs])

    # -- variables ------------------------------------------------------------

    def binders(self, jaxpr: Jaxpr, variables: Sequence[Var]) -> Doc:
        return _fill([Text(self.binder(jaxpr, v)) for v in variables])

    def binder(self, jaxpr: Jaxpr, var: Var) -> str:
        return f"{self.names.of(jaxpr, var)}:{self.aval(var)}"

    def aval(self, atom: Atom) -> str:
        weak = self.full and atom.aval.weak_type
        return "~" * weak + atom.aval.str_short()

    def atom(self, jaxpr: Jaxpr, atom: Atom) -> str:
        if isinstance(atom, Literal):
            number = number_text(atom.value, atom.aval.dtype, exact=self.full)
            return f"{number}:{self.aval(atom)}"
        return self.names.of(jaxpr, atom)

    # -- equations ------------------------------------------------------------

    def eqn(self, jaxpr: Jaxpr, eqn: Eqn) -> Doc:
        row = self.rules.prims.get(eqn.primitive)
        if row and row.names:
            self.suggest(jaxpr, eqn, eqn.param(row.names))
        results = self.binders(jaxpr, eqn.outputs)
        primitive = "!".join((eqn.primitive, *sorted(eqn.effects)))
        params = self.params(eqn, row)
        operands = _fill([Text(self.atom(jaxpr, a)) for a in eqn.inputs])
        equals = " = " if eqn.outputs else ""
        return concat(results, equals, primitive, params, " ", operands)

    def suggest(self, jaxpr: Jaxpr, eqn: Eqn, inner: ClosedJaxpr) -> None:
        """The inner program's variables are named as the operands and results."""
        if self.shared.name(inner) is None:
            self.names.suggest(inner.jaxpr, inner.jaxpr.invars, jaxpr, eqn.inputs)
            self.names.suggest(inner.jaxpr, inner.jaxpr.outvars, jaxpr, eqn.outputs)

    def params(self, eqn: Eqn, row: Prim | None) -> Doc:
        shown = _shown(eqn, row, self.full)
        if not shown:
            return Text("")
        pairs = [concat(f"{k}=", self.value(v, lists)) for k, v, lists in shown]
        inner = Nest(2, concat("[", Break(""), join(Break(), pairs)))
        return Group(concat(inner, Break(""), "]"))

    def value(self, value: Hashable, lists: bool) -> Doc:
        if isinstance(value, ClosedJaxpr):
            name = self.shared.name(value)
            return Text(name) if name else self.program(value)
        return Text(value_text(value, lists))


def _shown(eqn: Eqn, row: Prim | None, full: bool) -> list[tuple[str, Hashable, bool]]:
    """The parameters that are written, in order, and whether with inner lists."""
    given = dict(eqn.params)
    rows = {p.name: p for p in row.params} if row else {}
    first = [name for name in (row.order if row else ()) if name in given]
    shown = []
    for name in first + sorted(given.keys() - set(first)):
        param = rows.get(name)
        if full or param is None or not _hidden(param, given[name]):
            lists = param is not None and param.domain == "dimension_numbers"
            shown.append((name, given[name], lists))
    return shown


def _hidden(param: Param, value: Hashable) -> bool:
    """Whether ordinary text leaves out a parameter of that value."""
    if param.print == "never":
        return True
    if param.print == "always" or not param.has_default:
        return False
    return type(value) is type(param.default) and value == param.default


def _fill(parts: Sequence[Doc], separator: str = "") -> Doc:
    """Parts with as many on a line as there is room for."""
    between = concat(separator, Group(Break()))
    return Nest(2, Group(join(between, parts)))


def _elements(value: np.ndarray) -> str:
    array = np.asarray(value)
    inner = [number_text(x, array.dtype, exact=True) for x in array.reshape(-1)]
    return f"={{{' '.join(inner)}}}"


class Texts:
    """The texts of parts of a program or of one inside it, named as in the whole text.

    >>> from traceir.text.parser import parse
    >>> closed = parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")
    >>> Texts(closed).eqn(closed.jaxpr, closed.eqns[0])
    'b:f32[] = sin a'
    """

    def __init__(self, closed: ClosedJaxpr) -> None:
        self._printer = _Printer(default(), False, closed)
        # Variables are named when they are first written.
        self._printer.module(closed)

    def eqn(self, jaxpr: Jaxpr, eqn: Eqn) -> str:
        """An equation of `jaxpr`, on one line."""
        return " ".join(layout(self._printer.eqn(jaxpr, eqn)).split())

    def atom(self, jaxpr: Jaxpr, atom: Atom) -> str:
        """A variable or literal of `jaxpr`."""
        return self._printer.atom(jaxpr, atom)
