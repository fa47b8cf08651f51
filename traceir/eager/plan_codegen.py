"""Plans: Python source for a function and the types of its operands.

Serves: level.bind. A function is recorded once, on stand-ins for its arrays; what it
recorded becomes text that calls the same kernels in the same order, on memory that is
laid out in the same way, so the bits are those of the function itself.

The bodies of composites stand in place of their equations. Where a kernel does no more
than call a function of NumPy's for these types, `ufunc_shortcuts` names that one and
says whether it may raise a floating-point flag; where a whole composite comes down to
one, as a quotient of integers does unless a divisor is 0, `composite_shortcuts` does,
and keeps the equations for the other operands.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from traceir.arrays.array import Array
from traceir.base import cost_model
from traceir.base.config import Context, local
from traceir.base.generated_code import FunctionWriter, define
from traceir.eager.plan_recorder import PlanRecorder, kernel_of
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, Eqn, Jaxpr, Literal, Var
from traceir.pytrees import flatten
from traceir.reference.kernels.elementwise.ufunc_shortcuts import UfuncShortcut
from traceir.reference.result_ownership import fresh, quiet, separate
from traceir.tracing.trace import EAGER, Tracer, Unplanned, living

# Takes the operands of a call, in order, and gives its result.
Plan = Callable[..., Any]
# What an operand is: an Array, an array of NumPy's, a number for a type that is known.
OWN, FOREIGN, NUMBER = "own", "foreign", "number"
# Fields of the context that plans may differ by; where another is set there are none.
KEYED_FIELDS = frozenset(
    {
        "x64",
        "face",
        "numpy_dtype_promotion",
        "threefry_partitionable",
        "enable_custom_prng",
        "array_api",
    }
)


@functools.cache
def admits_plans(context: Context) -> bool:
    """True if these flags do not change operations.

    >>> from traceir import config
    >>> admits_plans(config.current())
    True
    >>> with config.scope("debug_nans", True):
    ...     admits_plans(config.current())
    False
    """
    usual = Context()
    return all(
        getattr(context, name) == getattr(usual, name)
        for name in Context.__slots__
        if name not in KEYED_FIELDS
    )


def plan_of(
    call: Callable[[list[Tracer]], Any],
    avals: Sequence[ShapedArray],
    kinds: Sequence[str],
) -> Plan | None:
    """A plan of `call` for operands of these types and kinds; None if it is more than
    primitives of them, or if their values are asked for.

    >>> import numpy as np, traceir.numpy as jnp
    >>> two = ShapedArray((2,), "float32")
    >>> plan_of(lambda xs: jnp.sin(xs[0]) + 1, [two], [OWN])(jnp.zeros(2))
    Array([1., 1.], dtype=float32)
    >>> plan_of(lambda xs: float(xs[0]), [two], [OWN])
    """
    if not admits_plans(local.context):
        return None
    try:
        jaxpr, constants, tree = _recorded(call, avals)
    except Exception:  # which the function itself raises, too, unless it has a value
        return None
    eqns = _live_equations(jaxpr)
    regular = not any(e.effects or e.primitive in EAGER for e in eqns)
    if not regular or len(eqns) > cost_model.PLAN_EQUATIONS:
        return None
    return _PlanWriter(jaxpr, constants, tree, kinds).plan(eqns)


def _recorded(
    call: Callable[[list[Tracer]], Any], avals: Sequence[ShapedArray]
) -> tuple[Jaxpr, list[np.ndarray], flatten.TreeDef]:
    """Trace a call without source positions: its program, constants and structure."""
    outer, local.source = local.source, None
    trace = PlanRecorder("", "jit")
    try:
        with living(trace):
            tracers: list[Tracer] = [trace.input(a, "") for a in avals]
            leaves, tree = flatten.flatten(call(tracers))
            if not leaves or any(not isinstance(v, Array) for v in leaves):
                raise Unplanned
            jaxpr = trace.close(leaves)
    finally:
        local.source = outer
    return jaxpr, [array for _, array, _ in trace.constants.values()], tree


def _live_equations(jaxpr: Jaxpr) -> list[Eqn]:
    """The equations that results depend on."""
    needed: set[Atom] = set(jaxpr.outvars)
    found = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or not needed.isdisjoint(eqn.outputs):
            needed.update(eqn.inputs)
            found.append(eqn)
    return found[::-1]


def contiguous(found: Any) -> np.ndarray:
    """The one result of a kernel, contiguous as evaluation leaves it.

    >>> contiguous([np.arange(4)[::2]])
    array([0, 2])
    """
    if type(found) is list or type(found) is tuple:
        (found,) = found
    array = np.asarray(found)
    return array if array.flags.c_contiguous else array.copy()


def _call_text(run: str, function: str, operands: Sequence[str]) -> str:
    """The text of a call, by `run` if there is one."""
    given = ", ".join([function, *operands] if run else operands)
    return f"{run or function}({given})"


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


class _PlanWriter(FunctionWriter):
    """The text of a plan while it is written, and the values of its names."""

    def __init__(
        self,
        jaxpr: Jaxpr,
        constants: Sequence[np.ndarray],
        tree: flatten.TreeDef,
        kinds: Sequence[str],
    ) -> None:
        self.jaxpr, self.tree, self.kinds = jaxpr, tree, kinds
        super().__init__(
            {
                "wrap": Array._wrap,
                "new": object.__new__,
                "Array": Array,
                "asarray": np.asarray,
                "quiet": quiet,
                "fresh": fresh,
                "separate": separate,
                "contiguous": contiguous,
            }
        )
        self.names: dict[Var, str] = {}
        self.known: dict[Var, np.ndarray] = {}
        self.made: set[Atom] = set()  # in memory of their own
        self.used: set[Atom] = set()
        for k, var in enumerate(jaxpr.invars):
            self.names[var] = f"a{k}"
        for var, value in zip(jaxpr.constvars, constants, strict=True):
            self._constant(var, value)

    def _constant(self, var: Var, value: np.ndarray) -> None:
        self.known[var] = value
        self.names[var] = self.constant(value)

    def _read(self, atom: Atom) -> str:
        if isinstance(atom, Literal):
            return self.constant(atom.array)
        self.used.add(atom)
        return self.names[atom]

    def plan(self, eqns: Sequence[Eqn]) -> Plan | None:
        """The function of a plan; None if one of several results is an operand."""
        outs, inputs = self.jaxpr.outvars, self.jaxpr.invars
        if any(v in inputs for v in outs):
            return self._identity_plan()
        todo = [(e, kernel_of(e)) for e in eqns if not self._fold(e)]
        single = len(todo) == 1 and len(outs) == 1
        silent = all(
            type(kernel) is UfuncShortcut and kernel.silent for _, kernel in todo
        )
        for eqn, kernel in todo:
            self._equation(eqn, kernel, "quiet().run" if single and not silent else "")
        return self._function(single or silent)

    def _identity_plan(self) -> Plan | None:
        (out, *more), inputs = self.jaxpr.outvars, self.jaxpr.invars
        k = next((k for k, var in enumerate(inputs) if var is out), None)
        if more or k is None or self.tree.kind is not None or self.kinds[k] != OWN:
            return None
        return lambda *operands: operands[k]

    def _fold(self, eqn: Eqn) -> bool:
        """Compute small values that depend on no operand now."""
        sizes = sum(v.aval.size for v in eqn.outputs)
        values = list(map(self._value, eqn.inputs))
        if sizes > cost_model.PLAN_CONSTANT_ELEMENTS or any(v is None for v in values):
            return False
        found = quiet().run(kernel_of(eqn), *values)
        several = found if isinstance(found, (list, tuple)) else [found]
        for var, value in zip(eqn.outputs, several, strict=True):
            self._constant(var, contiguous(value).copy())
        return True

    def _value(self, atom: Atom) -> np.ndarray | None:
        return atom.array if isinstance(atom, Literal) else self.known.get(atom)

    def _equation(self, eqn: Eqn, kernel: Callable[..., Any], run: str) -> None:
        """Write the lines of an equation: a kernel's call, or its shortcut."""
        operands = [self._read(a) for a in eqn.inputs]
        for var in eqn.outputs:
            self.names[var] = f"v{len(self.names)}"
        results = [self.names[v] for v in eqn.outputs]
        if type(kernel) is UfuncShortcut:
            text = self._shortcut_text(kernel, operands, run)
            if kernel.view and eqn.inputs[0] in self.made:
                # Nobody may write to what is behind a result that is a view of it.
                self.add(f"{operands[0]}.setflags(False)")
        else:
            text = _call_text(run, self.constant(kernel, "k"), operands)
        # Memory of its own is laid out as the operands, and those of others may be
        # laid out, and change, as they like.
        if type(kernel) is UfuncShortcut and FOREIGN not in self.kinds:
            self.made.update(eqn.outputs)
            known = kernel.view or eqn.outputs[0].aval.shape
            self.add(f"{results[0]} = {text if known else f'asarray({text})'}")
        elif len(results) == 1:
            self.add(f"{results[0]} = contiguous({text})")
        else:
            self.add(f"{', '.join(results)} = map(contiguous, {text})")

    def _shortcut_text(
        self, shortcut: UfuncShortcut, operands: Sequence[str], run: str
    ) -> str:
        order = range(len(operands)) if shortcut.order is None else shortcut.order
        given = [operands[k] for k in order]
        if shortcut.packed:
            given = [f"({', '.join(given)},)"]
        rest = [self.constant(value, "r") for value in shortcut.rest]
        return _call_text(run, self.constant(shortcut.function, "k"), [*given, *rest])

    def _function(self, at_once: bool) -> Plan:
        """The text as a function, which runs quietly unless it is one call."""
        everything = range(len(self.jaxpr.invars))
        places = [k for k in everything if self.jaxpr.invars[k] in self.used]
        inputs = [f"a{k}" for k in places]
        head = f"def plan({', '.join(f'x{k}' for k in everything)}):"
        taken = _indented(map(self._unwrapped, places))
        body = _indented([*self.lines, *self._results(inputs)])
        if at_once or not self.lines:
            lines = [head, *taken, *body]
        else:
            call = f"    return quiet().run({', '.join(['run', *inputs])})"
            lines = [f"def run({', '.join(inputs)}):", *body, head, *taken, call]
        return define("plan", lines, self.scope, "plan")

    def _unwrapped(self, k: int) -> str:
        """The array of NumPy's of an operand."""
        if self.kinds[k] == OWN:
            return f"a{k} = x{k}._value"
        dtype = self.constant(self.jaxpr.invars[k].aval.dtype, "d")
        return f"a{k} = asarray(x{k}, {dtype})"

    def _results(self, inputs: Sequence[str]) -> Iterator[str]:
        """The result, in memory of its own."""
        outs = self.jaxpr.outvars
        avals = self.constant([v.aval for v in outs], "t")
        names = [self._read(v) for v in outs]
        given = [*inputs, *map(self._read, self.known)]
        if self.tree.kind is not None:
            rebuilt = self.constant(self.tree.unflatten, "u")
            fixed = [n for n, v in zip(names, outs, strict=True) if self._is_fixed(v)]
            alone = f"separate([{', '.join(names)}], [{', '.join([*given, *fixed])}])"
            yield f"return {rebuilt}(list(map(wrap, {alone}, {avals})))"
            return
        (name,), (out,) = names, outs
        aval = self.constant(out.aval, "t")
        if self._is_fixed(out):
            name = f"{name}.copy()"
        elif out not in self.made:
            tests = [f"{name}.base is not None", *[f"{name} is {g}" for g in given]]
            yield f"if {' or '.join(tests)}:"
            yield f"    {name} = fresh({name}, ({', '.join([*given, ''])}))"
        # As `Array._wrap`, whose call would cost as much again.
        yield f"v = {name}"
        yield "v.setflags(False)"
        yield "made = new(Array)"
        yield "made._value = v"
        yield f"made.aval = {aval}"
        yield "return made"

    def _is_fixed(self, atom: Atom) -> bool:
        return isinstance(atom, Literal) or atom in self.known
