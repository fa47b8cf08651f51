"""Analysis of a program for keys that it uses twice. Serves: random.reuse

The row of a primitive says what it makes of the keys among its operands (its column
`keys`); primitives with programs in their params are in `REGIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.dtypes import is_key
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Params
from traceir.ir.located import located
from traceir.reference.interpreter import evaluate_eqn
from traceir.sanitize.key_reuse.held import (
    HeldKeys,
    KeyRoot,
    KeyUse,
    KeyUses,
    ResultKeys,
)

Keys = HeldKeys | None
Operands = Sequence[Keys]
Results = list[Keys]
Values = Sequence[np.ndarray | None]
# From the params and operands of a region to its results.
Region = Callable[["Reading", dict[str, Any], Operands, str], Results]
REGIONS: dict[str, Region] = {}


class Reading:
    """The knowledge of keys at one point of a program: of constants, those spent.

    `held_by` gives the keys of an array.
    """

    def __init__(self, held_by: Callable[[np.ndarray], HeldKeys]) -> None:
        self._held_by = held_by
        self.arrays: dict[int, tuple[np.ndarray, HeldKeys]] = {}

    def array(self, array: np.ndarray) -> HeldKeys:
        """The keys of an array, one object for all."""
        found = self.arrays.get(id(array))
        if found is None:
            found = self.arrays[id(array)] = array, self._held_by(array)
        return found[1]

    def step(
        self,
        primitive: str,
        params: Params,
        operands: Operands,
        values: Values,
        outs: Sequence[ShapedArray],
        line: str,
    ) -> Results:
        """Apply a primitive to keys; `values` are those operands that are known.

        Raises KeyReuseError (random.reuse) for keys that have been used.
        """
        if primitive in REGIONS:
            return REGIONS[primitive](self, dict(params), operands, line)
        how = rules.default().prims[primitive].keys
        first = operands[0] if operands else None
        passed: Results = []
        match how:
            case "passed" | "parted" if first is not None:
                part = first.at(
                    _places(primitive, params, first, values), outs[0].shape
                )
                if how == "parted":
                    part.use(primitive, line)
                else:
                    passed = [part]
                _use(primitive, line, operands[1:])
            case "used":
                _use(primitive, line, operands)
        fresh = [HeldKeys.new(a.shape) if is_key(a.dtype) else None for a in outs]
        return passed + fresh[len(passed) :]

    def call(self, closed: ClosedJaxpr, operands: Operands, line: str = "") -> Results:
        """Apply a program: at a line, or each use at its own."""
        name, uses = closed.jaxpr.debug_name, uses_of(closed)
        for held, use in zip(operands, uses.inputs, strict=True):
            if held is not None and use is not None:
                held.use(name, line or use.line, use.mask)
        for array, use in uses.consts:
            self.array(array).use(name, line or use.line, use.mask)
        return [None if out is None else result(out, operands) for out in uses.outputs]


def result(out: ResultKeys, operands: Operands) -> HeldKeys:
    """The keys of a program's result."""
    source = None if out.input is None else operands[out.input]
    if source is not None:
        return source.at(out.places, out.spent.shape)
    return HeldKeys.all_of(KeyRoot(out.spent.copy(), out.line))


def _use(primitive: str, line: str, operands: Operands) -> None:
    for held in operands:
        if held is not None:
            held.use(primitive, line)


def _places(
    primitive: str, params: Params, first: HeldKeys, values: Values
) -> np.ndarray | None:
    """The positions of a result's elements in the first operand: the primitive moves
    their numbers. None if that depends on operands that are not known.
    """
    if any(v is None for v in values[1:]):
        return None
    numbers = np.arange(int(np.prod(first.shape))).reshape(first.shape)
    others = [np.full(v.shape, -1) if is_key(v.dtype) else v for v in _known(values)]
    return evaluate_eqn(primitive, params, [numbers, *others])[0]


def _known(values: Values) -> list[np.ndarray]:
    return [v for v in values[1:] if v is not None]


def uses_of(closed: ClosedJaxpr) -> KeyUses:
    """The key uses of a program; kept with the program.

    Raises KeyReuseError (random.reuse) if it uses one twice.

    >>> from traceir.text import parse
    >>> text = "{ lambda ; a:key<fry>[]. let b:u32[] = random_bits[bit_width=32 "
    >>> text += "shape=()] a in (b,) }"
    >>> uses_of(parse(text)).inputs
    (KeyUse(mask=array(True), line=''),)
    """
    return closed.memo("keys", lambda: _read(located(closed)))


def _read(closed: ClosedJaxpr) -> KeyUses:
    """Read a program equation by equation for the keys that it uses."""
    jaxpr, reading = closed.jaxpr, Reading(lambda array: HeldKeys.new(array.shape))
    known: dict[Atom, Keys] = {}
    for var, array in zip(jaxpr.constvars, closed.consts, strict=True):
        known[var] = reading.array(array) if is_key(var.aval.dtype) else None
    inputs = [_new(a) for a in jaxpr.in_avals]
    known.update(zip(jaxpr.invars, inputs, strict=True))
    for eqn in jaxpr.eqns:
        operands = [known.get(a) for a in eqn.inputs]
        values = [None] * len(operands)
        outs = [v.aval for v in eqn.outputs]
        line = str(eqn.source) if eqn.source else ""
        found = reading.step(eqn.primitive, eqn.pairs, operands, values, outs, line)
        known.update(zip(eqn.outputs, found, strict=True))
    consts = ((a, _used(held.root)) for a, held in reading.arrays.values())
    return KeyUses(
        tuple(None if held is None else _used(held.root) for held in inputs),
        tuple((a, use) for a, use in consts if use is not None),
        tuple(_out(known.get(a), inputs) for a in jaxpr.outvars),
    )


def _new(aval: ShapedArray) -> Keys:
    return HeldKeys.new(aval.shape) if is_key(aval.dtype) else None


def _used(root: KeyRoot) -> KeyUse | None:
    return KeyUse(root.spent.copy(), root.line) if root.spent.any() else None


def _out(held: Keys, inputs: Operands) -> ResultKeys | None:
    if held is None:
        return None
    roots = [None if one is None else one.root for one in inputs]
    from_input = roots.index(held.root) if held.root in roots else None
    return ResultKeys(held.spent, held.root.line, from_input, held.places)
