"""Programs printed by the rows of `text.toml` and of their primitives.

Serves: text.layout, text.names, text.inner-names, text.unused, text.shared,
text.params, text.weak, text.constants, text.nan, text.opaque
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import count, product
from typing import Any, Final

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import KeyDType
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    HostFunction,
    Jaxpr,
    Var,
    programs_in,
    subjaxprs,
)
from traceir.oracle.layout import Box, Break, Piece, fill, laid_out, spaced
from traceir.oracle.numbers import number_text
from traceir.oracle.reading import read_tree
from traceir.pytrees.treedef import TreeDef
from traceir.rules import Param, Prim, Rules, default

# Words that are numbers, or constants among params.
NUMBERS: Final = frozenset({"True", "False", "true", "false", "nan", "inf"})
# Domains whose values are written in brackets where there is no list within.
BRACKETED: Final = frozenset({"dimension_numbers", "flags"})
# Domains whose values are records: their names, and those of the fields.
RECORDS: Final[Mapping[str, tuple[str, str]]] = {
    "convolution": ("ConvDimensionNumbers", "lhs_spec rhs_spec out_spec"),
    "gather_numbers": (
        "GatherDimensionNumbers",
        "offset_dims collapsed_slice_dims start_index_map operand_batching_dims"
        " start_indices_batching_dims",
    ),
    "scatter_numbers": (
        "ScatterDimensionNumbers",
        "update_window_dims inserted_window_dims scatter_dims_to_operand_dims"
        " operand_batching_dims scatter_indices_batching_dims",
    ),
}
_WORD: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*|<(?:[^<>\n]|<[^<>\n]*>)*>")


def write(closed: ClosedJaxpr, full: bool = False, rules: Rules | None = None) -> str:
    """The ordinary text of a program, or the full one, by the rows.

    Raises JaxprSyntaxError (text.opaque) where the full text has none for a param.

    >>> from traceir.oracle.reading import read
    >>> write(read("{lambda;x:f32[].let y:f32[]=sin x in(y,)}"))
    '{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }'
    """
    rules = rules or default()
    form = rules.form("text.layout")
    return laid_out(_Writer(closed, full, rules).text(), form.width)


def names(letters: str, taken: Collection[str]) -> Iterator[str]:
    """The names of variables, in order (text.names).

    >>> [*zip("12345", names("ab", {"ba"}))]
    [('1', 'a'), ('2', 'b'), ('3', 'bb'), ('4', 'baa'), ('5', 'bab')]
    """
    for length in count(1):
        for digits in product(letters, repeat=length):
            name = "".join(digits)
            if (length == 1 or digits[0] != letters[0]) and name not in taken:
                yield name


@dataclass
class _WrittenProgram:
    """A program as it is written: the names that its variables have so far."""

    closed: ClosedJaxpr
    names: dict[Var, str] = field(default_factory=dict)


class _Writer:
    """The text of one program."""

    def __init__(self, main: ClosedJaxpr, full: bool, rules: Rules) -> None:
        self.main, self.full, self.rules = main, full, rules
        self.indent = rules.form("text.layout").indent
        self.blank = rules.form("text.unused").mark
        self.applied: dict[tuple[str, np.dtype], ClosedJaxpr] = {}
        self.shared = dict(self.sharing())
        taken = {*self.shared.values(), *NUMBERS}
        self.fresh = names(rules.form("text.names").letters, taken)

    def text(self) -> Piece:
        """The programs that are shared, each before a new line, then the program."""
        found: list[Piece] = []
        main = _WrittenProgram(self.main)
        if not self.full:
            read = {a for e in self.main.eqns for a in e.inputs if isinstance(a, Var)}
            read |= {a for a in self.main.jaxpr.outvars if isinstance(a, Var)}
            written = [v for e in self.main.eqns for v in e.outputs]
            main.names |= {v: self.blank for v in written if v not in read}
        for key, name in self.shared.items():
            body = self.program(_WrittenProgram(self.occurring[key]))
            found += [f"let {name} = ", body, " in", Break(" ")]
        return Box((*found, self.program(main)), grouped=False)

    # Programs that are written before the others --------------------------------------

    def key(self, closed: ClosedJaxpr) -> Hashable:
        """The same for each occurrence of a program; the full text has constants."""
        return id(closed.jaxpr), closed.const_keys() if self.full else None

    def sharing(self) -> Iterator[tuple[Hashable, str]]:
        """The shared programs and their names, breadth-first (text.shared)."""
        uses: Counter[Hashable] = Counter()
        self.occurring: dict[Hashable, ClosedJaxpr] = {}
        wanted: dict[Hashable, str] = {}
        waiting = deque([(self.main, "jaxpr")])
        while waiting:
            closed, name = waiting.popleft()
            key = self.key(closed)
            self.occurring.setdefault(key, closed)
            wanted.setdefault(key, name)
            uses[key] += 1
            if uses[key] <= 2:  # what is in it has occurred twice by then
                waiting.extend(pair for e in closed.eqns for pair in self.within(e))
        form = self.rules.form("text.shared")
        taken = {*NUMBERS, "None", *self.rules.dtypes}
        for key, closed in self.occurring.items():
            known = {"uses": uses[key], "equations": len(closed.eqns)}
            if form.applies(**known, main=closed is self.main):
                tries = (f"{wanted[key]}{k or ''}" for k in count())
                name = next(name for name in tries if name not in taken)
                taken.add(name)
                yield key, name

    def within(self, eqn: Eqn) -> Iterator[tuple[ClosedJaxpr, str]]:
        """The programs of an equation and the name that each would have."""
        row, params = self.rules.prims.get(eqn.primitive), eqn.stored()
        name = params.get("name") if row and row.names else None
        plain = re.sub(r"\W", "_", name.strip("<>")) if isinstance(name, str) else ""
        yield from ((inner, plain or "jaxpr") for inner in subjaxprs(eqn))
        yield from ((inner, "jaxpr") for inner in self.applications(eqn, row).values())

    def applications(self, eqn: Eqn, row: Prim | None) -> dict[str, ClosedJaxpr]:
        """The params that a row writes as the application of a primitive."""
        params, found = eqn.stored(), {}
        for param in row.params if row and eqn.inputs else ():
            if param.applies and params.get(param.name) is None:
                key = param.applies, eqn.inputs[0].aval.dtype
                if key not in self.applied:
                    x, y, z = (Var(ShapedArray((), key[1])) for _ in range(3))
                    one = Eqn(param.applies, (x, y), (z,))
                    self.applied[key] = ClosedJaxpr(Jaxpr((), (x, y), (one,), (z,)))
                found[param.name] = self.applied[key]
        return found

    # Programs -------------------------------------------------------------------------

    def program(self, written: _WrittenProgram) -> Piece:
        """`{ lambda constants; inputs. let equations in (results) }`."""
        jaxpr, closed = written.closed.jaxpr, written.closed
        consts: Sequence[Any] = closed.consts if self.full else ()
        if len(consts) != len(jaxpr.constvars):
            consts = [None] * len(jaxpr.constvars)
        constants = [
            self.binder(written, v) + self.elements(c)
            for v, c in zip(jaxpr.constvars, consts)
        ]
        inputs = [self.binder(written, v) for v in jaxpr.invars]
        eqns = spaced([self.eqn(written, e) for e in jaxpr.eqns], Break("; "))
        results = [self.atom(written, a) for a in jaxpr.outvars]
        lists = [fill(part, self.indent) for part in (constants, inputs)]
        head = ("{ lambda ", lists[0], "; ", lists[1], ". let")
        body = Box((Break(" "), *eqns), self.indent, grouped=False)
        end = ",)" if len(results) == 1 else ")"
        tail = (Break(" "), "in (", fill(results, self.indent, ","), end)
        return Box((Box((*head, body, *tail), self.indent, grouped=False), " }"))

    def elements(self, value: np.ndarray | None) -> str:
        """The elements of a constant in the full text (text.constants)."""
        if value is None:
            return ""
        array = np.asarray(value)
        inner = [number_text(x, array.dtype, True) for x in array.reshape(-1)]
        return f"={{{' '.join(inner)}}}"

    def name(self, written: _WrittenProgram, var: Var) -> str:
        """The name of a variable, which it has from where it is first written."""
        if var not in written.names:
            written.names[var] = next(self.fresh)
        return written.names[var]

    def type(self, atom: Atom) -> str:
        """A type; a weak one is marked in the full text (text.weak)."""
        weak = self.full and atom.aval.weak_type
        mark = self.rules.form("text.weak").mark if weak else ""
        dtype = self.rules.dtypes[atom.aval.dtype.name]
        extents = ",".join(map(str, atom.aval.shape))
        vma = [*map(str, atom.aval.vma)]
        names = f"({','.join(vma)})" if len(vma) > 1 else "".join(vma)
        varying = f"{{V:{names}}}" if vma else ""
        return f"{mark}{dtype.short}[{extents}]{varying}"

    def binder(self, written: _WrittenProgram, var: Var) -> str:
        return f"{self.name(written, var)}:{self.type(var)}"

    def atom(self, written: _WrittenProgram, atom: Atom) -> str:
        if isinstance(atom, Var):
            return self.name(written, atom)
        number = number_text(atom.value, atom.aval.dtype, self.full)
        return f"{number}:{self.type(atom)}"

    # Equations ------------------------------------------------------------------------

    def eqn(self, written: _WrittenProgram, eqn: Eqn) -> Piece:
        """`results = primitive!effects[params] operands`."""
        row = self.rules.prims.get(eqn.primitive)
        results = [self.binder(written, v) for v in eqn.outputs]
        inner: Mapping[Var, str] = {}
        named = dict(eqn.params).get(row.names) if row and row.names else None
        if isinstance(named, ClosedJaxpr) and self.key(named) not in self.shared:
            inner = self.inner_names(written, eqn, named.jaxpr)
        own = row.effects.union(*_effects(eqn)) if row else frozenset[str]()
        primitive = "!".join((eqn.primitive, *sorted(eqn.effects - own)))
        params = self.params(eqn, row, inner)
        operands = [self.atom(written, a) for a in eqn.inputs]
        equals = " = " if results else ""
        left, right = fill(results, self.indent), fill(operands, self.indent)
        return Box((left, equals, primitive, params, " ", right), grouped=False)

    def inner_names(
        self, written: _WrittenProgram, eqn: Eqn, inner: Jaxpr
    ) -> Mapping[Var, str]:
        """The names of the caller's that an inner program uses (text.inner-names)."""
        found: dict[Var, str] = {}
        for own, outer in ((inner.invars, eqn.inputs), (inner.outvars, eqn.outputs)):
            used, blanks = set[Var](), dict[Var, str]()
            pairs = zip(own, outer) if len(own) == len(outer) else ()
            for var, like in pairs:
                if not (isinstance(var, Var) and isinstance(like, Var)):
                    continue
                if like not in used and var not in found and var not in blanks:
                    used.add(like)
                    name = self.name(written, like)
                    (blanks if name == self.blank else found)[var] = name
            if blanks and _are_told(inner, blanks):
                found |= blanks
        return found

    def params(self, eqn: Eqn, row: Prim | None, inner: Mapping[Var, str]) -> Piece:
        """The params that are written, in their order (text.params)."""
        # Its pairs, as stored: what reads it as a dict is given names for parts.
        given = {**dict(iter(eqn.params)), **self.applications(eqn, row)}
        rows = {p.name: p for p in row.params} if row else {}
        order = row.order if row else ()
        first = [name for name in order if name in given]
        found: list[Piece] = []
        for name in (*first, *sorted(given.keys() - {*first})):
            if self.shows(given[name], rows.get(name)):
                value = self.param(eqn, name, given[name], rows.get(name), inner)
                found.append(Box((f"{name}=", value), grouped=False))
        return self.listed("[", found, "]") if found else ""

    def listed(self, left: str, parts: Sequence[Piece], right: str) -> Piece:
        """Parts in brackets, all on one line or each on its own."""
        begin = (left, Break(""), *spaced(parts, Break(" ")))
        return Box((Box(begin, self.indent, grouped=False), Break(""), right))

    def shows(self, value: Hashable, param: Param | None) -> bool:
        if param is None:
            return True
        usual = param.has_default and type(value) is type(param.default)
        usual = usual and value == param.default
        form = self.rules.form("text.params")
        return form.applies(full=self.full, how=param.print, usual=usual)

    # Values of params -----------------------------------------------------------------

    def param(
        self,
        eqn: Eqn,
        name: str,
        value: Hashable,
        param: Param | None,
        inner: Mapping[Var, str],
    ) -> Piece:
        domain = param.domain if param else "name" if name == "name" else "any"
        if self.full and not self.has_text(value):
            got = f"`{name}` of `{eqn.primitive}` is {value!r:.60}"
            raise self.rules.error("text.opaque", got=got)
        if isinstance(value, tuple) and any(programs_in((("", value),))):
            comma = "" if all(isinstance(v, ClosedJaxpr) for v in value) else ","
            parts = [self.param(eqn, name, v, param, inner) for v in value]
            commas = [comma] * (len(parts) - 1) + [""]
            both = [Box(pair, grouped=False) for pair in zip(parts, commas)]
            return self.listed("(", both, ")")
        if isinstance(value, ClosedJaxpr):
            shared = self.shared.get(self.key(value))
            return shared or self.program(_WrittenProgram(value, dict(inner)))
        if isinstance(value, str) and domain == "text":
            return repr(value) if self.full or value[:1] in ("'", '"') else value
        if domain in RECORDS:
            title, fields = RECORDS[domain]
            assert isinstance(value, tuple)
            inside = (f"{n}={v!r}" for n, v in zip(fields.split(), value, strict=True))
            return f"{title}({', '.join(inside)})"
        if domain in ("options", "axis_names"):
            return repr(value)
        if domain in _OF_MESHES:
            return _OF_MESHES[domain](value)
        plain = domain in ("name", "tree", "avals")
        return self.value(value, domain in BRACKETED, self.full and not plain)

    def value(self, value: object, bracketed: bool, full: bool) -> str:
        """A value without programs; in full text a text is quoted."""
        match value:
            case str():
                return value if _WORD.fullmatch(value) and not full else repr(value)
            case np.dtype() | KeyDType():
                return value.name
            case float() | complex() if full:
                return number_text(value, np.dtype(type(value)), True)
            case tuple():
                parts = [self.value(v, bracketed, full) for v in value]
                if bracketed and not any(isinstance(v, tuple) for v in value):
                    return f"[{', '.join(parts)}]"
                return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        return repr(value)

    def has_text(self, value: Hashable) -> bool:
        """True if the full text can have a value (text.opaque)."""
        match value:
            case tuple():
                return all(map(self.has_text, value))
            case HostFunction(function=function):
                return function is None
            case TreeDef():
                return read_tree(repr(value)) is value
            case np.dtype() | KeyDType():
                return value.name in self.rules.dtypes
        plain = (bool, int, float, complex, str, type(None), ClosedJaxpr, ShapedArray)
        return type(value) in plain


