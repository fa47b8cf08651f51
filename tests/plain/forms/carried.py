"""Values that loops carry: numbers, tuples, flags."""

import numpy as np

from plain.forms.case import I, V, case


@case(V, 4)
def int_to_float(a, n):
    s = 0
    for i in range(n):
        s += a[i]
    return s


@case(I)
def flags(a):
    seen = False
    every = True
    for x in a:
        seen = seen or x == 9
        every = every and x > 0
    return seen, every


@case(I)
def flags2(a):
    any_big = False
    for x in a:
        any_big |= x > 8
    return any_big


@case(V)
def chained(a):
    c = 0
    for x in a:
        if -1 <= x < 4 != x:
            c += 1
    return c


@case(V)
def cond_index(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i - 1 if a[i] > 0 else 0] - a[i + 1 if i < len(a) - 1 else 0]
    return s


@case(V)
def tuple_state(a):
    best = (0.0, -1)
    for i in range(len(a)):
        if a[i] > best[0]:
            best = (a[i], i)
    return best


@case(V)
def fib(a):
    x, y = 0, 1
    for _ in range(10):
        x, y = y, x + y
    return x, y


@case(V)
def running_prev(a):
    prev = None
    c = 0
    for x in a:
        if prev is not None and x > prev:
            c += 1
        prev = x
    return c


@case(V)
def max_none(a):
    best = None
    for x in a:
        if best is None or x > best:
            best = x
    return best


@case(V)
def in_range_pow(a):
    out = np.empty(8)
    for i in range(8):
        out[i] = (-1) ** i * a[i] ** 2 + 2**i
    return out


@case(V)
def argmax_first(a):
    m = a[0]
    k = 0
    for i in range(1, len(a)):
        if a[i] > m:
            m, k = a[i], i
    return m, k


@case(np.array([5, 3], np.int32), 3)
def int32_state(a, n):
    x = a[0]
    for i in range(n):
        x = x * 2 + a[1]
    return x


@case(np.array([5, 3], np.int32), 3)
def int32_carry_pyint(a, n):
    x = 1
    for i in range(n):
        x = x + a[1]
    return x


@case(np.array([1.5, 3], np.float32), 6)
def f32_carry(a, n):
    s = 0.0
    for i in range(n):
        s += a[1]
    return s


@case(np.array([1.5, 3], np.float32), 6)
def f32_carry2(a, n):
    s = a[0]
    for i in range(n):
        s = s * 0.5 + a[1]
    return s


@case(I)
def bits(a):
    h = 0
    for x in a:
        h = ((h << 5) ^ (h >> 3) ^ x) & 0xFFFF
    return h


@case(I)
def neg_mod(a):
    s = 0
    for i in range(8):
        s += (i - 4) // 3 * (10) + (i - 4) % 3 + (-a[i]) // 4 + (-a[i]) % 4
    return s


@case(V)
def div0(a):
    s = 0.0
    for i in range(1, 8):
        s += a[i] / i
    return s


@case(I)
def floats_from_ints(a):
    s = 0
    for x in a:
        s += x / 2
    return s


@case(I)
def int_div(a):
    t = 0
    for x in a:
        t = t * 10 // 3 + x
    return t


@case(V)
def complex_state(a):
    z = 0j
    for x in a:
        z = z * z * 0.01 + x
    return z, abs(z), z.real


@case(V)
def swap3(a):
    x, y, z = a[0], a[1], a[2]
    for _ in range(7):
        x, y, z = y, z, x
    return x, y, z
