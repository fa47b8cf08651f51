"""Passes of a transform, as LLVM text: from a panel to a panel.

A panel has of each point `lanes` real parts, then as many imaginary ones. A pass is one
of Stockham's algorithm, whose result is in order (Swarztrauber, "FFT algorithms for
vector computers", Parallel Computing 1, 1984). With n = radix * m * s points, for p
below m and q below s

    y[q + s (radix p + k)] = w(p k, m radix) * sum over j of
        x[q + s (p + m j)] * w(j k, radix)

where w(a, b) = exp(-2 pi i a / b). The spectrum of 2 n real points is made of that of n
complex ones, and the other way round (Press and others, "Numerical Recipes", 2007,
section 12.3): with E and D the halves of a[k] + conj(a[n - k]) and of a[k] -
conj(a[n - k]), and u = -i w(k, 2 n), or its conjugate,

    a[k] becomes E + u D, and a[n - k] becomes conj(E - u D)

Serves: fft.*
"""

from __future__ import annotations

from traceir_numba.fft.codelets import VectorText, transform
from traceir_numba.gemm.microkernel import define

# Steps of a pass, in elements: from one p, q and point to the next, of what is read and
# of what is written; then where imaginary parts are.
STEPS = ("xp", "xq", "xj", "yp", "yq", "yk", "xi", "yi")
ARGS = ("ptr noalias %x", "ptr noalias %y", "ptr noalias %twiddles", "i64 %m", "i64 %s")
SIGNATURE = ", ".join([*ARGS, *(f"i64 %{name}" for name in STEPS)])


def pass_text(symbol: str, dtype: str, radix: int, last: bool) -> str:
    """LLVM text of a pass; the last one, whose m is 1, has no twiddle factors.

    Real parts are read at 0 and imaginary ones at `lanes` if `xi` is `lanes`, the other
    way round if it is 0, and likewise written by `yi`.
    """
    v = VectorText(dtype)
    xr, yr = (v.integer("sub", v.lanes, f"%{i}") for i in ("xi", "yi"))
    entry = v.taken()
    twiddles = []
    first = v.integer("mul", "%p", 2 * (radix - 1))
    for k in range(0 if last else 2 * (radix - 1)):
        twiddles.append(v.splat(v.number("%twiddles", v.integer("add", first, k))))
    x_line, y_line = v.integer("mul", "%p", "%xp"), v.integer("mul", "%p", "%yp")
    outer = v.taken()
    x_at = v.integer("add", x_line, v.integer("mul", "%q", "%xq"))
    y_at = v.integer("add", y_line, v.integer("mul", "%q", "%yq"))
    given = []
    for j in range(radix):
        at = v.integer("add", x_at, v.integer("mul", "%xj", j))
        places = (v.place("%x", v.integer("add", at, part)) for part in (xr, "%xi"))
        real, imaginary = map(v.load, places)
        given.append((real, imaginary))
    for k, value in enumerate(transform(v, given)):
        if k and not last:
            value = v.times(value, (twiddles[2 * k - 2], twiddles[2 * k - 1]))
        at = v.integer("add", y_at, v.integer("mul", "%yk", k))
        for part, place in zip(value, (yr, "%yi"), strict=True):
            v.store(part, v.place("%y", v.integer("add", at, place)))
    blocks = {
        "entry": [*entry, "br label %outer"],
        "outer": [
            "%p = phi i64 [0, %entry], [%p_next, %ended]",
            *outer,
            "br label %inner",
        ],
        "inner": [
            "%q = phi i64 [0, %outer], [%q_next, %inner]",
            *v.taken(),
            "%q_next = add i64 %q, 1",
            "%q_more = icmp slt i64 %q_next, %s",
            "br i1 %q_more, label %inner, label %ended",
        ],
        "ended": [
            "%p_next = add i64 %p, 1",
            "%p_more = icmp slt i64 %p_next, %m",
            "br i1 %p_more, label %outer, label %end",
        ],
        "end": ["ret void"],
    }
    return v.declared() + define(symbol, SIGNATURE, blocks)


def call_text(symbol: str) -> str:
    """LLVM text of a call of a pass, of which a table has the address, s and steps."""
    lines = []
    for k, name in enumerate(("address", "s", *STEPS[:6])):
        lines += [
            f"%at_{name} = getelementptr i64, ptr %row, i64 {k}",
            f"%{name} = load i64, ptr %at_{name}",
        ]
    given = ["ptr %x", "ptr %y", "ptr %twiddles", "i64 %m", "i64 %s"]
    given += [f"i64 %{name}" for name in STEPS]
    lines += [
        "%pass = inttoptr i64 %address to ptr",
        f"call void %pass({', '.join(given)})",
        "ret void",
    ]
    args = "ptr %row, ptr %x, ptr %y, ptr %twiddles, i64 %m, i64 %xi, i64 %yi"
    return define(symbol, args, {"entry": lines})


def half_text(symbol: str, dtype: str) -> str:
    """LLVM text: the spectrum of 2 n real points from that of n, or back, in a panel.

    `twiddles` has u for the `count` of k up to n / 2.
    """
    v = VectorText(dtype)
    places = []
    for point in ("%k", v.integer("sub", "%n", "%k")):
        at = v.place("%x", v.integer("mul", point, 2 * v.lanes))
        places.append((at, v.place(at, f"{v.lanes}")))
    a, b = ((v.load(real), v.load(imaginary)) for real, imaginary in places)
    opposite = b[0], v.negate(b[1])
    half, twice = v.constant(0.5), v.integer("mul", "%k", 2)
    even, other = (
        (v.multiply(real, half), v.multiply(imaginary, half))
        for real, imaginary in (v.plus(a, opposite), v.minus(a, opposite))
    )
    real = v.splat(v.number("%twiddles", twice))
    twiddle = real, v.splat(v.number("%twiddles", v.integer("add", twice, 1)))
    other = v.times(other, twiddle)
    first, second = v.plus(even, other), v.minus(even, other)
    for value, place in zip((second[0], v.negate(second[1])), places[1], strict=True):
        v.store(value, place)
    for value, place in zip(first, places[0], strict=True):
        v.store(value, place)
    args = "ptr noalias %x, ptr noalias %twiddles, i64 %n, i64 %count"
    return v.loop(symbol, args)
