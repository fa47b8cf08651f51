"""The interpreter of programs, and the "reference" backend made of it.

Serves: the `value` of every primitive's row, program.*, eval.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from traceir import rules
from traceir.dtypes import OTHERS, is_added
from traceir.ir.avals import ShapedArray
from traceir.ir.effects import calls_host
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Params, Var
from traceir.ir.typecheck import infer
from traceir.reference.kernels import KERNELS, kernel
from traceir.reference.kernels.elementwise import widening
from traceir.reference.kernels.host_context import called_from_here
from traceir.reference.regions import REGIONS, Call, region
from traceir.reference.result_ownership import fresh, quiet, separate

# Sets of results whose bits follow from the operands' values in every way to compute.
ONE_RESULT = frozenset({"exact", "rounded", "program"})


@cache
def kernel_of(primitive: str) -> Callable[..., Any]:
    """The kernel of a primitive; which right result it gives, values alone decide.

    NumPy sums in another order where the memory of an operand has another, so such
    kernels are given contiguous operands.
    """
    function = KERNELS[primitive]
    if rules.default().prims[primitive].accuracy in ONE_RESULT:
        return function
    return partial(_on_contiguous, function)


def _on_contiguous(function: Callable[..., Any], *xs: np.ndarray, **params: Any) -> Any:
    return function(*(np.asarray(x, order="C") for x in xs), **params)


def evaluate_eqn(
    primitive: str, params: Params, arrays: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Apply one primitive to arrays: fresh C-contiguous results, never a warning.

    >>> import numpy as np
    >>> evaluate_eqn("div", (), [np.array([7, 5]), np.array([2, 0])])
    [array([ 3, -1])]
    """
    function = kernel_of(primitive)
    if _narrow(params, arrays):
        avals = [ShapedArray(a.shape, a.dtype) for a in arrays]
        outs = [o.dtype for o in infer(primitive, avals, params)]
        function = widening.widened(primitive, function, outs)
    results = quiet().run(_apply, function, params, arrays)
    return [fresh(r, arrays) for r in results]


def _narrow(params: Params, arrays: Sequence[np.ndarray]) -> bool:
    """True if an equation has a dtype of ml_dtypes: each array says so in no time."""
    for array in arrays:
        if array.dtype.num >= OTHERS and is_added(array.dtype):
            return True
    return bool(params) and widening.needed([value for _, value in params])


def call_of(eqn: Eqn) -> Callable[..., Any]:
    """The function that computes an equation's results: a kernel with params."""
    if eqn.primitive in REGIONS:
        return region(ARRAYS, eqn.primitive, eqn.stored())
    if rules.default().prims[eqn.primitive].host:
        return host_call(eqn)
    function = kernel_of(eqn.primitive)
    outs = [v.aval.dtype for v in eqn.outputs]
    if widening.needed([*outs, *(a.aval.dtype for a in eqn.inputs)]):
        function = widening.widened(eqn.primitive, function, outs)
    return partial(function, **dict(eqn.params)) if eqn.params else function


def _apply(
    function: Callable[..., Any], params: Params, arrays: Sequence[np.ndarray]
) -> Sequence[Any]:
    result = function(*arrays, **dict(params)) if params else function(*arrays)
    return result if isinstance(result, (tuple, list)) else (result,)


def eval_jaxpr(
    jaxpr: Jaxpr | ClosedJaxpr, consts: Sequence[Any], *args: Any
) -> list[np.ndarray]:
    """Run a program on arrays of its input types; returns fresh arrays.

    Raises TypeError (eval.arguments, eval.constants) where an argument or the value of
    a constant is missing.

    >>> from traceir.text import parse
    >>> closed = parse("{ lambda ; a:f32[2]. let b:f32[2] = neg a in (b,) }")
    >>> eval_jaxpr(closed.jaxpr, closed.consts, [1.0, 2.0])
    [array([-1., -2.], dtype=float32)]
    """
    inner = jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr
    if len(args) != len(inner.invars):
        got = f"{len(args)} arguments for {len(inner.invars)} inputs"
        raise rules.error("eval.arguments", got=got)
    pairs = zip(args, inner.in_avals, strict=True)
    arrays = [np.asarray(value, aval.dtype) for value, aval in pairs]
    for array, aval in zip(arrays, inner.in_avals, strict=True):
        if array.shape != aval.shape:
            got = f"an argument of shape {array.shape} for {aval.str_short()}"
            raise rules.error("eval.arguments", got=got)
    return list(InterpretedProgram(inner, consts).run(*arrays))


