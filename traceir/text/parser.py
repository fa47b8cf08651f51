"""Program text to a program: names, literals and params resolved.

Params that the text leaves out are filled in from the primitives' rows: a hidden
parameter by its `parse` formula or its default, an untyped literal from the other
operands.

Serves: text.syntax, text.literal, text.opaque, text.hidden
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.effects import effects_of
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, sort_params
from traceir.ir.params import EqnParams
from traceir.rules import Prim, Rules, default
from traceir.text.lexer import NUMBER_WORDS, SourceText
from traceir.text.literals import element_value, literal, untyped_dtype
from traceir.text.params import Values, complete
from traceir.text.reader import ProgramParser
from traceir.text.syntax import (
    BinderNode,
    EquationNode,
    ModuleNode,
    NameNode,
    NumberNode,
    Operand,
    ProgramNode,
)

# Nothing is known of a name that nothing binds; the variable made for it must still
# have a type. Checking the program reports it (program.bound).
UNBOUND = ShapedArray((), "float32")


Kept = Callable[[int, ShapedArray], np.ndarray]


def parse(
    text: str, rules: Rules | None = None, kept: Kept | None = None
) -> ClosedJaxpr:
    """The program that `text` writes, in the forms of `spec/grammar.ebnf`.

    The constants' values are those of full text; other text leaves them out, and the
    result then has constant variables without values. If they were kept beside the
    text, `kept` gives the one of a number, of that type. Raises JaxprSyntaxError with
    `line` and `column`; a program that parses may still be ill-typed.

    >>> closed = parse("{ lambda ; a:f32[3]. let b:f32[3] = mul a 2.0 in (b,) }")
    >>> print(closed)
    { lambda ; a:f32[3]. let b:f32[3] = mul a 2.0:f32[] in (b,) }
    """
    if not isinstance(text, str):
        raise TypeError(f"the text of a program is a str, got {type(text).__name__}")
    return parse_source(SourceText(text, rules=rules or default()), kept)


def parse_source(source: SourceText, kept: Kept | None = None) -> ClosedJaxpr:
    """As `parse`, of a part of a longer text."""
    module = ProgramParser(source).module()
    return resolve(module, source, kept)


def resolve(
    module: ModuleNode, source: SourceText, kept: Kept | None = None
) -> ClosedJaxpr:
    """The program of a syntax tree; raises JaxprSyntaxError."""
    return _Resolver(module, source, kept).closed(module.main)


class _VariableScope:
    """The variables of one program by name."""

    def __init__(self) -> None:
        self.names: dict[str, Var] = {}
        self.blanks: list[Var] = []
        self.unclaimed: list[Var] = []

    def bind(self, name: str, aval: ShapedArray) -> Var:
        if name == "_":
            self.blanks.append(Var(aval))
            self.unclaimed.append(self.blanks[-1])
            return self.blanks[-1]
        # A second binding is the same variable, so that checking can report it.
        return self.names.setdefault(name, Var(aval))

    def find(self, name: str) -> Var | None:
        if name == "_" and len(self.blanks) == 1:
            return self.blanks[0]
        return self.names.get(name)

    def dropped(self, aval: ShapedArray | None) -> Var | None:
        """The first `_` not yet among the results that has the type `aval`."""
        found = next((v for v in self.unclaimed if _alike(v.aval, aval)), None)
        if found is not None:
            self.unclaimed.remove(found)
        return found


def _alike(aval: ShapedArray, other: ShapedArray | None) -> bool:
    # Ordinary text leaves weakness out.
    return other is None or (aval.shape, aval.dtype) == (other.shape, other.dtype)


class _Resolver:
    def __init__(
        self, module: ModuleNode, source: SourceText, kept: Kept | None
    ) -> None:
        self.source = source
        self.kept = kept
        self.rules = source.rules or default()
        self.shared: Mapping[str, ProgramNode] = dict(module.shared)
        self.done: dict[str, ClosedJaxpr] = {}
        self.open: list[str] = []
        # The results of the equation whose parameters are being read.
        self.wanted: tuple[ShapedArray | None, ...] = ()
        self.values = Values(source, self.rules, self.closed, self.named, self.shared)

    def named(self, name: str, at: int) -> ClosedJaxpr:
        """The shared program of that name, resolved when first used."""
        if name not in self.shared or name in self.open:
            got = f"`{name}`, expected a program defined by `let {name} = …`"
            raise self.source.error("text.syntax", got, at)
        if name not in self.done:
            self.open.append(name)
            self.done[name] = self.closed(self.shared[name])
            self.open.pop()
        return self.done[name]

    def closed(self, program: ProgramNode) -> ClosedJaxpr:
        wanted, self.wanted = self.wanted, ()
        scope = _VariableScope()
        constants = tuple(self.define(scope, b) for b in program.constants)
        inputs = tuple(self.define(scope, b) for b in program.inputs)
        eqns = tuple(self.equation(scope, e) for e in program.equations)
        results = self.results(scope, program.results, wanted)
        jaxpr = Jaxpr(constants, inputs, eqns, results)
        return ClosedJaxpr(jaxpr, self.constants(program.constants))

    def define(self, scope: _VariableScope, binder: BinderNode) -> Var:
        if binder.aval is None:
            got = f"`{binder.name}` without a type, expected `{binder.name}:f32[]`"
            raise self.source.error("text.syntax", got, binder.at)
        return scope.bind(binder.name, binder.aval)

    def constants(self, binders: tuple[BinderNode, ...]) -> tuple[np.ndarray, ...]:
        # That all or none have values is for checking to demand (program.constants).
        kept = self.kept is not None  # then all have
        return tuple(self.array(b) for b in binders if kept or b.value is not None)

    def array(self, binder: BinderNode) -> np.ndarray:
        """A constant's elements as an array, or one that was kept."""
        aval, elements = binder.aval, binder.value or ()
        assert aval is not None  # the reader takes values after types only
        if self.kept is not None:
            return self.kept_array(binder, aval, self.kept)
        if len(elements) != aval.size:
            got = f"{len(elements)} elements for {aval.str_short()}"
            raise self.source.error("text.literal", got, binder.at)
        found = np.empty(aval.size, aval.dtype)
        for k, element in enumerate(elements):
            found[k] = element_value(self.source, element, aval.dtype)
        found = found.reshape(aval.shape)
        found.flags.writeable = False
        return found

    def kept_array(
        self, binder: BinderNode, aval: ShapedArray, kept: Kept
    ) -> np.ndarray:
        """The constant for which its number stands."""
        elements = binder.value or ()
        if len(elements) != 1 or not elements[0].text.isdecimal():
            got = f"`{binder.name}` without the number of its constant"
            raise self.source.error("text.literal", got, binder.at)
        return kept(int(elements[0].text), aval)

    # -- equations ------------------------------------------------------------

    def equation(self, scope: _VariableScope, equation: EquationNode) -> Eqn:
        """An equation, with its params completed by the primitive's row."""
        spelling = self.rules.spellings.get(equation.primitive)
        primitive = spelling.means if spelling else equation.primitive
        row = self.rules.prims.get(primitive)
        self.wanted = tuple(b.aval for b in equation.outputs)
        params = self.values.params(equation.params, row, spelling)
        inputs = self.operands(scope, equation, params)
        outputs = tuple(self.define(scope, b) for b in equation.outputs)
        self.complete(params, row, equation, inputs, outputs)
        known = EqnParams(sort_params(params))
        effects = effects_of(primitive, known).union(equation.effects)
        return Eqn(primitive, inputs, outputs, known, effects)

    def complete(
        self,
        params: dict[str, Hashable],
        row: Prim | None,
        equation: EquationNode,
        inputs: tuple[Atom, ...],
        outputs: tuple[Var, ...],
    ) -> None:
        """Fill in params that the text leaves out; an error if one is missing."""
        if row is None:
            return
        out = outputs[0].aval if outputs else None
        missing = complete(row, params, [a.aval for a in inputs], out)
        if missing:
            got = f"`{equation.primitive}` without `{missing}`"
            raise self.source.error("text.hidden", got, equation.at)

    def operands(
        self,
        scope: _VariableScope,
        equation: EquationNode,
        params: Mapping[str, Hashable],
    ) -> tuple[Atom, ...]:
        """The operands; bare numbers take a dtype from the others."""
        inner = [v for v in params.values() if isinstance(v, ClosedJaxpr)]
        wanted = inner[0].in_avals if len(inner) == 1 else ()
        found = [self.atom(scope, operand) for operand in equation.inputs]
        known = [a.aval.dtype for a in found if not isinstance(a, NumberNode)]
        known += [b.aval.dtype for b in equation.outputs if b.aval]
        return tuple(
            self.guess(a, wanted[k].dtype if k < len(wanted) else None, known)
            for k, a in enumerate(found)
        )

    def guess(
        self, atom: Atom | NumberNode, wanted: np.dtype | None, known: list[np.dtype]
    ) -> Atom:
        if not isinstance(atom, NumberNode):
            return atom
        dtype = wanted or untyped_dtype(atom.text, known)
        return literal(self.source, atom, ShapedArray((), dtype))

    def atom(self, scope: _VariableScope, operand: Operand) -> Atom | NumberNode:
        if isinstance(operand, NumberNode):
            return self.typed(operand)
        var = scope.find(operand.text)
        if var is None and operand.text in NUMBER_WORDS:
            return NumberNode(operand.text, None, operand.at)
        if var is None and operand.text == "_" and scope.blanks:
            got = f"`_`, of which there are {len(scope.blanks)}"
            raise self.source.error("text.syntax", got, operand.at)
        return var or scope.names.setdefault(operand.text, Var(UNBOUND))

    def typed(self, number: NumberNode) -> Literal | NumberNode:
        if number.aval is None:
            return number
        return literal(self.source, number, number.aval)

    def results(
        self,
        scope: _VariableScope,
        operands: tuple[Operand, ...],
        wanted: tuple[ShapedArray | None, ...],
    ) -> tuple[Atom, ...]:
        """The results of a program, `_` being a variable of its own."""
        # Results that the caller drops are all named `_`.
        found: list[Atom] = []
        for k, operand in enumerate(operands):
            atom: Atom | NumberNode | None = None
            if isinstance(operand, NameNode) and operand.text == "_":
                atom = scope.dropped(wanted[k] if k < len(wanted) else None)
            found.append(self.guess(atom or self.atom(scope, operand), None, []))
        return tuple(found)
