"""Jaxprs: programs in typed A-normal form. Serves: program.*"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source
from traceir.ir.atoms import Atom as Atom
from traceir.ir.atoms import Literal as Literal
from traceir.ir.atoms import UntypedVar as UntypedVar
from traceir.ir.atoms import Var as Var
from traceir.ir.avals import ShapedArray
from traceir.ir.name_stack import NameStack, SourceInfo, StackName
from traceir.ir.notebooks import folded
from traceir.ir.params import NONE, EqnParams, NamedPrimitive
from traceir.ir.params import Params as Params
from traceir.ir.params import sort_params as sort_params

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Eqn:
    """One application of a primitive; `params` are sorted by name."""

    primitive: str
    inputs: tuple[Atom, ...]
    outputs: tuple[Var, ...]
    params: Params = NONE
    effects: frozenset[str] = frozenset()
    source: Source | None = field(default=None, compare=False)
    name_stack: tuple[StackName, ...] = field(default=(), compare=False)

    @property
    def source_info(self) -> SourceInfo:
        """The user's line that the equation is from, and the names it stands in."""
        return SourceInfo(self.source, NameStack(self.name_stack))

    @property
    def invars(self) -> list[Atom]:
        """The operands, as JAX names them."""
        return list(self.inputs)

    @property
    def outvars(self) -> list[Var]:
        """The results, as JAX names them."""
        return list(self.outputs)

    @property
    def pairs(self) -> Params:
        """The params as the row has them; a user's are read as what it was given."""
        return tuple(self.params)

    def stored(self) -> dict[str, Any]:
        """The params by name, as the primitive's row has them."""
        return dict(self.pairs)

    def param(self, name: str) -> Any:
        """The value of one parameter; raises KeyError when there is none."""
        return dict(self.params)[name]

    def replace(self, **changes: Any) -> Eqn:
        """The equation with other parts, as JAX names them; it keeps its place."""
        own = {"invars": self.inputs, "outvars": self.outputs, "effects": self.effects}
        given = {**own, "primitive": self.primitive, **changes}
        inputs, params = tuple(given["invars"]), self.params
        named, effects = given["primitive"], frozenset(given["effects"])
        if "params" in changes:
            kind = named if isinstance(named, NamedPrimitive) else NamedPrimitive(named)
            params = kind.eqn_params([a.aval for a in inputs], changes["params"])
        outputs = tuple(given["outvars"])
        where = given.get("source_info", self.source_info)
        names = where.name_stack.stack
        return Eqn(named, inputs, outputs, params, effects, where.source, names)


@dataclass(frozen=True, slots=True)
class HostFunction:
    """A function of the host language in a param; program text has its name alone.

    `function` is None where the program was read from text. Two are equal when they
    have the same name and equal functions.

    >>> HostFunction("f_jvp")
    f_jvp
    """

    name: str
    function: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        """Call the function; TypeError if only its name is known."""
        if self.function is None:
            raise TypeError(f"of the function `{self.name}`, only the name is known")
        return self.function(*args)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, repr=False)
class ForeignFunction(HostFunction):
    """A host function on single numbers that machine code can call by its name, too.

    Its first operand is its first result, which puts calls in order; the second is the
    address of an object. A second result that is an array has, in C order, what so many
    calls give. While machine code calls, the `scope` of all such objects of
    the program is open.
    """

    scope: Callable[[Sequence[int]], AbstractContextManager[None]] | None = None


@dataclass(frozen=True, eq=False)
class Jaxpr:
    """A program: constants, inputs, equations, outputs.

    Two are equal when they differ in the choice of variables alone.
    """

    constvars: tuple[Var, ...]
    invars: tuple[Var, ...]
    eqns: tuple[Eqn, ...]
    outvars: tuple[Atom, ...]
    debug_name: str = field(default="", compare=False)

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the inputs."""
        return tuple(v.aval for v in self.invars)

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the outputs."""
        return tuple(v.aval for v in self.outvars)

    @property
    def effects(self) -> frozenset[str]:
        """The effects of the equations."""
        return frozenset().union(*[eqn.effects for eqn in self.eqns])

    def replace(self, **changes: Any) -> Jaxpr:
        """The program with other parts; its effects are those of its equations."""
        parts = ("constvars", "invars", "eqns", "outvars")
        own: Any = {k: tuple(v) for k, v in changes.items() if k in parts}
        return replace(self, **own)

    def canonical(self) -> tuple[object, ...]:
        """The program with variables numbered in order of appearance."""
        found: tuple[object, ...] | None = self.__dict__.get("_canonical")
        if found is None:
            found = _canonical(self)
            object.__setattr__(self, "_canonical", found)
        return found

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Jaxpr) and self.canonical() == other.canonical()

    def __hash__(self) -> int:
        return hash(self.canonical())

    def __str__(self) -> str:
        return printer().program(self)

    __repr__ = __str__

    def pretty_print(
        self, *, source_info: bool = False, name_stack: bool = False
    ) -> str:
        """The text, with comments that name each equation's line, or its name stack.

        >>> import traceir
        >>> with traceir.named_scope("outside"):
        ...     closed = traceir.make_jaxpr(traceir.named_call(abs, name="size"))(1.0)
        >>> print(closed.pretty_print(name_stack=True))
        { lambda ; a:f32[]. let b:f32[] = abs a in (b,) } # [size]
        """
        return printer().annotated(self, source_info, name_stack)

    def _repr_html_(self) -> str:
        count = f"{len(self.eqns):,} equation{'s' * (len(self.eqns) != 1)}"
        return folded(f"{self.debug_name or 'jaxpr'}: {count}", str(self), "jaxpr")


