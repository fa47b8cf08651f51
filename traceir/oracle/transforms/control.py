"""Control flow on values: a loop is its steps, a choice has two programs.

Serves: control.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray
from traceir.oracle.transforms.builder import Beyond
from traceir.oracle.transforms.terms import Terms
from traceir.pytrees import flatten

Fun = Callable[..., Any]
# A loop that never ends is not waited for.
FUEL = 10_000


class TermControlFlow:
    """The functions of `lax` that take functions."""

    def __init__(self, functions: Terms) -> None:
        self.functions = functions

    def terms(self, tree: Any) -> Any:
        """The same with a value for each number."""
        return flatten.map_(self.functions.as_term, tree)

    def types(self, tree: Any) -> Any:
        """The structure and the types of values."""
        found, shape = flatten.flatten(tree)
        return shape, [self.functions.aval(v) for v in found]

    def step(self, fun: Fun, carry: Any, *rest: Any) -> tuple[Any, Any]:
        """A step of a loop, which leaves the types of the carry as they are."""
        carried, row = fun(carry, *rest)
        if self.types(carried) != self.types(carry):
            raise Beyond("a carry of another type")
        return carried, row

    def scan(
        self,
        fun: Fun,
        init: Any,
        xs: Any,
        length: int | None = None,
        reverse: bool = False,
    ) -> Any:
        """Steps with the rows of arrays; the rows that they give are stacked."""
        arrays = flatten.leaves(xs)
        counts = {a.aval.shape[0] for a in arrays if a.aval.shape}
        counts |= {length} - {None}
        if len(counts) != 1 or not (count := counts.pop()):
            raise Beyond("a loop without steps, or with several numbers of them")
        carry, rows = self.terms(init), []
        for k in range(count)[:: -1 if reverse else 1]:
            row = flatten.map_(lambda x, k=k: self.row(x, k), xs)
            carry, found = self.step(fun, carry, row)
            rows.append(found)
        return carry, self.stacked(rows[:: -1 if reverse else 1])

    def fori_loop(self, lower: Any, upper: Any, fun: Fun, init: Any) -> Any:
        """Steps with the numbers of a range."""
        ends = [self.functions.known(end) for end in (lower, upper)]
        carry = self.terms(init)
        for k in range(*ends):
            number = self.functions.term_of(np.int32(k))
            carry, _ = self.step(lambda c, n=number: (fun(n, c), None), carry)
        return carry

    def while_loop(self, test: Fun, fun: Fun, init: Any) -> Any:
        """Steps as long as a condition holds that is known."""
        carry = self.terms(init)
        for _ in range(FUEL):
            going = test(carry)
            if self.functions.aval(going) != ShapedArray((), "bool"):
                raise Beyond("a condition that is no truth value")
            if not self.functions.known(going):
                return carry
            carry, _ = self.step(lambda c: (fun(c), None), carry)
        raise Beyond("a loop that does not end")

    def map(self, fun: Fun, xs: Any) -> Any:
        """The results for each row."""
        return self.scan(lambda carry, x: (carry, fun(x)), (), xs)[1]

    def cond(self, chosen: Any, then: Fun, other: Fun, *operands: Any) -> Any:
        """The results of one function or the other."""
        aval = self.functions.aval(chosen)
        dtype = aval.dtype
        if aval.shape or kind_of(dtype) not in "bfiu":
            raise Beyond("a predicate that is no number")
        if kind_of(dtype) != "b":
            zero = np.zeros((), dtype).item()
            chosen = self.functions.bind("ne", chosen, zero)
        params = {"new_dtype": np.dtype("int32"), "weak_type": False}
        index = self.functions.bind("convert_element_type", chosen, **params)
        return self.chosen(index, (other, then), operands)

    def switch(self, index: Any, branches: Sequence[Fun], *operands: Any) -> Any:
        """The results of the function of that number, of an end if there is none."""
        if self.functions.aval(index).dtype != np.dtype("int32"):
            raise Beyond("a number of another type")
        ends = 0, len(branches) - 1
        low, high = (self.functions.term_of(np.int32(end)) for end in ends)
        index = self.functions.bind("clamp", low, index, high)
        return self.chosen(index, tuple(branches), operands)

    def chosen(self, index: Any, branches: Sequence[Fun], operands: Any) -> Any:
        """The results of one of several functions."""
        given = [self.functions.as_term(v) for v in flatten.leaves(operands)]
        avals = [self.functions.aval(v) for v in given]
        traced = [self.functions.trace(b, avals) for b in branches]
        captured = list(dict.fromkeys(t for one in traced for t in one.captured))
        programs = tuple(one.closing_over(captured) for one in traced)
        if any(p.out_avals != programs[0].out_avals for p in programs):
            raise Beyond("results of other types")
        found = self.functions.bind("cond", index, *captured, *given, branches=programs)
        return traced[0].tree.unflatten(list(found))

    def row(self, value: Any, k: int) -> Any:
        """One row of an array."""
        shape = value.aval.shape
        params = {
            "start_indices": (k, *(0 for _ in shape[1:])),
            "limit_indices": (k + 1, *shape[1:]),
            "strides": None,
        }
        part = self.functions.bind("slice", value, **params)
        return self.functions.bind("squeeze", part, dimensions=(0,))

    def stacked(self, rows: Sequence[Any]) -> Any:
        """The rows of each leaf as an array."""
        leaves, tree = flatten.flatten(rows[0])
        columns = zip(*map(flatten.leaves, rows), strict=True) if leaves else ()
        bind = self.functions.bind
        return tree.unflatten([bind("stack", *c, axis=0) for c in columns])


NAMES = ("scan", "fori_loop", "while_loop", "map", "cond", "switch")
FUNCTIONS: dict[str, Fun] = {
    f"lax.{name}": getattr(TermControlFlow, name) for name in NAMES
}