def _effects(eqn: Eqn) -> list[frozenset[str]]:
    return [e.effects for program in subjaxprs(eqn) for e in program.eqns]


def _are_told(jaxpr: Jaxpr, blanks: Mapping[Var, str]) -> bool:
    """True if a reader knows which `_` each use of one is (text.unused).

    As an operand it is the only one so far; the results have them as they are defined.
    """
    defined = [v for v in jaxpr.invars if v in blanks]
    for eqn in jaxpr.eqns:
        used = [a for a in eqn.inputs if isinstance(a, Var) and a in blanks]
        if any(defined != [var] for var in used):
            return False
        defined += [v for v in eqn.outputs if v in blanks]
    found = [a for a in jaxpr.outvars if isinstance(a, Var) and a in blanks]
    return found == defined[: len(found)]


def _mesh(axes: Any) -> str:
    """A mesh; one along some of whose axes a function sees a part is abstract."""
    kinds = [kind for _, _, kind in axes]
    parts = [f"{name!r}: {size}" for name, size, _ in axes]
    parts += [f"axis_types=({', '.join(kinds)}{',' * (len(kinds) == 1)})"] * bool(axes)
    if "Manual" not in kinds:
        return f"Mesh({', '.join(parts)})"
    parts += ["device_kind=cpu", "num_cores=None", "platform=cpu"]
    return f"AbstractMesh({', '.join(parts)})"


def _specs(specs: Any) -> str:
    """Specs: of each dimension None, the name of an axis, or several names."""
    entries = [tuple([a if len(a) > 1 else (*a, None)[0] for a in s]) for s in specs]
    inner = ", ".join(f"P{entry!r}" for entry in entries)
    return f"({inner}{',' * (len(entries) == 1)})"


def _names(names: Any) -> str:
    return f"frozenset({{{', '.join(map(repr, names))}}})" if names else "frozenset()"


_OF_MESHES = {"mesh": _mesh, "name_set": _names, "specs": _specs}
