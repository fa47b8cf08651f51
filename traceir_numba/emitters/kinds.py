"""The closed set of kinds of emitter, and the table of them all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field, replace
from typing import Any, TypeVar

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Params, Var
from traceir_numba.device_functions import short


@dataclass(slots=True)
class ExpressionContext:
    """The context of one scalar expression: its dtypes, params and callees.

    `contracts` says that the compiler makes one operation of a product and a sum.
    """

    dtype: str  # of the result
    operand: str  # of the first operand
    params: Mapping[str, Hashable] = field(default_factory=dict)
    operands: tuple[str, ...] = ()
    calls: list[str] = field(default_factory=list)
    contracts: bool = False

    @property
    def kind(self) -> str:
        """The kind of the operands: b, i, u or f."""
        return np.dtype(self.operand).kind

    def cast(self, text: str) -> str:
        """The value as one of the result's dtype."""
        return f"{short(self.dtype)}({text})"

    def wrap(self, text: str) -> str:
        """An arithmetic result: Numba computes integers in 64 bits, we wrap them."""
        return text if np.dtype(self.dtype).kind == "f" else self.cast(text)

    def number(self, value: float) -> str:
        """A constant of the result's dtype."""
        kind = np.dtype(self.dtype).kind
        return self.cast(repr(float(value) if kind == "f" else int(value)))

    def call(self, name: str, *args: str) -> str:
        """A call of one of `traceir_numba.device_functions`, by its full name."""
        self.calls.append(name)
        return f"{name}({', '.join(args)})"


@dataclass(frozen=True, slots=True)
class AffineIndex:
    """An index into one dimension of a value: `start + step * i`, i that of loop `dim`.

    Without a loop it is `start`. It is used where i is `within` a range only. An index
    `found` in memory is added to it.
    """

    dim: int | None
    start: int = 0
    step: int = 1
    within: tuple[int, int] | None = None
    dynamic: tuple[DynamicIndex, ...] = ()

    def times(self, factor: int, plus: int) -> AffineIndex:
        """So many times the index, and a number more."""
        return replace(
            self,
            start=plus + factor * self.start,
            step=factor * self.step,
            dynamic=tuple(replace(f, scale=factor * f.scale) for f in self.dynamic),
        )


@dataclass(frozen=True, slots=True)
class DynamicIndex:
    """An element of a value as a part of an index, `scale` times.

    One that is less than 0 counts as 0, one that is more than `last` as `last`; where
    it is `inside`, it is neither.
    """

    atom: Atom
    at: IndexMap
    last: int
    scale: int = 1
    inside: bool = False


IndexMap = tuple[AffineIndex, ...]


@dataclass(frozen=True, slots=True)
class Elementwise:
    """One expression for each element; `cost_model.OPERATION_COST` has its cost.

    With operands of `slow` dtypes each element is computed by itself, by the C library
    or a division of 64-bit integers, and loops do not vectorise.
    Those that are `exact` give the same bits on any IEEE machine. `decompose` gives a
    program for an equation that is not computed element by element.
    """

    emit: Callable[..., str]
    slow: tuple[str, ...] = ()
    exact: bool = True
    decompose: Callable[[Eqn], ClosedJaxpr | None] | None = None


@dataclass(frozen=True, slots=True)
class View:
    """The operand's elements at other indices; None where those are not linear.

    If it `reorders` them, reading neighbours is reading far apart.
    """

    read: Callable[[Eqn, IndexMap], IndexMap | None]
    reorders: bool = False


@dataclass(frozen=True, slots=True)
class IndexGenerator:
    """Elements made from the index along one dimension."""

    dimension: Callable[[Eqn], int]
    emit: Callable[..., str]


@dataclass(frozen=True, slots=True)
class Reduce:
    """A fold over dimensions with one or more accumulators, by dtype of the elements.

    `update` gives the accumulators' new values from the old ones, the element and,
    where `positions`, its index; `fold` names the function that joins accumulators.
    The new values of a search are chosen by `better`, which `test` computes. Processors
    compute another `program` where it gives one.
    """

    accumulators: Callable[[str], tuple[str, ...]]
    initial: Callable[[str], tuple[str, ...]]
    update: Callable[[ExpressionContext, tuple[str, ...], str, str], tuple[str, ...]]
    fold: str
    test: Callable[[ExpressionContext, tuple[str, ...], str], str] | None = None
    program: Callable[[Eqn], ClosedJaxpr | None] | None = None

    @property
    def positions(self) -> bool:
        """True if the reduction needs the elements' indices."""
        return self.test is not None


@dataclass(frozen=True, slots=True)
class PrefixScan:
    """A prefix scan along the param `axis`: a fold with its prefix at each element.

    `reduction` is the primitive that folds whole lines in the same way. Without one it
    is the entry's own name, and `fold` folds. Processors compute another `program` if
    there is one: a fold that is expensive is no vector along a line.
    """

    reduction: str
    fold: Reduce | None = None
    program: Callable[[Eqn], ClosedJaxpr] | None = None


