"""Numbers of few bits: stored as bits, computed with in float32 or int8.

A program with float16 or bfloat16 in it becomes one with uint16 and float32, and one
with narrower dtypes one with uint8, and float32 or int8. Primitives
that only move elements move bits. An equation that computes reads its operands as
wide numbers, and its results are rounded to the dtype at once, ties to even: float32
has more than twice the digits, so that a sum, product, quotient or root is the one that
is rounded once. Of integers the lowest bits are kept.

Serves: accuracy.rounded, accuracy.int-wrap
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import (
    NARROW,
    NARROW_INTEGERS,
    as_dtype,
    bits_of,
    finfo,
    iinfo,
    kind_of,
)
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
from traceir.reference.kernels.elementwise.widening import COUNTED, EXTREMES
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.decompositions import params_of
from traceir_numba.emitters.formats import between_widths
from traceir_numba.emitters.kinds import Concat, Decomposition, Region, View
from traceir_numba.emitters.narrow_bits import wide_of
from traceir_numba.lowering.pair_types import atoms_in
from traceir_numba.runtime.allocator import bits_dtype, narrow_of

SINGLE, DOUBLE = map(np.dtype, ("float32", "float64"))
WIDE = np.dtype("int8")
# Operands that are places, of what moves elements.
PLACES = {
    "select_n": slice(1),
    "gather": slice(1, None),
    "dynamic_slice": slice(1, None),
    "dynamic_update_slice": slice(2, None),
}
# Besides entries that are views and parts: what has an operation on the bits.
MOVES = frozenset({"select_n", "bitcast_convert_type"})
# What takes the bits, and has to know of which dtype they are.
NAMED = frozenset({"nextafter", "random_gamma", "reduce_precision"})
# Integers that float32 has all of; int64 goes to bfloat16 by itself.
SMALL = frozenset(map(np.dtype, ("bool", "int8", "int16", "uint8", "uint16")))


def limits_of(narrow: str) -> tuple[float, float]:
    """The ends of a narrow dtype's range, infinities if it has them."""
    if narrow in NARROW_INTEGERS:
        return int(iinfo(narrow).min), int(iinfo(narrow).max)
    infinite = np.isinf(np.array(np.inf).astype(as_dtype(narrow)).astype(SINGLE))
    most = float("inf") if infinite else float(finfo(narrow).max)
    return -most if infinite else float(finfo(narrow).min), most


def _parts(eqn: Eqn) -> ClosedJaxpr | None:
    """The program of a bitcast between dtypes of which one has less than a byte."""
    if eqn.primitive != "bitcast_convert_type":
        return None
    few = min(bits_of(a.aval.dtype) for a in (*eqn.inputs, *eqn.outputs)) < 8
    return between_widths(eqn) if few else None


@dataclass(frozen=True, slots=True)
class NarrowLowering:
    """A program without halves; `names` has the variable that each of its stands for,
    `views` the dtypes of results that are halves, by position."""

    closed: ClosedJaxpr
    names: dict[Var, Var]
    views: tuple[tuple[int, str], ...]


def lower_narrow(closed: ClosedJaxpr) -> NarrowLowering:
    """The same program without dtypes of 16 bits; its inputs and results are bits."""
    outs = enumerate(closed.jaxpr.outvars)
    views = tuple((k, half) for k, v in outs if (half := narrow_of(v.aval.dtype)))
    if not _has_narrow(closed.jaxpr):
        return NarrowLowering(closed, {}, views)
    names: dict[Var, Var] = {}
    return NarrowLowering(_lowered(closed, names), names, views)


def _has_narrow(jaxpr: Jaxpr) -> bool:
    return any(narrow_of(a.aval.dtype) for a in atoms_in(jaxpr))


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
    narrow = narrow_of(array.dtype)
    return array.view(bits_dtype(narrow)) if narrow else array


