"""Matrix products: small ones as sums, large ones as calls.

Serves: choice.dot-order

Small products, and those of a vector, become a sum of products, which joins the nest
around it. A large one is a call: the operands are given as strides, so that one that
lies in memory as a stack of matrices, transposed or not, is read where it lies, and
only what lies otherwise is laid out first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Var, sort_params
from traceir_numba import cost_model
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.decompositions import DecompositionBuilder
from traceir_numba.emitters.kinds import Matmul, View

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatmulSizes:
    """The extents of a product: batches, rows, summed terms, and columns."""

    batch: int
    rows: int
    inner: int
    columns: int


@dataclass(frozen=True, slots=True)
class _MatmulOperand:
    """One operand: its variable, and the order of its groups of dimensions."""

    var: Atom
    batch: Shape
    summed: Shape
    fixed: bool

    @property
    def free(self) -> Shape:
        """The dimensions that the result has of it."""
        taken = {*self.batch, *self.summed}
        return tuple(d for d in range(self.var.aval.ndim) if d not in taken)

    def size(self, dims: Shape) -> int:
        """The elements over some dimensions."""
        return prod(self.var.aval.shape[d] for d in dims)

    @property
    def sums_last(self) -> bool:
        """True if summed elements are neighbours in memory."""
        order = (*self.batch, *self.free, *self.summed)
        return self.size(self.free) == 1 or order == tuple(range(len(order)))


def product(eqn: Eqn, fixed: Container[Atom]) -> ClosedJaxpr:
    """The product as a program of the equation's operands.

    Operands that are `fixed` may be laid out anew at no cost: that is done once.
    """
    (lc, rc), (lb, rb) = eqn.param("dimension_numbers")
    build = _MatmulBuilder(eqn)
    x, y = (
        _MatmulOperand(build.converted(var), batch, summed, atom in fixed)
        for atom, var, batch, summed in zip(
            eqn.inputs, build.operands, (lb, rb), (lc, rc), strict=True
        )
    )
    sizes = MatmulSizes(x.size(x.batch), x.size(x.free), x.size(lc), y.size(y.free))
    if not is_large(sizes):
        if sizes.columns == 1:  # the result is the same with rows as columns
            x, y = y, x
            sizes = MatmulSizes(sizes.batch, 1, sizes.inner, sizes.rows)
        found = build.sums(x, y, sizes)
    else:
        found = build.call(x, y)
    return build.finish(build.reshaped(found, eqn.outputs[0].aval.shape))


def is_large(sizes: MatmulSizes) -> bool:
    """True if a product is worth a call: vectors are read once, whatever is done."""
    each = sizes.rows * sizes.inner * sizes.columns
    vectors = 1 in (sizes.rows, sizes.inner, sizes.columns)
    return (
        not vectors
        and each >= cost_model.MATMUL_WORK
        and sizes.batch * each >= cost_model.MATMUL_STACK_WORK
    )


class _MatmulBuilder(DecompositionBuilder):
    """The program of one product."""

    def laid_out(self, x: _MatmulOperand, *groups: Shape) -> Atom:
        """Groups of dimensions in that order, each as one dimension.

        Dimensions in no group have one element.
        """
        order = tuple(d for group in groups for d in group)
        order = (*(d for d in range(x.var.aval.ndim) if d not in order), *order)
        return self.reshaped(self.transposed(x.var, order), tuple(map(x.size, groups)))

    def sums(self, x: _MatmulOperand, y: _MatmulOperand, sizes: MatmulSizes) -> Var:
        """A sum of products over one nest of loops.

        Its innermost loop runs along the columns, or else along what is summed.
        """
        along = y.sums_last and not y.fixed and sizes.columns > 1
        along = along or sizes.columns == 1
        inner = ("columns", "inner") if along else ("inner", "columns")
        names = [n for n in ("batch", "rows") if getattr(sizes, n) != 1]
        names += [n for n in inner if n == "inner" or getattr(sizes, n) != 1]
        space = tuple(getattr(sizes, n) for n in names)
        groups = {"batch": x.batch, "rows": x.free, "inner": x.summed}
        left = self.spread(x, groups, names, space)
        groups = {"batch": y.batch, "inner": y.summed, "columns": y.free}
        right = self.spread(y, groups, names, space)
        axis = names.index("inner")
        kept = (*space[:axis], *space[axis + 1 :])
        found = self.bind("mul", left, right, shape=space)
        return self.bind("reduce_sum", found, shape=kept, axes=(axis,))

    def spread(
        self,
        x: _MatmulOperand,
        groups: dict[str, Shape],
        names: list[str],
        space: Shape,
    ) -> Var:
        """An operand over all loops, of which it has some."""
        own = [n for n in names if n in groups]
        var = self.laid_out(x, *(groups[n] for n in own))
        at = tuple(map(names.index, own))
        return self.bind("broadcast_in_dim", var, shape=space, broadcast_dimensions=at)

    def call(self, x: _MatmulOperand, y: _MatmulOperand) -> Var:
        """A product of two matrices, or of a stack of such pairs.

        An operand whose groups of dimensions are no matrices in memory is laid out.
        """
        ends = splits(
            len(x.batch), (x.var.aval.shape, x.batch), (y.var.aval.shape, y.batch)
        )
        own = tuple(self.matrices(operand, ends is None) for operand in (x, y))
        (a, left), (b, right) = own
        pairs = (left.summed, right.summed), (left.batch, right.batch)
        params: dict[str, Any] = {**dict(self.eqn.params), "dimension_numbers": pairs}
        kept = [(left, left.batch), (left, left.free), (right, right.free)]
        shape = tuple(o.var.aval.shape[d] for o, group in kept for d in group)
        return self.bind("dot_general", a, b, shape=shape, **params)

    def matrices(self, x: _MatmulOperand, anew: bool) -> tuple[Atom, _MatmulOperand]:
        """An operand as it is, or laid out as a stack of matrices."""
        shape = x.var.aval.shape
        if not anew and all(step(shape, g) is not None for g in (x.free, x.summed)):
            return x.var, x
        # Stacks of stacks are one of both operands, or of none.
        stacks = [x.batch] if anew else [(d,) for d in x.batch]
        # Neighbours in memory stay neighbours.
        last = x.free[-1:] > x.summed[-1:]
        sides = (x.summed, x.free) if last else (x.free, x.summed)
        groups = [g for g in (*stacks, *sides) if g]
        var = self.laid_out(x, *groups)
        batch = tuple(range(len(stacks) if x.batch else 0))
        summed = (groups.index(x.summed),)
        return var, _MatmulOperand(var, batch, summed, False)


# -- operands that are transposed -----------------------------------------------------


def fold_transposes(eqn: Eqn, producers: Mapping[Var, Eqn]) -> Eqn:
    """The same product of the operands before their transposition.

    An operand is left as it is where its other dimensions would change their order.
    """
    contracted, batches = eqn.param("dimension_numbers")
    inputs, sides = [], []
    for atom, summed, batch in zip(eqn.inputs, contracted, batches, strict=True):
        taken = {*summed, *batch}
        maker = producers.get(atom) if isinstance(atom, Var) else None
        order = _order(maker)
        if maker is not None and order is not None:
            free = [order[d] for d in range(len(order)) if d not in taken]
            if free == sorted(free):
                (atom,) = maker.inputs
                summed, batch = (tuple(order[d] for d in g) for g in (summed, batch))
        inputs.append(atom)
        sides.append((summed, batch))
    (lc, lb), (rc, rb) = sides
    params = {**dict(eqn.params), "dimension_numbers": ((lc, rc), (lb, rb))}
    return replace(eqn, inputs=tuple(inputs), params=sort_params(params))


def _order(eqn: Eqn | None) -> Shape | None:
    """The permutation, where an equation is one."""
    entry = EMITTERS[eqn.primitive] if eqn else None
    if eqn is None or not (isinstance(entry, View) and entry.reorders):
        return None
    found: Shape = eqn.param("permutation")
    return found


# -- results that are transposed ------------------------------------------------------


def swap_transposed_products(
    eqns: Sequence[Eqn], outvars: Sequence[Atom]
) -> tuple[Eqn, ...]:
    """The same equations where a product that is only transposed is the other product.

    The transpose of x y is the product of y and x with their dimensions swapped.
    """
    uses = Counter(a for e in eqns for a in set(e.inputs) if isinstance(a, Var))
    uses.update(a for a in outvars if isinstance(a, Var))
    makers = {v: e for e in eqns for v in e.outputs if _is_product(e)}
    found: dict[Var, Eqn | None] = {}
    for eqn in eqns:
        entry, x = EMITTERS.get(eqn.primitive), eqn.inputs[0] if eqn.inputs else None
        if not (isinstance(entry, View) and entry.reorders and isinstance(x, Var)):
            continue
        maker = makers.get(x)
        if (
            maker is not None
            and uses[x] == 1
            and eqn.param("permutation") == _swap(maker)
        ):
            found[x] = None
            found[eqn.outputs[0]] = _swapped(maker, eqn.outputs[0])
    kept = (found.get(e.outputs[0], e) if e.outputs else e for e in eqns)
    return tuple(e for e in kept if e is not None)


def _is_product(eqn: Eqn) -> bool:
    is_product = isinstance(EMITTERS.get(eqn.primitive), Matmul)
    return is_product and not is_strided(eqn)


def _swap(eqn: Eqn) -> Shape:
    """The order of the result's dimensions for swapped operands."""
    (lc, _), (lb, _) = eqn.param("dimension_numbers")
    batch = len(lb)
    left = eqn.inputs[0].aval.ndim - batch - len(lc)
    rank = eqn.outputs[0].aval.ndim
    return (*range(batch), *range(batch + left, rank), *range(batch, batch + left))