@dataclass(frozen=True, slots=True)
class Concat:
    """Operands side by side: where each one starts, as a map into the result.

    `read` gives the operand's own indices for some of the result, and the one of them
    that says where it is this operand that is read; None where it never is. If they are
    `mixed`, one nest stores all operands, element beside element. Processors compute
    another `program` where it gives one.
    """

    place: Callable[[Eqn, int], IndexMap]
    read: Callable[[Eqn, int, IndexMap], tuple[IndexMap, AffineIndex] | None]
    mixed: Callable[[Eqn], bool] = lambda eqn: False
    program: Callable[[Eqn], ClosedJaxpr | None] | None = None


@dataclass(frozen=True, slots=True)
class Gather:
    """The first operand's elements at places that the others give.

    `read` says where; for elements of which a place in `guarded` is outside of what it
    is found in, there is `fill` instead.
    """

    read: Callable[[Eqn, IndexMap], IndexMap]
    guarded: Callable[[Eqn, IndexMap], tuple[DynamicIndex, ...]]
    fill: Callable[[Eqn], Literal | None]


@dataclass(frozen=True, slots=True)
class Scatter:
    """The first operand with elements of another at places that the rest give.

    The loops are over what is put, the operand of number `value`, whose dimensions run
    in the `order` given. Its elements go where `place` says, one after the other where
    that may be the same place for several (`ordered`); those of which a place in
    `guarded` is outside are left out. `combine` is the scalar primitive that joins what
    was there and what comes; without one the last that comes stays. Of operands without
    dimensions there is the program `scalar`.
    """

    updates_operand: int
    order: Callable[[Eqn], tuple[int, ...]]
    place: Callable[[Eqn], IndexMap]
    guarded: Callable[[Eqn], tuple[DynamicIndex, ...]]
    ordered: Callable[[Eqn], bool]
    scalar: Callable[[Eqn], ClosedJaxpr]
    combine: str | None = None

    def updates(self, eqn: Eqn) -> Atom:
        """The operand that is put."""
        return eqn.inputs[self.updates_operand]


@dataclass(frozen=True, slots=True)
class Matmul:
    """A product of stacks of matrices: a call on whole arrays, where it is large.

    One that is strided has a third operand, which says where elements of the others
    lie, and the param `sizes`; it is always a call.
    """


@dataclass(frozen=True, slots=True)
class ReferenceCall:
    """A library's function of whole arrays: the reference's kernel, between kernels.

    The bits are the reference's, but for what code of our own computes: factorizations
    of small matrices and large Fourier transforms (`backend.own_kernel`). A loop or a
    choice with one in it is driven from Python, by `lowering.host_partition`. A kernel
    that `selects` has a param `read`: which of its results are read.
    """

    selects: bool = False


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The same by other primitives, as a program of the equation's operands.

    For processors `strided` may give another one, which has strided products.
    """

    program: Callable[[Eqn], ClosedJaxpr]
    strided: Callable[[Eqn], ClosedJaxpr | None] | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """Control flow: `read` gives an equation's flow, `write` the params of a flow."""

    read: Callable[[Eqn], Any]
    write: Callable[[Eqn, Any], Params]

    def rewritten(self, eqn: Eqn, flow: Any, outputs: tuple[Var, ...]) -> Eqn:
        """An equation with another flow, and other results."""
        params = self.write(eqn, flow)
        return replace(eqn, inputs=flow.operands, outputs=outputs, params=params)


@dataclass(frozen=True, slots=True)
class PairRule:
    """The entry of a primitive of values of two numbers, whose rule is in `pairs`."""


@dataclass(frozen=True, slots=True)
class HostCallback:
    """A call of the host, which is between kernels and in none."""


@dataclass(frozen=True, slots=True)
class ForeignCall:
    """A function of another library's on single numbers, which machine code calls."""


EmitterKind = (
    HostCallback
    | ForeignCall
    | PairRule
    | Elementwise
    | View
    | IndexGenerator
    | Reduce
    | PrefixScan
    | Concat
    | Gather
    | Scatter
    | Matmul
    | ReferenceCall
    | Decomposition
    | Region
)

EMITTERS: dict[str, EmitterKind] = {}


def register(name: str, entry: EmitterKind) -> None:
    """Give a primitive its entry; each has one."""
    assert name not in EMITTERS, name
    EMITTERS[name] = entry


def reduce_of(primitive: str) -> Reduce:
    """The reduction of a primitive."""
    entry = EMITTERS[primitive]
    if isinstance(entry, PrefixScan) and entry.fold is not None:
        return entry.fold
    assert isinstance(entry, Reduce)
    return entry


Emit = TypeVar("Emit", bound=Callable[..., str])


def emitter(
    name: str, slow: tuple[str, ...] = (), exact: bool = True
) -> Callable[[Emit], Emit]:
    """Register a function as the scalar expression of a primitive."""

    def decorate(emit: Emit) -> Emit:
        register(name, Elementwise(emit, slow, exact))
        return emit

    return decorate


def called(*names: str, exact: bool = True) -> None:
    """Primitives that are calls: of a function of the same name, one for each dtype."""

    def entry(name: str) -> Elementwise:
        def emit(e: ExpressionContext, *operands: str) -> str:
            return e.call(f"{name}_{short(e.dtype)}", *operands)

        return Elementwise(emit, exact=exact)

    for name in names:
        register(name, entry(name))
