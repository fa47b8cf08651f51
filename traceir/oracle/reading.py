"""Programs read by the grammar: the rows alone say what a text leaves out.

Serves: text.syntax, text.literal, text.opaque, text.hidden, text.left-out,
text.untyped, text.undefined, text.spelling, text.wrapped, text.unused
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import as_dtype
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    HostFunction,
    Jaxpr,
    Literal,
    Var,
    sort_params,
    subjaxprs,
)
from traceir.oracle import read_values
from traceir.oracle.grammar import Grammar, NoSentence, Tree
from traceir.oracle.numbers import kind_of_number, read_number, read_plain
from traceir.oracle.read_values import ReadText, is_application, structured, unquoted
from traceir.pytrees.flatten import structure
from traceir.pytrees.treedef import TreeDef
from traceir.rules import Prim, Rules, default, spec_path

# What stands for a name that nothing defines: of no type that a rule could know.
UNDEFINED = ShapedArray((), "float32")
_WORDS = {"None": None, "True": True, "False": False, "true": True, "false": False}
_NUMBERS = frozenset({"True", "False", "true", "false", "nan", "inf"})
_USUAL = {"b": "bool", "i": "int32", "f": "float32", "c": "complex64"}


@cache
def grammar() -> Grammar:
    """The grammar of the specification."""
    return Grammar((spec_path() / "grammar.ebnf").read_text(encoding="utf-8"))


def read(text: str, rules: Rules | None = None) -> ClosedJaxpr:
    """The program of a text, by `grammar.ebnf` and the rows.

    Raises JaxprSyntaxError (text.syntax, text.literal, text.opaque, text.hidden).

    >>> read("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }").eqns[0].primitive
    'sin'
    """
    rules = rules or default()
    try:
        tree = grammar().parse("text", text)
    except NoSentence as error:
        raise ReadText(text, rules).error("text.syntax", "", error.at) from None
    names, programs = tree.all("name"), tree.all("program")
    reader = _TreeReader(ReadText(text, rules), rules)
    for name, program in zip(names, programs):
        if name.text in reader.shared:
            raise reader.source.error("text.syntax", name.text, name.at)
        reader.shared[name.text] = program
    return reader.program(programs[-1], ())


def read_tree(text: str) -> TreeDef | None:
    """The structure of a text, None for what the grammar has no text of.

    >>> read_tree("PyTreeDef({'x': (*, None)})")
    PyTreeDef({'x': (*, None)})
    """
    try:
        return structure(structured(grammar().parse("tree", text).one("node")))
    except NoSentence:
        return None


@dataclass
class _ProgramScope:
    """The variables of a program: those with names, and those that are `_`."""

    named: dict[str, Var] = field(default_factory=dict)
    blanks: list[Var] = field(default_factory=list)

    def define(self, name: str, aval: ShapedArray) -> Var:
        if name == "_":
            self.blanks.append(Var(aval))
            return self.blanks[-1]
        # What is defined twice is one variable, for the rules of programs to reject.
        return self.named.setdefault(name, Var(aval))


class _TreeReader:
    """Programs of the trees of one text."""

    def __init__(self, source: ReadText, rules: Rules) -> None:
        self.source = source
        self.rules = rules
        self.shared: dict[str, Tree] = {}
        self.done: dict[str, ClosedJaxpr | None] = {}
        self.dtypes = {n: as_dtype(d.stored) for n, d in rules.dtypes.items()}
        self.shorts = {d.short: as_dtype(d.stored) for d in rules.dtypes.values()}

    def program(self, tree: Tree, wanted: Sequence[ShapedArray]) -> ClosedJaxpr:
        """A program, whose caller gives its results these types."""
        scope = _ProgramScope()
        constants, inputs = tree.all("constant"), tree.all("binder")
        constvars = tuple([self.define(scope, c) for c in constants])
        invars = tuple([self.define(scope, b) for b in inputs])
        eqns = tuple([self.equation(scope, e) for e in tree.all("equation")])
        unread = list(scope.blanks)
        outvars = tuple(
            self.result(scope, unread, atom, wanted[k : k + 1])
            for k, atom in enumerate(tree.all("atom"))
        )
        pairs = [(c.one("elements"), v) for c, v in zip(constants, constvars)]
        consts = tuple(self.elements(t, v.aval) for t, v in pairs if t is not None)
        return ClosedJaxpr(Jaxpr(constvars, invars, eqns, outvars), consts)

    def named(self, name: str, at: int) -> ClosedJaxpr:
        """The program that `let` gives a name; one that holds itself is none."""
        tree, found = self.shared.get(name), self.done.get(name)
        if tree is None or (found is None and name in self.done):
            raise self.source.error("text.syntax", name, at)
        if found is None:
            self.done[name] = None
            self.done[name] = found = self.program(tree, ())
        return found

    # Variables and numbers -----------------------------------------------------------

    def define(self, scope: _ProgramScope, tree: Tree) -> Var:
        name, type_ = tree.one("name"), tree.one("type")
        assert name is not None
        if type_ is None:
            raise self.source.error(
                "text.syntax", f"{name.text} without a type", name.at
            )
        return scope.define(name.text, self.type(type_))

    def type(self, tree: Tree) -> ShapedArray:
        dtype = tree.one("dtype")
        assert dtype is not None
        shape = tuple([self.extent(n) for n in tree.all("digits")])
        short = self.shorts["".join(map(str, dtype.parts))]
        vma = [n.text for part in tree.all("varying") for n in part.all("name")]
        return ShapedArray(shape, short, "~" in tree.parts, vma=vma)

    def extent(self, tree: Tree) -> int:
        """An extent; no array has one of more than 18 digits."""
        if len(tree.text) > 18:
            raise self.source.error("text.syntax", tree.text, tree.at)
        return int(tree.text)

    def elements(self, tree: Tree, aval: ShapedArray) -> np.ndarray:
        """The elements of a constant."""
        scalars = tree.all("scalar")
        if len(scalars) != aval.size:
            got = f"{len(scalars)} elements for {aval.str_short()}"
            raise self.source.error("text.literal", got, tree.at)
        found = np.empty(aval.size, aval.dtype)
        for k, scalar in enumerate(scalars):
            found[k] = self.number(scalar, aval.dtype)
        found = found.reshape(aval.shape)
        found.flags.writeable = False
        return found

    def number(self, tree: Tree, dtype: np.dtype) -> Any:
        """A number as a value of a dtype."""
        word = tree.one("number", "payload") if tree.rule == "scalar" else tree
        assert word is not None
        found = read_number(word.text, dtype)
        if found is None:
            raise self.source.error("text.literal", word.text[:40], tree.at)
        return found

    def atom(self, scope: _ProgramScope, tree: Tree) -> Atom | Tree:
        """A variable, or a literal with its type; a word where it has none."""
        name, scalar, type_ = tree.one("name"), tree.one("scalar"), tree.one("type")
        if name is None:
            assert scalar is not None
            if type_ is None:
                return scalar
            aval = self.type(type_)
            return Literal(self.number(scalar, aval.dtype), aval)
        if name.text == "_" and scope.blanks:
            if len(scope.blanks) > 1:
                raise self.source.error("text.syntax", "_", name.at)
            return scope.blanks[0]
        if name.text in _NUMBERS and name.text not in scope.named:
            return name
        return scope.define(name.text, UNDEFINED)

    def result(
        self,
        scope: _ProgramScope,
        unread: list[Var],
        tree: Tree,
        wanted: Sequence[ShapedArray],
    ) -> Atom:
        """A result; a `_` is the next one of the type that the caller writes."""
        if (name := tree.one("name")) is not None and name.text == "_":
            types = [(a.shape, a.dtype) for a in wanted]
            for var in unread:
                if not types or (var.aval.shape, var.aval.dtype) in types:
                    unread.remove(var)
                    return var
        return self.typed(self.atom(scope, tree), None, ())

    def typed(
        self, atom: Atom | Tree, wanted: np.dtype | None, known: Sequence[np.dtype]
    ) -> Atom:
        """An atom; a number without a type has one by `text.untyped`."""
        if not isinstance(atom, Tree):
            return atom
        word = atom.one("number", "payload") if atom.rule == "scalar" else atom
        assert word is not None
        kind = kind_of_number(word.text)
        alike = [d for d in known if d.kind in ("iu" if kind == "i" else kind)]
        dtype = wanted or next(iter(alike), np.dtype(_USUAL[kind]))
        return Literal(self.number(atom, dtype), ShapedArray((), dtype))

    # Equations -----------------------------------------------------------------------

    def equation(self, scope: _ProgramScope, tree: Tree) -> Eqn:
        """An equation, by the row of its primitive."""
        word = tree.one("dotted")
        assert word is not None
        was = self.rules.spellings.get(word.text)
        primitive = was.means if was else word.text
        row = self.rules.prims.get(primitive)
        binders = tree.all("binder")
        outs = [self.type(t) for b in binders if (t := b.one("type")) is not None]
        params: dict[str, Hashable] = {}
        for param in tree.all("param"):
            name = param.one("name")
            written = name.text if name else "fmt"
            if was and written in was.ignores:
                continue
            key = was.params.get(written, written) if was else written
            if key in params:
                raise self.source.error("text.syntax", key, param.at)
            params[key] = self.param(row, key, param, outs)
        inputs = self.operands(scope, tree, params, outs)
        outputs = tuple([self.define(scope, b) for b in binders])
        if row is not None:
            self.complete(row, params, inputs, outputs, tree)
        effects = frozenset(name.text for name in tree.all("name"))
        eqn = Eqn(primitive, inputs, outputs, sort_params(params))
        effects = effects.union(row.effects if row else (), *_effects_within(eqn))
        return Eqn(primitive, inputs, outputs, eqn.params, effects)

    def operands(
        self,
        scope: _ProgramScope,
        tree: Tree,
        params: Mapping[str, Hashable],
        outs: Sequence[ShapedArray],
    ) -> tuple[Atom, ...]:
        found = [self.atom(scope, a) for a in tree.all("atom")]
        programs = [p for p in params.values() if isinstance(p, ClosedJaxpr)]
        inner = programs[0].in_avals if len(programs) == 1 else ()
        known = [a.aval for a in found if not isinstance(a, Tree)]
        dtypes = [aval.dtype for aval in (*known, *outs)]
        return tuple(
            self.typed(a, inner[k].dtype if k < len(inner) else None, dtypes)
            for k, a in enumerate(found)
        )

    def complete(
        self,
        row: Prim,
        params: dict[str, Hashable],
        inputs: Sequence[Atom],
        outputs: Sequence[Var],
        tree: Tree,
    ) -> None:
        """Add the params that are not written (text.left-out)."""
        operands = {n: a.aval for n, a in zip(row.inputs, inputs)}
        for param in row.params:
            if param.name in params:
                continue
            if param.parse is not None:
                if not outputs:
                    raise self.source.error("text.hidden", param.name, tree.at)
                if len(inputs) < row.arity:
                    continue  # for the rules of programs to reject
                params[param.name] = param.parse({**operands, "out": outputs[0].aval})
            elif param.has_default:
                params[param.name] = param.default

    # Params --------------------------------------------------------------------------

    def param(
        self, row: Prim | None, name: str, tree: Tree, outs: Sequence[ShapedArray]
    ) -> Hashable:
        """The value of a param, by its domain; that of a row's `applies`, too."""
        rows = {p.name: p for p in row.params} if row else {}
        if (verbatim := tree.one("verbatim")) is not None:
            return unquoted(verbatim.text)
        domain, applies = "any", ""
        if name in rows:
            domain, applies = rows[name].domain, rows[name].applies
        elif name == "name" or name.endswith("jaxpr"):
            domain = "name" if name == "name" else "jaxpr"
        (value,) = tree.all("value")
        found = self.value(value, "any" if applies else domain, outs)
        return None if applies and is_application(found, applies) else found

    def value(self, tree: Tree, domain: str, outs: Sequence[ShapedArray]) -> Hashable:
        """A value of a param."""
        part = tree.parts[0]
        assert isinstance(part, Tree)
        match part.rule:
            case "program":
                return self.program(part, outs)
            case "list" | "record":
                return self.items(part, domain, outs)
            case "string":
                return str(ast.literal_eval(part.text))
            case "wrapped" | "number" | "payload":
                return self.plain(part)
            case "tree":
                return structure(structured(part.one("node")))
            case "aval":
                return self.aval(part)
            case "names":
                return tuple(read_values.strings(part))
            case "spec":
                entries = part.all("value")
                return read_values.divisions(
                    self.value(v, domain, outs) for v in entries
                )
            case "mesh":
                sizes = [self.plain(n) for n in part.all("number")]
                kinds = [self.items(n, "any", ()) for n in part.all("list")]
                return self.source.axes(part, sizes, kinds)
            case "opaque":
                raise self.source.error("text.opaque", "", part.at)
        word = part.parts[0]
        return self.word(word.text if isinstance(word, Tree) else word, domain, part.at)

    def items(self, tree: Tree, domain: str, outs: Sequence[ShapedArray]) -> Hashable:
        """A list of values, of programs, or of names of programs."""
        found: list[Hashable] = []
        for part in tree.all("value", "program", "name", "list"):
            match part.rule:
                case "value":
                    found.append(self.value(part, domain, outs))
                case "list":
                    found.append(self.items(part, domain, outs))
                case "program":
                    found.append(self.program(part, outs))
                case _:
                    found.append(self.named(part.text, part.at))
        return tuple(found)

    def plain(self, tree: Tree) -> Hashable:
        """A number that has no dtype."""
        word = tree.one("number") or tree
        found = read_plain(word.text)
        if found is None:
            raise self.source.error("text.literal", word.text[:40], tree.at)
        return found

    def aval(self, tree: Tree) -> ShapedArray:
        """A type as params have it."""
        name = tree.one("name")
        assert name is not None
        if name.text not in self.dtypes:
            raise self.source.error("text.opaque", name.text, tree.at)
        shape = tuple(int(n.text) for n in tree.all("digits"))
        return ShapedArray(shape, self.dtypes[name.text], "weak_type" in tree.parts)

    def word(self, text: str, domain: str, at: int) -> Hashable:
        """A bare word: a name, a program's name, a constant, a dtype."""
        if domain in ("name", "text"):
            return text
        if domain in ("jaxpr", "jaxprs") or (domain == "any" and text in self.shared):
            return self.named(text, at)
        if domain == "function" and " " not in text:
            return HostFunction(text)
        if text.startswith("<") or domain in ("tree", "avals"):
            raise self.source.error("text.opaque", text[:40], at)
        if text in ("nan", "inf"):
            return float(text)
        return _WORDS[text] if text in _WORDS else self.dtypes.get(text, text)


def _effects_within(eqn: Eqn) -> list[frozenset[str]]:
    """The effects of the equations of the programs in an equation's params."""
    return [e.effects for program in subjaxprs(eqn) for e in program.eqns]
