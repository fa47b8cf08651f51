"""Control flow on values: recorded with programs as params.

Where `jit` is disabled, the functions run as they are. Serves: control.*,
level.disable_jit
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray
from traceir.oracle.transforms.builder import Beyond
from traceir.oracle.transforms.recordings import FunctionProgram, Recordings
from traceir.oracle.transforms.terms import Term
from traceir.pytrees import flatten

Fun = Callable[..., Any]
# A loop that never ends is not waited for.
FUEL = 10_000


class TermControlFlow:
    """The functions of `lax` that take functions."""

    def __init__(self, functions: Recordings) -> None:
        self.functions = functions
        self.kept: dict[Hashable, FunctionProgram] = {}
        # Bodies of scans that are made of the user's functions, one for each of them.
        self.bodies: dict[tuple[str, Fun], Fun] = {}

    def eager(self, name: str) -> bool:
        """True if a function of this name is run as it is."""
        levels = self.functions.rules.levels
        return not levels.run(name, self.functions.disabled).traces

    def program(
        self, name: str, fun: Fun, avals: Sequence[ShapedArray], shape: Any = None
    ) -> FunctionProgram:
        """The program of a function of leaves, kept with it if its row says so.

        `shape` is the structure of its first argument, None for separate arguments.
        """
        if not callable(fun):
            raise self.functions.rules.error("control.callable")
        key = name, fun, tuple(avals), shape, tuple(self.functions.sizes.items())
        if key not in self.kept:

            def flat(*leaves: Any) -> Any:
                return fun(*(leaves if shape is None else shape.unflatten([*leaves])))

            made = self.functions.trace(flat, avals, name)
            if any(t.home for t in made.captured) or not self.way(name).keeps:
                return made
            self.kept[key] = made
        return self.kept[key]

    def way(self, name: str) -> Any:
        """The row of a way of running a function."""
        return self.functions.rules.levels.way(name)

    def avals(self, tree: Any) -> list[ShapedArray]:
        """The types of values."""
        return [self.functions.aval(v) for v in flatten.leaves(tree)]

    def terms(self, tree: Any) -> Any:
        """The same with a value for each number."""
        return flatten.map_(self.functions.as_term, tree)

    def loop(
        self, name: str, fun: Fun, carry: Any, rest: Sequence[Any], avals: Any
    ) -> tuple[FunctionProgram, list[Term], int]:
        """The program of a body, its first carry, and the number of carried values.

        A number in the first carry takes another dtype that the body gives it.
        """
        leaves, tree = flatten.flatten(carry)
        init = [self.functions.as_term(v) for v in leaves]
        for _ in range(len(init) + 1):
            types = [v.aval for v in init]
            _, shape = flatten.flatten((carry, *rest))
            body = self.program(name, fun, [*types, *avals], shape)
            outs = body.closed.out_avals[: len(init)]
            returned = body.tree.unflatten([*body.closed.out_avals])
            if name != "while_loop":
                if not isinstance(returned, tuple) or len(returned) != 2:
                    raise self.functions.rules.error("control.pair")
                returned = returned[0]
            if flatten.flatten(returned)[1] != tree:
                raise self.functions.rules.error("control.carry-tree")
            changed = False
            for k, (own, out) in enumerate(zip(types, outs)):
                if not {*out.vma} <= {*own.vma}:
                    init[k] = self.functions.varied(init[k], out.vma)
                    changed = True
                if (own.shape, own.dtype) == (out.shape, out.dtype):
                    continue
                if own.shape != out.shape or not own.weak_type:
                    raise self.functions.rules.error("control.carry-types")
                params = {"new_dtype": out.dtype, "weak_type": out.weak_type}
                init[k] = self.functions.bind("convert_element_type", init[k], **params)
                changed = True
            if not changed:
                if any(own.vma != out.vma for own, out in zip(types, outs)):
                    raise Beyond("a carry that varies less after a step")
                return body, init, len(init)
        raise self.functions.rules.error("control.carry-types")

    def scan(
        self,
        fun: Fun,
        init: Any,
        xs: Any,
        length: int | None = None,
        reverse: bool = False,
        name: str = "scan",
    ) -> Any:
        """Steps with the rows of arrays; the rows that they give are stacked."""
        xs = self.terms(xs)
        arrays = flatten.leaves(xs)
        counts = {a.aval.shape[0] for a in arrays if a.aval.shape}
        counts |= {length} - {None}
        if len(counts) != 1:
            raise Beyond("a loop with several numbers of steps")
        (count,) = counts
        if self.eager(name):
            return self._steps(fun, init, xs, range(count)[:: -1 if reverse else 1])
        avals = [a.aval.update(shape=a.aval.shape[1:]) for a in arrays]
        body, carry, carried = self.loop(name, fun, init, (xs,), avals)
        found = self.functions.bind(
            "scan",
            *body.captured,
            *carry,
            *arrays,
            jaxpr=body.closed,
            length=count,
            num_carry=carried,
            num_consts=len(body.captured),
            reverse=reverse,
            unroll=1,
        )
        return tuple(body.tree.unflatten(list(found)))

    def _steps(self, fun: Fun, init: Any, xs: Any, order: Sequence[int]) -> Any:
        if not order:
            raise self.functions.rules.error("control.no-steps")
        carry, rows = self.terms(init), {}
        for k in order:
            row = flatten.map_(lambda x, k=k: self.functions.row(x, k), xs)
            carry, rows[k] = fun(carry, row)
        return carry, self.stacked([rows[k] for k in sorted(rows)])

    def fori_loop(self, lower: Any, upper: Any, fun: Fun, init: Any) -> Any:
        """Steps with the numbers of a range."""
        if isinstance(lower, Term) or isinstance(upper, Term):
            return self._counted(lower, upper, fun, init)
        first = self.functions.term_of(np.int32(lower))
        if self.eager("fori_loop"):
            carry = self.terms(init)
            for k in range(lower, upper):
                carry = fun(self.functions.term_of(np.int32(k)), carry)
            return carry
        step = self.counting(fun)
        start, count = (first, init), max(upper - lower, 0)
        return self.scan(step, start, (), count, name="fori_loop")[0][1]

    def _counted(self, lower: Any, upper: Any, fun: Fun, init: Any) -> Any:
        """Steps whose number is not known when the loop is traced."""
        ends = [self.functions.as_term(end) for end in (lower, upper)]
        dtype = max((e.aval for e in ends), key=lambda a: not a.weak_type).dtype
        if self.eager("fori_loop") or any(kind_of(e.aval.dtype) != "i" for e in ends):
            raise Beyond("bounds that are no numbers")
        ends = [self.functions.converted(e, dtype) for e in ends]
        arithmetic = self.functions.arithmetic

        def test(carry: Any) -> Any:
            return self.functions.bind("lt", carry[0], carry[1])

        def step(carry: Any) -> Any:
            n, end, value = carry
            return arithmetic("add", n, 1), end, fun(n, value)

        return self.while_loop(test, step, (*ends, init))[2]

    def counting(self, fun: Fun) -> Fun:
        """A body of `fori_loop` as one of `scan`: one function for each."""
        if ("counting", fun) not in self.bodies:

            def step(carry: Any, row: Any) -> Any:
                n, value = carry
                return (self.functions.arithmetic("add", n, 1), fun(n, value)), row

            self.bodies["counting", fun] = step
        return self.bodies["counting", fun]

    def while_loop(self, test: Fun, fun: Fun, init: Any) -> Any:
        """Steps as long as a condition holds."""
        if self.eager("while_loop"):
            carry = self.terms(init)
            for _ in range(FUEL):
                if not test(carry):
                    return carry
                carry = fun(carry)
            raise Beyond("a loop that does not end")
        _, shape = flatten.flatten((init,))
        going = self.program("while_loop", test, self.avals(init), shape)
        body, carry, _ = self.loop("while_loop", fun, init, (), [])
        if [v.aval for v in carry] != self.avals(init):
            going = self.program("while_loop", test, self.avals(carry), shape)
        outs = going.closed.out_avals
        if [(a.shape, a.dtype) for a in outs] != [((), np.dtype(bool))]:
            raise self.functions.rules.error("control.condition")
        if outs[0].vma:
            raise Beyond("devices that go on differently")
        found = self.functions.bind(
            "while",
            *going.captured,
            *body.captured,
            *carry,
            body_jaxpr=body.closed,
            body_nconsts=len(body.captured),
            cond_jaxpr=going.closed,
            cond_nconsts=len(going.captured),
        )
        return body.tree.unflatten(list(found))

    def map(self, fun: Fun, xs: Any) -> Any:
        """The results for each row."""
        step = self.bodies.setdefault(("map", fun), lambda carry, x: (carry, fun(x)))
        return self.scan(step, (), xs, name="map")[1]

    def cond(self, chosen: Any, then: Fun, other: Fun, *operands: Any) -> Any:
        """The results of one function or the other."""
        aval = self.functions.aval(chosen)
        dtype = aval.dtype
        if aval.shape or kind_of(dtype) not in "bfiu":
            raise Beyond("a predicate that is no number")
        if self.eager("cond"):
            return (then if chosen else other)(*self.terms(operands))
        if kind_of(dtype) != "b":
            zero = np.zeros((), dtype).item()
            chosen = self.functions.bind("ne", chosen, zero)
        params = {"new_dtype": np.dtype("int32"), "weak_type": False}
        chosen = self.functions.as_term(chosen)
        index = self.functions.bind("convert_element_type", chosen, **params)
        return self.chosen("cond", index, (other, then), operands)

    def switch(self, index: Any, branches: Sequence[Fun], *operands: Any) -> Any:
        """The results of the function of that number, of an end if there is none."""
        if self.functions.aval(index).dtype != np.dtype("int32"):
            raise Beyond("a number of another type")
        ends = 0, len(branches) - 1
        if self.eager("switch"):
            number = min(max(index.__index__(), ends[0]), ends[1])
            return branches[number](*self.terms(operands))
        low, high = (self.functions.term_of(np.int32(end)) for end in ends)
        index = self.functions.bind("clamp", low, self.functions.as_term(index), high)
        return self.chosen("switch", index, tuple(branches), operands)

    def chosen(self, name: str, index: Any, branches: Sequence[Fun], args: Any) -> Any:
        """The results of one of several functions."""
        leaves, shape = flatten.flatten(tuple(args))
        given = [self.functions.as_term(v) for v in leaves]
        avals = [self.functions.aval(v) for v in given]
        # Python runs the branch for true first.
        order = sorted(range(len(branches)), reverse=name == "cond")
        made = {k: self.program(name, branches[k], avals, shape) for k in order}
        traced = [made[k] for k in range(len(branches))]
        captured = list(dict.fromkeys(t for one in traced for t in one.captured))
        programs = tuple(one.closing_over(captured) for one in traced)
        if self.functions.aval(index).vma:
            raise Beyond("devices that choose differently")
        if any(p.out_avals != programs[0].out_avals for p in programs):
            raise Beyond("results of other types")
        found = self.functions.bind("cond", index, *captured, *given, branches=programs)
        return traced[0].tree.unflatten(list(found))

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
