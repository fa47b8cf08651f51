"""Complex arithmetic with vectors, and transforms of a few points.

A lane is a transform of its own, so one instruction serves as many transforms.

Serves: fft.*
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from traceir_numba.fft.interface import VECTOR, lanes_of
from traceir_numba.gemm.microkernel import define
from traceir_numba.llvm.types import float_text

KINDS = {"float32": "float", "float64": "double"}
Complex = tuple[str, str]


class VectorText:
    """Lines of LLVM text that compute with vectors, each in a register of its own."""

    def __init__(self, dtype: str) -> None:
        self.lanes, self.kind = lanes_of(dtype), KINDS[dtype]
        self.vector = f"<{self.lanes} x {self.kind}>"
        self.suffix = f"v{self.lanes}f{8 * VECTOR // self.lanes}"
        self.lines: list[str] = []
        self.count = 0

    def new(self, text: str) -> str:
        """The register that an instruction defines."""
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def add(self, a: str, b: str) -> str:
        """a + b."""
        return self.new(f"fadd {self.vector} {a}, {b}")

    def subtract(self, a: str, b: str) -> str:
        """a - b."""
        return self.new(f"fsub {self.vector} {a}, {b}")

    def multiply(self, a: str, b: str) -> str:
        """a * b."""
        return self.new(f"fmul {self.vector} {a}, {b}")

    def negate(self, a: str) -> str:
        """-a."""
        return self.new(f"fneg {self.vector} {a}")

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """a * b + c, rounded once."""
        args = ", ".join(f"{self.vector} {each}" for each in (a, b, c))
        return self.new(f"call {self.vector} @llvm.fma.{self.suffix}({args})")

    def constant(self, value: float) -> str:
        """A number in every lane."""
        number = float_text(float(np.float32(value)) if self.kind == "float" else value)
        return f"splat ({self.kind} {number})"

    def splat(self, number: str) -> str:
        """A number, or a register with one, in every lane."""
        first = f"{self.vector} poison, {self.kind} {number}, i64 0"
        return self.shuffle(
            self.new(f"insertelement {first}"), "poison", [0] * self.lanes
        )

    def place(self, base: str, offset: str) -> str:
        """The address so many elements behind another."""
        return self.new(f"getelementptr {self.kind}, ptr {base}, i64 {offset}")

    def number(self, base: str, offset: str) -> str:
        """The number that lies there."""
        return self.new(f"load {self.kind}, ptr {self.place(base, offset)}")

    def integer(self, op: str, a: str | int, b: str | int) -> str:
        """An operation on integers of 64 bits."""
        return self.new(f"{op} i64 {a}, {b}")

    def load(self, at: str) -> str:
        """The vector that lies there."""
        size = VECTOR // self.lanes
        return self.new(f"load {self.vector}, ptr {at}, align {size}")

    def store(self, value: str, at: str) -> None:
        """Put a vector there."""
        size = VECTOR // self.lanes
        self.lines.append(f"store {self.vector} {value}, ptr {at}, align {size}")

    def declared(self) -> str:
        """The declaration of the function that `multiply_add` calls."""
        args = ", ".join([self.vector] * 3)
        return f"declare {self.vector} @llvm.fma.{self.suffix}({args})\n"

    def shuffle(self, a: str, b: str, lanes: Iterable[int]) -> str:
        """The vector of these lanes of two, of which the second's come after."""
        mask = ", ".join(f"i32 {k}" for k in lanes)
        kinds = f"{self.vector} {a}, {self.vector} {b}, <{self.lanes} x i32> <{mask}>"
        return self.new(f"shufflevector {kinds}")

    def load_pairs(self, at: str) -> Complex:
        """Complex numbers side by side, from there on."""
        first = self.load(at)
        second = self.load(self.place(at, f"{self.lanes}"))
        even = range(0, 2 * self.lanes, 2)
        parts = (self.shuffle(first, second, (k + odd for k in even)) for odd in (0, 1))
        real, imaginary = parts
        return real, imaginary

    def store_pairs(self, value: Complex, at: str) -> None:
        """Put complex numbers there side by side."""
        n = self.lanes
        for k, place in enumerate((at, self.place(at, f"{n}"))):
            lanes = (j // 2 + j % 2 * n for j in range(k * n, (k + 1) * n))
            self.store(self.shuffle(*value, lanes), place)

    def loop(self, symbol: str, args: str) -> str:
        """A function of what was written so far, for each %k below %count."""
        blocks = {
            "entry": ["br label %loop"],
            "loop": [
                "%k = phi i64 [0, %entry], [%next, %loop]",
                *self.taken(),
                "%next = add i64 %k, 1",
                "%more = icmp slt i64 %next, %count",
                "br i1 %more, label %loop, label %end",
            ],
            "end": ["ret void"],
        }
        return self.declared() + define(symbol, args, blocks)

    def taken(self) -> list[str]:
        """The lines so far, which are no longer here."""
        lines, self.lines = self.lines, []
        return lines

    # -- complex numbers --------------------------------------------------------------

    def plus(self, a: Complex, b: Complex) -> Complex:
        """a + b."""
        return self.add(a[0], b[0]), self.add(a[1], b[1])

    def minus(self, a: Complex, b: Complex) -> Complex:
        """a - b."""
        return self.subtract(a[0], b[0]), self.subtract(a[1], b[1])

    def minus_turned(self, a: Complex, b: Complex) -> Complex:
        """a - i b."""
        return self.add(a[0], b[1]), self.subtract(a[1], b[0])

    def plus_turned(self, a: Complex, b: Complex) -> Complex:
        """a + i b."""
        return self.subtract(a[0], b[1]), self.add(a[1], b[0])

    def times(self, a: Complex, b: Complex) -> Complex:
        """a * b."""
        both = self.negate(self.multiply(a[1], b[1]))
        cross = self.multiply(a[1], b[0])
        return (
            self.multiply_add(a[0], b[0], both),
            self.multiply_add(a[0], b[1], cross),
        )


def transform(v: VectorText, x: Sequence[Complex]) -> list[Complex]:
    """The transform of a few points, in registers."""
    if len(x) == 2:
        return [v.plus(*x), v.minus(*x)]
    if len(x) == 4:
        a, b = v.plus(x[0], x[2]), v.minus(x[0], x[2])
        c, d = v.plus(x[1], x[3]), v.minus(x[1], x[3])
        even = v.plus(a, c), v.minus(a, c)
        return [even[0], v.minus_turned(b, d), even[1], v.plus_turned(b, d)]
    if len(x) == 8:
        return _eight(v, x)
    return _odd(v, x)


def _eight(v: VectorText, x: Sequence[Complex]) -> list[Complex]:
    even, odd = transform(v, x[::2]), transform(v, x[1::2])
    half = v.constant(math.sqrt(0.5))
    # (1 - i) b, and -(1 + i) b.
    b, d = odd[1], odd[3]
    first = v.add(b[0], b[1]), v.subtract(b[1], b[0])
    third = v.subtract(d[1], d[0]), v.negate(v.add(d[0], d[1]))
    odd[1], odd[3] = _scaled(v, first, half), _scaled(v, third, half)
    sums = [v.plus(a, b) for a, b in zip(even, odd, strict=True)]
    others = [v.minus(a, b) for a, b in zip(even, odd, strict=True)]
    sums[2], others[2] = v.minus_turned(even[2], odd[2]), v.plus_turned(even[2], odd[2])
    return sums + others


def _odd(v: VectorText, x: Sequence[Complex]) -> list[Complex]:
    """By sums and differences of the points that lie opposite each other."""
    n, half = len(x), range(1, (len(x) + 1) // 2)
    sums = [v.plus(x[j], x[n - j]) for j in half]
    differences = [v.minus(x[j], x[n - j]) for j in half]
    found = [x[0]] * n
    for each in sums:
        found[0] = v.plus(found[0], each)
    angles = [2 * math.pi * k / n for k in range(n)]
    cosines, sines = ([v.constant(f(a)) for a in angles] for f in (math.cos, math.sin))
    for k in half:
        even, odd = x[0], _scaled(v, differences[0], sines[k])
        for j, each in enumerate(sums, 1):
            even = _added(v, each, cosines[j * k % n], even)
        for j, each in enumerate(differences[1:], 2):
            odd = _added(v, each, sines[j * k % n], odd)
        found[k], found[n - k] = v.minus_turned(even, odd), v.plus_turned(even, odd)
    return found


def _scaled(v: VectorText, a: Complex, b: str) -> Complex:
    """A complex number times a real one."""
    return v.multiply(a[0], b), v.multiply(a[1], b)


def _added(v: VectorText, a: Complex, b: str, c: Complex) -> Complex:
    """The same, and another one."""
    return v.multiply_add(a[0], b, c[0]), v.multiply_add(a[1], b, c[1])