class InterpretedProgram:
    """A program made ready to run: every variable has a slot, every equation a call.

    Equations that give nothing which is used and have no effects are left out.
    """

    __slots__ = ("_start", "_inputs", "_outputs", "_calls", "_fixed", "_on_host")
    # Whether those that are left out are looked at, too.
    does_all = False

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any]) -> None:
        slots: dict[Var, int] = {}
        self._start: list[Any] = []
        self._calls: list[_Call] = []
        if len(consts) != len(jaxpr.constvars):
            got = f"{len(consts)} values for {len(jaxpr.constvars)} constants"
            raise rules.error("eval.constants", got=got)
        for var, value in zip(jaxpr.constvars, consts, strict=True):
            slots[var] = self._slot(np.asarray(value, var.aval.dtype))
        self._inputs = slice(len(self._start), len(self._start) + len(jaxpr.invars))
        for var in jaxpr.invars:
            slots[var] = self._slot(None)

        def read(atom: Var | Literal) -> int:
            return self._slot(atom.array) if isinstance(atom, Literal) else slots[atom]

        eqns = jaxpr.eqns if self.does_all else done_of(jaxpr)
        for eqn, last in zip(eqns, _last_uses(jaxpr, eqns), strict=True):
            operands = tuple(map(read, eqn.inputs))
            for var in eqn.outputs:
                slots[var] = self._slot(None)
            results = tuple(slots[v] for v in eqn.outputs)
            done = tuple(slots[v] for v in last)
            call = self.call_of(eqn)
            self._calls.append((call, operands, results, done))
        self._outputs = tuple(map(read, jaxpr.outvars))
        self._fixed = [v for v in self._start if v is not None]
        self._on_host = calls_host(jaxpr)

    def call_of(self, eqn: Eqn) -> Callable[..., Any]:
        """The function that computes an equation's results from its operands."""
        return call_of(eqn)

    def _slot(self, value: np.ndarray | None) -> int:
        self._start.append(value)
        return len(self._start) - 1

    def run(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """Fresh results for arrays of exactly the input types; never warns."""
        if self._on_host:
            with called_from_here():
                return quiet().run(self._run, arrays)
        return quiet().run(self._run, arrays)

    def _run(self, arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        return tuple(separate(self.results(*arrays), (*self._fixed, *arrays)))

    def inner(self, *arrays: np.ndarray) -> list[Any]:
        """Results that may be views of operands, as a program within another has them.

        Of the constants they are not: those are known to this program alone.
        """
        results = self.results(*arrays)
        return [fresh(r, self._fixed) for r in results] if self._fixed else results

    def results(self, *arrays: np.ndarray) -> list[Any]:
        """Results that may be views of operands, constants or one another."""
        slots = self._start.copy()
        slots[self._inputs] = arrays
        for call, operands, results, done in self._calls:
            found = call(*[slots[k] for k in operands])
            if type(found) is np.ndarray:
                slots[results[0]] = found
            elif isinstance(found, list):
                for k, value in zip(results, found, strict=True):
                    slots[k] = value
            else:
                slots[results[0]] = np.asarray(found)
            for k in done:
                slots[k] = None
        return [slots[k] for k in self._outputs]


def done_of(jaxpr: Jaxpr) -> Sequence[Eqn]:
    """The equations of a program that have effects, or a result that is used, in their
    order.

    >>> from traceir.text import parse
    >>> eqns = "b:f32[] = sin a; c:f32[] = cos a; d:f32[] = neg b"
    >>> done = done_of(parse(f"{{ lambda ; a:f32[]. let {eqns} in (c,) }}").jaxpr)
    >>> [eqn.primitive for eqn in done]
    ['cos']
    """
    used: set[Atom] = {a for a in jaxpr.outvars if isinstance(a, Var)}
    found: list[Eqn] = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or not used.isdisjoint(eqn.outputs):
            used.update(a for a in eqn.inputs if isinstance(a, Var))
            found.append(eqn)
    return jaxpr.eqns if len(found) == len(jaxpr.eqns) else found[::-1]


def _last_uses(jaxpr: Jaxpr, eqns: Sequence[Eqn]) -> list[list[Var]]:
    """The variables that are read last by each of some equations."""
    seen: set[Atom] = {*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars}
    found: list[list[Var]] = []
    for eqn in reversed(eqns):
        atoms = (*eqn.inputs, *eqn.outputs)
        variables = dict.fromkeys(a for a in atoms if isinstance(a, Var))
        found.append([v for v in variables if v not in seen])
        seen.update(found[-1])
    return found[::-1]


_Call = tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def host_call(eqn: Eqn) -> Callable[..., list[np.ndarray]]:
    """A call of the host, ready for operands; its errors name the user's line."""
    function = partial(KERNELS[eqn.primitive], **dict(eqn.params))

    def call(*xs: np.ndarray) -> list[np.ndarray]:
        try:
            found: list[np.ndarray] = function(*xs)
        except Exception as error:
            error.add_note(f"raised in `{eqn.primitive}` at {eqn.source}")
            raise
        return found

    return call


class ArrayDomain:
    """The domain of arrays, whose programs run here or where they are compiled."""

    def ready(self, closed: ClosedJaxpr) -> Call[np.ndarray]:
        """A program within another: by a backend that has compiled it."""
        return closed.memo(
            "run", lambda: InterpretedProgram(closed.jaxpr, closed.consts).inner
        )

    def known(self, value: np.ndarray) -> np.ndarray:
        """The array."""
        return value

    def lanes(self, which: np.ndarray, new: np.ndarray, old: np.ndarray) -> np.ndarray:
        """New elements and old ones."""
        return np.where(which, new, old)

    def row(self, value: np.ndarray, k: int) -> np.ndarray:
        """A view of a row."""
        return value[k, ...]

    def rows(self, length: int, aval: ShapedArray) -> np.ndarray:
        """An array that is not yet set."""
        return np.empty((length, *aval.shape), aval.dtype)

    def whole(self, rows: np.ndarray) -> np.ndarray:
        """The array."""
        return rows


ARRAYS = ArrayDomain()


def _region(name: str) -> None:
    @kernel(name)
    def run(*xs: np.ndarray, **params: Any) -> Any:
        return region(ARRAYS, name, params)(*xs)


for _name in REGIONS:
    _region(_name)


@kernel("custom_lin")
def custom_lin(*xs: np.ndarray, **params: Any) -> Any:
    """Raise TypeError (custom_vjp.forward): there is nothing to run."""
    raise rules.error("custom_vjp.forward")


# The text of a program: nothing is compiled.
DIALECTS = ("source",)


class ReferenceExecutable:
    """A program as the reference backend runs it."""

    __slots__ = ("_closed", "run")

    def __init__(self, closed: ClosedJaxpr) -> None:
        self._closed = closed
        self.run = InterpretedProgram(closed.jaxpr, closed.consts).run

    def as_text(self, form: str = "source") -> str:
        """The program's text in every form: nothing is compiled."""
        if form in ("speed", "compile"):
            count = len(self._closed.eqns)
            what = "1 equation" if count == 1 else f"{count} equations"
            return f"reference: {what}, each by NumPy; nothing is compiled"
        return str(self._closed)


def compile(closed: ClosedJaxpr, name: str) -> ReferenceExecutable:
    """Make a program ready to run by NumPy; `name` is for backends that emit code."""
    return ReferenceExecutable(closed)
