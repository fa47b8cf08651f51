"""Programs as text: JAX's layout, names and order.

Serves: text.layout, text.params, text.weak, text.constants, text.opaque
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from traceir.base import source_info
from traceir.errors import TraceirError
from traceir.ir.avals import shown as varying
from traceir.ir.effects import effects_of
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Params,
    TextPrinter,
    UntypedVar,
    Var,
)
from traceir.rules import Param, Prim, Rules, default
from traceir.text.doc import (
    Doc,
    DocBreak,
    DocConcat,
    DocGroup,
    DocIndent,
    DocNote,
    DocText,
    concat,
    join,
    layout,
)
from traceir.text.mesh_values import WRITE
from traceir.text.naming import SharedPrograms, VariableNames, shared_programs
from traceir.text.objects import WRITERS as WRITE_OBJECTS
from traceir.text.params import guess_domain
from traceir.text.shown import shown, written
from traceir.text.words import number_text, opaque, own_text, value_text

# Domains whose innermost tuples are written in square brackets.
LISTS = ("dimension_numbers", "flags")


WRITERS = {**WRITE_OBJECTS, **WRITE}

Keep = Callable[[np.ndarray], int]


def to_text(
    jaxpr: Jaxpr | ClosedJaxpr,
    full: bool = False,
    rules: Rules | None = None,
    keep: Keep | None = None,
) -> str:
    """The program as text, laid out as JAX 0.10.2 does.

    `full` leaves nothing out: weak types are marked `~`, hidden parameters and the
    values of constants are written, so that `parse` gives an equal program. It raises
    JaxprSyntaxError (text.opaque) for a parameter that no text can stand for. If
    constants are kept beside the text, `keep` takes each and gives the number that is
    written in place of its elements.

    >>> from traceir.text.parser import parse
    >>> closed = parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")
    >>> to_text(closed)
    '{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }'
    """
    closed = jaxpr if isinstance(jaxpr, ClosedJaxpr) else ClosedJaxpr(jaxpr)
    printer = _ProgramPrinter(rules or default(), full, closed, keep)
    return layout(printer.module(closed), printer.form.width)


def annotated(jaxpr: Jaxpr, lines: bool, names: bool) -> str:
    """The brief text of a program, with comments beside equations: the user's line,
    the names it stands in, or both."""
    closed = ClosedJaxpr(jaxpr)
    printer = _ProgramPrinter(default(), False, closed, notes=(lines, names))
    return layout(printer.module(closed), printer.form.width)


def with_names(closed: ClosedJaxpr) -> tuple[str, dict[Var, str]]:
    """The brief text of a program, and the names that its variables have there."""
    printer = _ProgramPrinter(default(), False, ClosedJaxpr(closed.jaxpr))
    text = layout(printer.module(ClosedJaxpr(closed.jaxpr)), printer.form.width)
    return text, printer.names.given()


class _ProgramPrinter:
    def __init__(
        self,
        rules: Rules,
        full: bool,
        closed: ClosedJaxpr,
        keep: Keep | None = None,
        notes: tuple[bool, bool] = (False, False),
    ) -> None:
        self.rules = rules
        self.notes = notes
        self.full = full
        self.keep = keep
        self.form = rules.form("text.layout")
        self.weak = rules.form("text.weak").mark
        self.shared: SharedPrograms = shared_programs(closed, full, rules)
        self.names = VariableNames(self.shared.names(), rules)

    def module(self, closed: ClosedJaxpr) -> Doc:
        if not self.full:
            self.names.drop_unused(closed.jaxpr)
        docs: list[Doc] = []
        for name, inner in self.shared.programs:
            body = self.program(inner)
            docs.append(concat(f"let {name} = ", body, " in", DocBreak()))
        return DocConcat((*docs, self.program(closed)))

    # -- programs -------------------------------------------------------------

    def program(self, closed: ClosedJaxpr) -> Doc:
        jaxpr = closed.jaxpr
        constants = self.constants(closed)
        inputs = self.binders(jaxpr, jaxpr.invars)
        eqns = join(DocBreak("; "), [self.eqn(jaxpr, e) for e in jaxpr.eqns])
        results = self.results(jaxpr)
        head = concat("{ lambda ", constants, "; ", inputs, ". let")
        body = concat(head, self.nest(DocBreak(), eqns), DocBreak(), "in ", results)
        return DocGroup(concat(self.nest(body), " }"))

    def nest(self, *docs: Doc | str) -> Doc:
        return DocIndent(self.form.indent, concat(*docs))

    def fill(self, parts: Sequence[Doc], separator: str = "") -> Doc:
        """Parts with as many on a line as there is room for."""
        return self.nest(DocGroup(join(concat(separator, DocGroup(DocBreak())), parts)))

    def results(self, jaxpr: Jaxpr) -> Doc:
        atoms = [DocText(self.atom(jaxpr, a)) for a in jaxpr.outvars]
        return concat("(", self.fill(atoms, ","), ",)" if len(atoms) == 1 else ")")

    def constants(self, closed: ClosedJaxpr) -> Doc:
        jaxpr = closed.jaxpr
        if not self.full or len(closed.consts) != len(jaxpr.constvars):
            return self.binders(jaxpr, jaxpr.constvars)
        pairs = zip(jaxpr.constvars, closed.consts)
        return self.fill(
            [DocText(self.binder(jaxpr, v) + self.elements(c)) for v, c in pairs]
        )

    def elements(self, value: np.ndarray) -> str:
        """The elements of a constant, or the number under which it is kept."""
        if self.keep is not None:
            return f"={{{self.keep(value)}}}"
        array = np.asarray(value)
        inner = [number_text(x, array.dtype, exact=True) for x in array.reshape(-1)]
        return f"={{{' '.join(inner)}}}"

    # -- variables ------------------------------------------------------------

    def binders(self, jaxpr: Jaxpr, variables: Sequence[Var]) -> Doc:
        return self.fill([DocText(self.binder(jaxpr, v)) for v in variables])

    def binder(self, jaxpr: Jaxpr, var: Var) -> str:
        name = self.names.of(jaxpr, var)
        return name if isinstance(var, UntypedVar) else f"{name}:{self.aval(var)}"

    def aval(self, atom: Atom) -> str:
        weak = self.full and atom.aval.weak_type
        return f"{self.weak * weak}{atom.aval.str_short()}{varying(atom.aval.vma)}"

    def atom(self, jaxpr: Jaxpr, atom: Atom) -> str:
        if isinstance(atom, Literal):
            number = number_text(atom.value, atom.aval.dtype, exact=self.full)
            return f"{number}:{self.aval(atom)}"
        return self.names.of(jaxpr, atom)

    # -- equations ------------------------------------------------------------

    def eqn(self, jaxpr: Jaxpr, eqn: Eqn) -> Doc:
        """An equation as a document."""
        row, pairs = written(eqn, self.full, self.rules)
        inner = dict(pairs).get(row.names) if row and row.names else None
        if isinstance(inner, ClosedJaxpr):
            self.suggest(jaxpr, eqn, inner)
        results = self.binders(jaxpr, eqn.outputs)
        # What the row says need not be written.
        effects = eqn.effects - effects_of(eqn.primitive, eqn.params)
        spelled = str.__str__ if self.full else str
        named = spelled(eqn.primitive)
        primitive = "!".join((named, *sorted(effects)))
        params = self.params(eqn, row, pairs)
        operands = self.fill([DocText(self.atom(jaxpr, a)) for a in eqn.inputs])
        equals = " = " if eqn.outputs else ""
        start = [DocText(equals), *self.comments(eqn), DocText(primitive)]
        return concat(results, *start, params, " ", operands)

    def comments(self, eqn: Eqn) -> list[Doc]:
        """The comments that are asked for beside an equation."""
        where = eqn.source_info
        given = where.place, f"[{where.name_stack}]"
        return [DocNote(text) for text, told in zip(given, self.notes) if told]

    def suggest(self, jaxpr: Jaxpr, eqn: Eqn, inner: ClosedJaxpr) -> None:
        """The inner program's variables are named as the operands and results."""
        if self.shared.name(inner) is None:
            self.names.suggest(inner.jaxpr, inner.jaxpr.invars, jaxpr, eqn.inputs)
            self.names.suggest(inner.jaxpr, inner.jaxpr.outvars, jaxpr, eqn.outputs)

    def params(self, eqn: Eqn, row: Prim | None, own: Params) -> Doc:
        given = {**dict(own), **shown(eqn, row)}
        first = [name for name in (row.order if row else ()) if name in given]
        rows = {p.name: p for p in row.params} if row else {}
        pairs = [
            concat(f"{name}=", self.param(eqn, name, given[name], row, rows.get(name)))
            for name in first + sorted(given.keys() - set(first))
            if self.shows(given[name], rows.get(name))
        ]
        return self.many("[", pairs, "]") if pairs else DocText("")

    def many(self, begin: str, parts: Sequence[Doc], end: str, comma: str = "") -> Doc:
        """Parts in brackets, on one line or each on its own."""
        inner = self.nest(begin, DocBreak(""), join(concat(comma, DocBreak()), parts))
        return DocGroup(concat(inner, DocBreak(""), end))

    def shows(self, value: Hashable, param: Param | None) -> bool:
        """True if a parameter of that value is written."""
        if param is None:
            return True
        alike = param.has_default and type(value) is type(param.default)
        usual = alike and value == param.default
        form = self.rules.form("text.params")
        return form.applies(full=self.full, how=param.print, usual=usual)

    def param(
        self,
        eqn: Eqn,
        name: str,
        value: Hashable,
        row: Prim | None,
        param: Param | None,
    ) -> Doc:
        if row is None and not self.full and not _has_program(value):
            return DocText(own_text(value))
        domain = param.domain if param else guess_domain(name)
        if self.full and (found := opaque(value)) is not None:
            raise self.refusal(eqn, name, found)
        if domain in WRITERS:
            return DocText(WRITERS[domain](value, self.full))
        return self.value(value, domain)

    def value(self, value: Hashable, domain: str) -> Doc:
        """A value; a program that is shared is written as its name."""
        if isinstance(value, ClosedJaxpr):
            shared = self.shared.name(value)
            return DocText(shared) if shared else self.program(value)
        if isinstance(value, tuple) and _has_program(value):
            only = all(isinstance(v, ClosedJaxpr) for v in value)
            parts = [self.value(v, domain) for v in value]
            return self.many("(", parts, ")", "" if only else ",")
        exact = self.full and domain != "name"
        return DocText(value_text(value, domain in LISTS, exact))

    def refusal(self, eqn: Eqn, name: str, value: object) -> TraceirError:
        """The error of a parameter that has no text, at the user's line."""
        got = f"`{name}` of `{eqn.primitive}` is {type(value).__name__} {value!r:.60}"
        where = source_info.user_frame_summary(eqn.source) if eqn.source else None
        return self.rules.error("text.opaque", got=got, where=where)


def _has_program(value: Hashable) -> bool:
    """True if there is a program in a value, as in the branches of a choice."""
    if isinstance(value, tuple):
        return any(map(_has_program, value))
    return isinstance(value, ClosedJaxpr)


class ProgramTexts:
    """The texts of parts of a program or of one inside it, named as in the whole text.

    >>> from traceir.text.parser import parse
    >>> closed = parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")
    >>> ProgramTexts(closed).eqn(closed.jaxpr, closed.eqns[0])
    'b:f32[] = sin a'
    """

    def __init__(self, closed: ClosedJaxpr) -> None:
        self._printer = _ProgramPrinter(default(), False, closed)
        # Variables are named when they are first written.
        self._printer.module(closed)

    def eqn(self, jaxpr: Jaxpr, eqn: Eqn) -> str:
        """An equation of `jaxpr`, on one line."""
        width = self._printer.form.width
        return " ".join(layout(self._printer.eqn(jaxpr, eqn), width).split())

    def atom(self, jaxpr: Jaxpr, atom: Atom) -> str:
        """A variable or literal of `jaxpr`."""
        return self._printer.atom(jaxpr, atom)


PRINTER = TextPrinter(to_text, annotated, ProgramTexts)