def _swapped(eqn: Eqn, out: Var) -> Eqn:
    (lc, rc), (lb, rb) = eqn.param("dimension_numbers")
    params = {**dict(eqn.params), "dimension_numbers": ((rc, lc), (rb, lb))}
    return replace(
        eqn, inputs=eqn.inputs[::-1], outputs=(out,), params=sort_params(params)
    )


# -- calls ----------------------------------------------------------------------------


def step(shape: Shape, dims: Shape) -> int | None:
    """The stride of some dimensions, taken as one; None if they are not.

    >>> step((2, 3, 4), (0, 1)), step((2, 3, 4), (2,)), step((2, 3, 4), (0, 2))
    (4, 1, None)
    """
    long = [d for d in dims if shape[d] != 1]
    steps = {d: prod(shape[d + 1 :]) for d in long}
    for d, after in pairwise(long):
        if steps[d] != steps[after] * shape[after]:
            return None
    return steps[long[-1]] if long else 0


def splits(count: int, *operands: tuple[Shape, Shape]) -> int | None:
    """The place where a stack's dimensions are cut in two, each part one stride; or
    None.

    >>> splits(2, ((2, 5, 3, 4), (0, 2))), splits(1, ((2, 3), (0,)))
    (1, 0)
    """
    for cut in range(count + 1):
        parts = [(s, part) for s, dims in operands for part in (dims[:cut], dims[cut:])]
        if all(step(shape, part) is not None for shape, part in parts):
            return cut
    return None