@dataclass(slots=True)
class _Lower:
    """Rewrites the equations of one program."""

    names: dict[Var, Var]
    eqns: list[Eqn] = field(default_factory=list)
    stored: dict[Var, Var] = field(default_factory=dict)  # narrow numbers as bits
    read: dict[Var, Var] = field(default_factory=dict)  # and as wide ones

    def define(self, var: Var) -> Var:
        """The variable of a value's bits; of another value itself."""
        narrow = narrow_of(var.aval.dtype)
        if not narrow:
            return var
        self.stored[var] = made = Var(var.aval.update(dtype=bits_dtype(narrow)))
        self.names[made] = var
        return made

    def bits(self, atom: Atom) -> Atom:
        """An operand as its bits."""
        if isinstance(atom, Var):
            return self.stored.get(atom, atom)
        narrow = narrow_of(atom.aval.dtype)
        if not narrow:
            return atom
        bits = bits_dtype(narrow)
        return Literal(int(atom.array.view(bits)), atom.aval.update(dtype=bits))

    def wide(self, atom: Atom, eqn: Eqn) -> Atom:
        """An operand as a number of its wide dtype."""
        half = narrow_of(atom.aval.dtype)
        if not half:
            return atom
        aval = atom.aval.update(dtype=wide_of(half))
        if isinstance(atom, Literal):
            return Literal(atom.array.astype(aval.dtype)[()], aval)
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
        if not any(narrow_of(a.aval.dtype) for a in (*eqn.inputs, *eqn.outputs)):
            self.eqns.append(replace(eqn, params=self.inner(eqn)))
            return
        programs = any(subjaxprs(eqn)) and isinstance(entry, Region | Decomposition)
        if eqn.primitive in COUNTED:
            self.counted(eqn)
        elif (parts := _parts(eqn)) is not None:
            self.parted(eqn, parts)
        elif programs or isinstance(entry, View | Concat) or eqn.primitive in MOVES:
            self.moved(eqn)
        elif eqn.primitive in NAMED:
            half = narrow_of(eqn.outputs[0].aval.dtype)
            self.moved(replace(eqn, params=(("half", half), *eqn.params)))
        elif eqn.primitive == "convert_element_type":
            self.converted(eqn)
        else:
            self.computed(eqn)

    def inner(
        self, eqn: Eqn, dtype: Callable[[str], np.dtype | str] = bits_dtype
    ) -> Any:
        """The params, with programs rewritten and other dtypes for narrow ones."""

        def value(one: Any) -> Any:
            if isinstance(one, ClosedJaxpr):
                return _lowered(one, self.names) if _has_narrow(one.jaxpr) else one
            if isinstance(one, tuple) and type(one) is tuple:
                return tuple(map(value, one))
            narrow = narrow_of(one)
            return np.dtype(dtype(narrow)) if narrow else one

        return tuple((name, value(one)) for name, one in eqn.params)

    def moved(self, eqn: Eqn) -> None:
        """The same equation of bits."""
        inputs, outputs = [*map(self.bits, eqn.inputs)], map(self.define, eqn.outputs)
        if places := PLACES.get(eqn.primitive):
            inputs[places] = [self.wide(a, eqn) for a in eqn.inputs[places]]
        changed = replace(eqn, inputs=tuple(inputs), outputs=tuple(outputs))
        self.eqns.append(replace(changed, params=self.inner(eqn)))

    def converted(self, eqn: Eqn) -> None:
        """A conversion, in as many steps as it takes to round once."""
        (x,), (out,) = eqn.inputs, eqn.outputs
        half, dtype = narrow_of(out.aval.dtype), x.aval.dtype
        if not half:
            self.eqns.append(replace(eqn, inputs=(self.wide(x, eqn),)))
        elif half == narrow_of(dtype):
            self.moved(eqn)
        else:
            source = self.wide(x, eqn)
            through = self.through(source.aval.dtype, half)
            if through is not None:
                wide = Var(x.aval.update(dtype=through))
                params = {**dict(eqn.params), "new_dtype": through, "weak_type": False}
                wider = replace(eqn, inputs=(source,), outputs=(wide,))
                self.eqns.append(replace(wider, params=sort_params(params)))
                source = wide
            if half in NARROW_INTEGERS and kind_of(dtype) == "f":
                source = self.clamped(source, half, eqn)
            self.convert(source, self.define(out), half, eqn)

    def clamped(self, source: Atom, half: str, eqn: Eqn) -> Atom:
        """A wide number that is no further than the ends of a narrow dtype."""
        ends = limits_of(half)
        aval = source.aval.update(shape=())
        low, high = (Literal(aval.dtype.type(end), aval) for end in ends)
        found = Var(source.aval)
        made = Eqn("clamp", (low, source, high), (found,), (), source=eqn.source)
        self.eqns.append(made)
        return found

    def counted(self, eqn: Eqn) -> None:
        """An equation about the bits of integers, of which there are a few."""
        (out,) = eqn.outputs
        half = narrow_of(out.aval.dtype)
        bits = int(iinfo(half).bits)
        inputs = [Var(a.aval.update(dtype=WIDE)) for a in eqn.inputs]
        for var, atom, sign in zip(inputs, eqn.inputs, COUNTED[eqn.primitive]):
            self.convert(self.bits(atom), var, f"{sign}{bits}", eqn)
        found = Var(out.aval.update(dtype=WIDE))
        self.eqns.append(replace(eqn, inputs=tuple(inputs), outputs=(found,)))
        if eqn.primitive == "clz":
            all_of_them = found
            less = Literal(np.int8(8 - bits), found.aval.update(shape=()))
            found = Var(found.aval)
            made = Eqn("sub", (all_of_them, less), (found,), (), source=eqn.source)
            self.eqns.append(made)
        self.convert(found, self.define(out), half, eqn)

    def parted(self, eqn: Eqn, program: ClosedJaxpr) -> None:
        """A bitcast that is several equations, since one dtype has less than a byte."""
        inner = program.jaxpr
        atoms: dict[Atom, Atom] = dict(zip(inner.invars, eqn.inputs))
        results = dict(zip(inner.outvars, eqn.outputs))
        for one in inner.eqns:
            inputs = tuple(atoms.get(a, a) for a in one.inputs)
            outputs = tuple(results.get(v, v) for v in one.outputs)
            self.add(replace(one, inputs=inputs, outputs=outputs))

    @staticmethod
    def through(dtype: np.dtype, half: str) -> np.dtype | None:
        """The dtype that an integer becomes first. Those that are more than float16 can
        hold stay so in float32."""
        if half in NARROW_INTEGERS:
            return np.dtype(wide_of(half))
        if dtype.kind not in "biu":
            return None
        if dtype in SMALL or half == "float16":
            return SINGLE
        return DOUBLE if dtype.itemsize == 4 else None

    def computed(self, eqn: Eqn) -> None:
        """The same equation of wide dtypes, with its results rounded."""
        inputs = tuple(self.wide(a, eqn) for a in eqn.inputs)
        outputs, rounded = [], []
        for out in eqn.outputs:
            half = narrow_of(out.aval.dtype)
            wide = Var(out.aval.update(dtype=wide_of(half))) if half else out
            outputs.append(wide)
            if half:
                rounded.append((wide, out, half))
        params = self.inner(eqn, wide_of)
        changed = replace(eqn, inputs=inputs, outputs=tuple(outputs), params=params)
        self.eqns.append(changed)
        for wide, out, half in rounded:
            kept = eqn.primitive in EXTREMES and half in NARROW
            found = self.clamped(wide, half, eqn) if kept else wide
            self.convert(found, self.define(out), half, eqn)
