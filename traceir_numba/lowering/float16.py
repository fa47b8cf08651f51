"""16-bit floating numbers: stored as bits, computed with in float32.

A program with float16 or bfloat16 in it becomes one with uint16 and float32. Primitives
that only move elements move bits. An equation that computes reads its operands as
float32, and its results are rounded to the dtype at once, ties to even: float32 has
more than twice the digits, so that a sum, product, quotient or root is the one that is
rounded once.

Serves: accuracy.rounded
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    sort_params,
    subjaxprs,
)
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.decompositions import params_of
from traceir_numba.emitters.kinds import Concat, Decomposition, Region, View
from traceir_numba.lowering.pair_types import atoms_in
from traceir_numba.runtime.allocator import BITS, float16_of

FLOAT16_DTYPES = ("float16", "bfloat16")
SINGLE, DOUBLE = map(np.dtype, ("float32", "float64"))
# Besides entries that are views and parts: what has an operation on the bits.
MOVES = frozenset({"select_n", "bitcast_convert_type"})
# What takes the bits, and has to know of which dtype they are.
NAMED = frozenset({"nextafter", "random_gamma", "reduce_precision"})
# Integers that float32 has all of; int64 goes to bfloat16 by itself.
SMALL = frozenset(map(np.dtype, ("bool", "int8", "int16", "uint8", "uint16")))


@dataclass(frozen=True, slots=True)
class Float16Lowering:
    """A program without halves; `names` has the variable that each of its stands for,
    `views` the dtypes of results that are halves, by position."""

    closed: ClosedJaxpr
    names: dict[Var, Var]
    views: tuple[tuple[int, str], ...]


def lower_float16(closed: ClosedJaxpr) -> Float16Lowering:
    """The same program without dtypes of 16 bits; its inputs and results are bits."""
    outs = enumerate(closed.jaxpr.outvars)
    views = tuple((k, half) for k, v in outs if (half := float16_of(v.aval.dtype)))
    if not _has_float16(closed.jaxpr):
        return Float16Lowering(closed, {}, views)
    names: dict[Var, Var] = {}
    return Float16Lowering(_lowered(closed, names), names, views)


def _has_float16(jaxpr: Jaxpr) -> bool:
    return any(float16_of(a.aval.dtype) for a in atoms_in(jaxpr))


def _lowered(closed: ClosedJaxpr, names: dict[Var, Var]) -> ClosedJaxpr:
    lower = _Lower(names)
    jaxpr = closed.jaxpr
    constvars = tuple(map(lower.define, jaxpr.constvars))
    invars = tuple(map(lower.define, jaxpr.invars))
    for eqn in jaxpr.eqns:
        lower.add(eqn)
    outs = tuple(map(lower.bits, jaxpr.outvars))
    made = Jaxpr(constvars, invars, tuple(lower.eqns), outs, jaxpr.debug_name)
    return ClosedJaxpr(made, tuple(map(_as_bits, closed.consts)), closed.backend)


def _as_bits(value: Any) -> np.ndarray:
    array = np.asarray(value)
    return array.view(BITS) if float16_of(array.dtype) else array


@dataclass(slots=True)
class _Lower:
    """Rewrites the equations of one program."""

    names: dict[Var, Var]
    eqns: list[Eqn] = field(default_factory=list)
    stored: dict[Var, Var] = field(default_factory=dict)  # halves as their bits
    read: dict[Var, Var] = field(default_factory=dict)  # and as float32

    def define(self, var: Var) -> Var:
        """The variable of a value's bits; of another value itself."""
        if not float16_of(var.aval.dtype):
            return var
        self.stored[var] = made = Var(var.aval.update(dtype=BITS))
        self.names[made] = var
        return made

    def bits(self, atom: Atom) -> Atom:
        """An operand as its bits."""
        if isinstance(atom, Var):
            return self.stored.get(atom, atom)
        if not float16_of(atom.aval.dtype):
            return atom
        return Literal(int(atom.array.view(BITS)), atom.aval.update(dtype=BITS))

    def single(self, atom: Atom, eqn: Eqn) -> Atom:
        """An operand as a number of float32."""
        half = float16_of(atom.aval.dtype)
        if not half:
            return atom
        aval = atom.aval.update(dtype=SINGLE)
        if isinstance(atom, Literal):
            return Literal(np.float32(atom.array), aval)
        if atom not in self.read:
            self.read[atom] = Var(aval)
            self.convert(self.stored[atom], self.read[atom], half, eqn)
        return self.read[atom]

    def convert(self, source: Atom, target: Var, half: str, eqn: Eqn) -> None:
        """Add the equation that reads bits or, the other way, rounds a number."""
        name = "convert_element_type"
        params = params_of(name, target.aval, {"half": half})
        made = Eqn(name, (source,), (target,), params, source=eqn.source)
        self.eqns.append(made)

    def add(self, eqn: Eqn) -> None:
        """Add the lowered form of an equation."""
        entry = EMITTERS.get(eqn.primitive)
        if isinstance(entry, Region):
            # Read now: afterwards its programs have params that are the backend's own.
            eqn = entry.rewritten(eqn, entry.read(eqn), eqn.outputs)
        if not any(float16_of(a.aval.dtype) for a in (*eqn.inputs, *eqn.outputs)):
            self.eqns.append(replace(eqn, params=self.inner(eqn)))
            return
        programs = any(subjaxprs(eqn)) and isinstance(entry, Region | Decomposition)
        if programs or isinstance(entry, View | Concat) or eqn.primitive in MOVES:
            self.moved(eqn)
        elif eqn.primitive in NAMED:
            half = float16_of(eqn.outputs[0].aval.dtype)
            self.moved(replace(eqn, params=(("half", half), *eqn.params)))
        elif eqn.primitive == "convert_element_type":
            self.converted(eqn)
        else:
            self.computed(eqn)

    def inner(self, eqn: Eqn, dtype: np.dtype = BITS) -> Any:
        """The params, with programs rewritten and another dtype for halves."""

        def value(one: Any) -> Any:
            if isinstance(one, ClosedJaxpr):
                return _lowered(one, self.names) if _has_float16(one.jaxpr) else one
            if isinstance(one, tuple) and type(one) is tuple:
                return tuple(map(value, one))
            return dtype if float16_of(one) else one

        return tuple((name, value(one)) for name, one in eqn.params)

    def moved(self, eqn: Eqn) -> None:
        """The same equation of bits."""
        inputs, outputs = map(self.bits, eqn.inputs), map(self.define, eqn.outputs)
        changed = replace(eqn, inputs=tuple(inputs), outputs=tuple(outputs))
        self.eqns.append(replace(changed, params=self.inner(eqn)))

    def converted(self, eqn: Eqn) -> None:
        """A conversion, in as many steps as it takes to round once."""
        (x,), (out,) = eqn.inputs, eqn.outputs
        half, dtype = float16_of(out.aval.dtype), x.aval.dtype
        if not half:
            single = self.single(x, eqn)
            self.eqns.append(replace(eqn, inputs=(single,)))
        elif half == float16_of(dtype):
            self.moved(eqn)
        else:
            source = self.single(x, eqn)
            through = self.through(dtype, half)
            if through is not None:
                wide = Var(x.aval.update(dtype=through))
                params = {**dict(eqn.params), "new_dtype": through, "weak_type": False}
                wider = replace(eqn, inputs=(source,), outputs=(wide,))
                self.eqns.append(replace(wider, params=sort_params(params)))
                source = wide
            self.convert(source, self.define(out), half, eqn)

    @staticmethod
    def through(dtype: np.dtype, half: str) -> np.dtype | None:
        """The dtype that an integer becomes first. Those that are more than float16 can
        hold stay so in float32."""
        if dtype.kind not in "biu":
            return None
        if dtype in SMALL or half == "float16":
            return SINGLE
        return DOUBLE if dtype.itemsize == 4 else None

    def computed(self, eqn: Eqn) -> None:
        """The same equation of float32, with its results rounded."""
        inputs = tuple(self.single(a, eqn) for a in eqn.inputs)
        outputs, rounded = [], []
        for out in eqn.outputs:
            half = float16_of(out.aval.dtype)
            wide = Var(out.aval.update(dtype=SINGLE)) if half else out
            outputs.append(wide)
            if half:
                rounded.append((wide, out, half))
        params = self.inner(eqn, SINGLE)
        changed = replace(eqn, inputs=inputs, outputs=tuple(outputs), params=params)
        self.eqns.append(changed)
        for wide, out, half in rounded:
            self.convert(wide, self.define(out), half, eqn)
