"""Programs run with faults tracked per element to the results. Serves: sanitize.*

Every array has a mark beside each element that a fault made. Marks go where elements
go, and a fault is an error when a marked element comes to count: as a result, a
condition, a place, an operand of anything that is not element by element. So what a
`where` leaves out is none, nor a branch or a step that another example took.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Params
from traceir.ir.located import located
from traceir.reference.interpreter import InterpretedProgram, evaluate_eqn
from traceir.reference.kernels import KERNELS
from traceir.reference.kernels.host_context import called_from_here
from traceir.reference.regions import REGIONS, Call, region
from traceir.reference.result_ownership import fresh, quiet, separate
from traceir.sanitize.fault_checks import MOVES, Fault, faults, pointwise


@dataclass(frozen=True, slots=True, eq=False)
class Tainted:
    """An array, the elements of it that a fault made, and that fault: None for none."""

    array: np.ndarray
    bad: np.ndarray | None = None
    fault: Fault | None = None

    def marks(self) -> np.ndarray:
        """The marks, one for each element."""
        if self.bad is None:
            return np.broadcast_to(np.False_, self.array.shape)
        return self.bad

    def counts(self) -> np.ndarray:
        """The array, since its elements count now; the error of a fault if one is."""
        if self.fault is not None:
            raise self.fault.error()
        return self.array


def tainted(array: np.ndarray, bad: Any, fault: Fault | None) -> Tainted:
    """An array with its marks, which are dropped where there is none."""
    if fault is None or bad is None or not bad.any():
        return Tainted(array)
    return Tainted(array, bad, fault)


class Sanitized(InterpretedProgram):
    """A program that looks for faults, equation by equation."""

    __slots__ = ()
    does_all = True

    def __init__(self, closed: ClosedJaxpr) -> None:
        super().__init__(closed.jaxpr, closed.consts)

    def call_of(self, eqn: Eqn) -> Call[Tainted]:
        """The function that computes marked results of operands, some of which may be
        marked.
        """
        where = str(eqn.source) if eqn.source else None
        if eqn.primitive in REGIONS:
            inner = region(MARKED, eqn.primitive, eqn.stored())
        else:
            inner = _operation(eqn, super().call_of(eqn), where)

        def call(*values: Any) -> list[Tainted]:
            return inner(*[v if type(v) is Tainted else Tainted(v) for v in values])

        return call

    def run(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """Fresh results; the error of the first fault that comes to count."""
        with called_from_here():
            return quiet().run(self._looked_at, arrays)

    def _looked_at(self, arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        found = [_of(value).counts() for value in self.results(*arrays)]
        return tuple(separate(found, (*self._fixed, *arrays)))


class SanitizedExecutable:
    """An executable that looks for faults; the compiled one is for its texts alone."""

    __slots__ = ("run", "_compile")

    def __init__(self, closed: ClosedJaxpr, compile: Callable[[], Any]) -> None:
        self.run = Sanitized(located(closed)).run
        self._compile = compile

    def as_text(self, form: str) -> str:
        """As the executable that runs without `sanitize`."""
        text: str = self._compile().as_text(form)
        return text


def _of(value: Any) -> Tainted:
    return value if type(value) is Tainted else Tainted(value)


def look(primitive: str, params: Params, arrays: Sequence[np.ndarray]) -> list[Any]:
    """The results of an operation that is evaluated at once; a fault is an error.

    >>> look("neg", (), [np.array([1, 2], np.int8)])
    [array([-1, -2], dtype=int8)]
    """
    if primitive in REGIONS:
        call = region(MARKED, primitive, dict(params))
        with called_from_here():
            return quiet().run(_counted_results, call, arrays)
    eqn = Eqn(primitive, (), (), params)
    kernel = partial(evaluate_eqn, primitive, params)
    call = _operation(eqn, lambda *xs: kernel(xs), None)
    return quiet().run(_counted_results, call, arrays)


def _counted_results(call: Call[Tainted], arrays: Sequence[np.ndarray]) -> list[Any]:
    values = call(*map(Tainted, arrays))
    return [fresh(_of(value).counts(), arrays) for value in values]


# Operations ---------------------------------------------------------------------------


def _operation(
    eqn: Eqn, kernel: Callable[..., Any], where: str | None
) -> Call[Tainted]:
    """An equation with a kernel: its results, their new faults and inherited ones."""
    inherit = _inheritance(eqn.primitive)

    def call(*values: Tainted) -> list[Tainted]:
        """Run the kernel; mark results by their faults and those of operands."""
        arrays = [value.array for value in values]
        old = inherit(eqn, values) if any(v.fault for v in values) else None
        found = kernel(*arrays)
        several = found if isinstance(found, (list, tuple)) else (found,)
        results = [np.asarray(one) for one in several]
        given = list(map(Tainted, results))
        if old is not None:
            pairs = zip(results, old, strict=True)
            given = [tainted(result, *inherited) for result, inherited in pairs]
        for one in faults(eqn.primitive, eqn.params, arrays, results):
            fault = Fault(one.rule, one.got, where)
            if one.bad is None:
                raise fault.error()
            before = given[one.result]
            new = one.bad | before.marks()
            given[one.result] = tainted(before.array, new, before.fault or fault)
        return given

    return call


# For each result the marks that it inherits, and their fault.
Marks = list[tuple[Any, Fault | None]]
Inherit = Callable[[Eqn, Sequence[Tainted]], Marks | None]


def _inheritance(primitive: str) -> Inherit:
    """The function that makes the marks of operands those of results."""
    if primitive == "select_n":
        return _chosen
    if MOVES.get(primitive, ()) != ():
        return _moved
    return _each if pointwise(primitive) else _counted


def _counted(eqn: Eqn, values: Sequence[Tainted]) -> None:
    for value in values:
        value.counts()


def _each(eqn: Eqn, values: Sequence[Tainted]) -> Marks:
    bad: Any = np.False_
    for value in values:
        bad = bad | value.marks()
    shape = np.broadcast_shapes(*[value.array.shape for value in values])
    return [(np.broadcast_to(bad, shape), _first(values))]


def _first(values: Sequence[Tainted]) -> Fault | None:
    return next((v.fault for v in values if v.fault is not None), None)


def _chosen(eqn: Eqn, values: Sequence[Tainted]) -> Marks:
    """Marks of the elements that are chosen, and the fault of one of them."""
    which, *cases = values
    selector = which.counts()
    bad = _applied(eqn, [selector, *[case.marks() for case in cases]])[0]
    for k, case in enumerate(cases):
        if case.fault is not None and (bad & (selector == k)).any():
            return [(bad, case.fault)]
    return [(bad, None)]


def _moved(eqn: Eqn, values: Sequence[Tainted]) -> Marks:
    """Marks that go where the elements go; places have to be good."""
    moves = MOVES[eqn.primitive]
    operands = []
    for k, value in enumerate(values):
        goes = moves is None or k in moves
        operands.append(value.marks() if goes else value.counts())
    found = _applied(eqn, operands)
    return [(bad, _first(values)) for bad in found]


def _applied(eqn: Eqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
    """A primitive that moves elements, applied to marks."""
    params = dict(eqn.params)
    if "fill_value" in params:
        params["fill_value"] = 0
    found = KERNELS[eqn.primitive](*operands, **params)
    return list(found) if isinstance(found, (list, tuple)) else [np.asarray(found)]


# Programs within programs -------------------------------------------------------------


class TaintDomain:
    """The domain of marked arrays: a predicate must not be marked."""

    def ready(self, closed: ClosedJaxpr) -> Call[Tainted]:
        """A program within another; its faults are told when they count."""
        made = closed.memo("sanitized", lambda: Sanitized(closed))
        return lambda *values: [_of(value) for value in made.results(*values)]

    def known(self, value: Tainted) -> np.ndarray:
        """The array, whose elements count."""
        return value.counts()

    def lanes(self, which: np.ndarray, new: Tainted, old: Tainted) -> Tainted:
        """New elements and old ones, each with its mark."""
        bad = np.where(which, new.marks(), old.marks())
        fault = new.fault if (bad & which).any() else old.fault
        return tainted(np.where(which, new.array, old.array), bad, fault)

    def row(self, value: Tainted, k: int) -> Tainted:
        """A row with its marks."""
        bad = None if value.bad is None else value.bad[k, ...]
        return tainted(value.array[k, ...], bad, value.fault)

    def rows(self, length: int, aval: ShapedArray) -> TaintedRows:
        """Room for rows and their marks."""
        return TaintedRows((length, *aval.shape), aval.dtype)

    def whole(self, rows: TaintedRows) -> Tainted:
        """The rows, with the fault of the first that has one."""
        first = min(rows.faults, default=None)
        fault = None if first is None else rows.faults[first]
        return tainted(rows.array, rows.bad, fault)


class TaintedRows:
    """A marked array that is made row by row; the faults by their rows."""

    __slots__ = ("array", "bad", "faults")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.array, self.bad = np.empty(shape, dtype), np.zeros(shape, bool)
        self.faults: dict[int, Fault] = {}

    def __setitem__(self, k: int, row: Tainted) -> None:
        self.array[k], self.bad[k] = row.array, row.marks()
        if row.fault is not None:
            self.faults[k] = row.fault


MARKED = TaintDomain()