def _canonical(jaxpr: Jaxpr) -> tuple[object, ...]:
    numbers: dict[Var, int] = {}

    def define(variables: tuple[Var, ...]) -> tuple[object, ...]:
        for v in variables:
            numbers[v] = len(numbers)
        return tuple(getattr(v, "aval", None) for v in variables)

    def use(atom: Atom) -> object:
        if isinstance(atom, Literal):
            return atom.key()
        # An unbound variable is told apart by identity: such programs are
        # compared before they are checked.
        return numbers.get(atom, atom)

    head = define(jaxpr.constvars), define(jaxpr.invars)
    eqns = tuple(
        (
            e.primitive,
            tuple(map(use, e.inputs)),
            _exact(e.params),
            e.effects,
            define(e.outputs),
        )
        for e in jaxpr.eqns
    )
    return *head, eqns, tuple(map(use, jaxpr.outvars))


def _exact(value: Hashable) -> Hashable:
    """A param with the bits of its numbers: a NaN is like itself, a zero has a sign."""
    if type(value) is tuple or type(value) is EqnParams:
        return tuple([_exact(part) for part in value])
    if type(value) is float or type(value) is complex:
        return type(value), np.asarray(value).tobytes()
    return value


@dataclass(frozen=True, eq=False)
class ClosedJaxpr:
    """A program with the values of its constants.

    Equal when the programs are equal and the constants have the same bits.
    """

    jaxpr: Jaxpr
    consts: tuple[np.ndarray, ...] = ()
    # What runs the program where an equation with it is applied outside every trace:
    # a backend's name, None for the NumPy kernels. No part of the program.
    backend: str | None = None

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make`, made once for this program and key and kept with it.

        For what is derived from a program: its derivative, its machine code.
        """
        found: dict[Hashable, T] = self.__dict__.setdefault("_memo", {})
        if key not in found:
            # Threads that make it at once share what the first has put there.
            return found.setdefault(key, make())
        return found[key]

    def on(self, backend: str | None) -> ClosedJaxpr:
        """The same program to be run by a backend."""
        if backend == self.backend:
            return self
        return self.memo(
            ("on", backend), lambda: ClosedJaxpr(self.jaxpr, self.consts, backend)
        )

    @property
    def eqns(self) -> tuple[Eqn, ...]:
        """The equations."""
        return self.jaxpr.eqns

    @property
    def constvars(self) -> tuple[Var, ...]:
        """The variables of the constants."""
        return self.jaxpr.constvars

    @property
    def invars(self) -> tuple[Var, ...]:
        """The variables of the inputs."""
        return self.jaxpr.invars

    @property
    def outvars(self) -> tuple[Atom, ...]:
        """The results: variables, or literals."""
        return self.jaxpr.outvars

    def replace(self, *, jaxpr: Jaxpr, consts: Sequence[Any] | None = None) -> Self:
        """Another program, with these constants or with its own."""
        values = self.consts if consts is None else tuple(consts)
        return type(self)(jaxpr, values, self.backend)

    @property
    def literals(self) -> list[Any]:
        """The values of the constants, as JAX names them."""
        return list(self.consts)

    @property
    def effects(self) -> frozenset[str]:
        """The effects of the equations."""
        return self.jaxpr.effects

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the inputs."""
        return self.jaxpr.in_avals

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the outputs."""
        return self.jaxpr.out_avals

    def const_keys(self) -> tuple[object, ...]:
        """The bits of the constants."""
        return tuple(
            (a.dtype, a.shape, a.tobytes()) for a in map(np.asarray, self.consts)
        )

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, ClosedJaxpr)
            and self.jaxpr == other.jaxpr
            and self.const_keys() == other.const_keys()
        )

    def __hash__(self) -> int:
        return hash(self.jaxpr)

    def __str__(self) -> str:
        return str(self.jaxpr)

    __repr__ = __str__

    def pretty_print(
        self, *, source_info: bool = False, name_stack: bool = False
    ) -> str:
        """As `Jaxpr.pretty_print`."""
        return self.jaxpr.pretty_print(source_info=source_info, name_stack=name_stack)

    def _repr_html_(self) -> str:
        return self.jaxpr._repr_html_()


class PartTexts(Protocol):
    """The texts of parts of a program, named as in its whole text."""

    def eqn(self, jaxpr: Jaxpr, eqn: Eqn) -> str:
        """An equation, on one line."""

    def atom(self, jaxpr: Jaxpr, atom: Atom) -> str:
        """A variable or a literal."""


@dataclass(frozen=True, slots=True)
class TextPrinter:
    """A printer of programs, and of their parts."""

    program: Callable[[Jaxpr], str]
    annotated: Callable[[Jaxpr, bool, bool], str]
    parts: Callable[[ClosedJaxpr], PartTexts]


_loaders: list[Callable[[], TextPrinter]] = []


def print_by(load: Callable[[], TextPrinter]) -> None:
    """Let a printer, not imported before one is printed, write programs."""
    _loaders[:] = [load]


def printer() -> TextPrinter:
    """The printer of programs."""
    return _loaders[0]()


def subjaxprs(eqn: Eqn) -> Iterator[ClosedJaxpr]:
    """The programs that an equation carries in its params."""
    return programs_in(eqn.params)


def programs_in(params: Params) -> Iterator[ClosedJaxpr]:
    """The programs among params."""
    for _, value in params:
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, ClosedJaxpr):
                yield one