def is_call(eqn: Eqn) -> bool:
    """True if a product is as `product` leaves large ones: stacks of matrices."""
    if eqn.inputs[0].aval.dtype != eqn.outputs[0].aval.dtype:
        return False
    found = _call(eqn)
    return found is not None and is_large(found.sizes)


def is_strided(eqn: Eqn) -> bool:
    """True if a product's third operand says where elements lie."""
    return any(name == "sizes" for name, _ in eqn.params)


def call_arguments(eqn: Eqn) -> tuple[int, ...]:
    """The sizes of a call: stacks of stacks, rows, summed terms, columns; strides."""
    if is_strided(eqn):
        given: tuple[int, ...] = eqn.param("sizes")
        return given
    found = _call(eqn)
    assert found is not None
    sizes, outer = found.sizes, found.outer
    inner = (sizes.rows, sizes.inner, sizes.columns)
    return (outer, sizes.batch // max(1, outer), *inner, *found.strides)


@dataclass(frozen=True, slots=True)
class _MatmulArguments:
    """The arguments of a call: strides of the left operand, then of the right one."""

    sizes: MatmulSizes
    outer: int
    strides: tuple[int, ...]


def _call(eqn: Eqn) -> _MatmulArguments | None:
    """The arguments of a call; None if dimensions have no single stride."""
    (lc, rc), (lb, rb) = eqn.param("dimension_numbers")
    x, y = (a.aval.shape for a in eqn.inputs)
    left = tuple(d for d in range(len(x)) if d not in {*lb, *lc})
    right = tuple(d for d in range(len(y)) if d not in {*rb, *rc})
    cut = splits(len(lb), (x, lb), (y, rb))
    if cut is None:
        return None
    strides = [step(x, g) for g in (lb[:cut], lb[cut:], left, lc)]
    strides += [step(y, g) for g in (rb[:cut], rb[cut:], rc, right)]
    if None in strides:
        return None
    rows, inner, columns = (
        prod(s[d] for d in g) for s, g in ((x, left), (x, lc), (y, right))
    )
    batch, outer = (prod(x[d] for d in g) for g in (lb, lb[:cut]))
    sizes = MatmulSizes(batch, rows, inner, columns)
    return _MatmulArguments(sizes, outer, tuple(s for s in strides if s is not None))
