"""Angles less whole quarters of a turn, without loss, whatever their size.

x = m * 2**q with a whole m; its product with 2 / pi is one of whole numbers, of which
only those digits of 2 / pi matter that do not make a multiple of 4 (Payne and Hanek).
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
from ulp.double import add, fast, multiply, normal, pair

WORD = 32
KEPT = 9  # words of 2 / pi that enter a product
with mpmath.workprec(1500):
    _BITS = int(mpmath.floor(2 / mpmath.pi * mpmath.mpf(2) ** (WORD * 44)))
_WORDS = np.array(
    [_BITS >> WORD * (43 - i) & 0xFFFFFFFF for i in range(44)], dtype=np.uint64
)
with mpmath.workprec(300):
    QUARTER = pair(mpmath.pi / 2)
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(WORD)


@fast
def product(m: int, first: int) -> Any:
    """The words of m times KEPT words of 2 / pi, lowest first."""
    out = np.zeros(KEPT + 3, np.uint64)
    low, high = np.uint64(m) & _LOW, np.uint64(m) >> _SHIFT
    carry = np.uint64(0)
    for i in range(KEPT):
        w = _WORDS[first + KEPT - 1 - i]
        t = out[i] + low * w + carry
        out[i] = t & _LOW
        carry = t >> _SHIFT
    out[KEPT] = carry
    carry = np.uint64(0)
    for i in range(KEPT):
        w = _WORDS[first + KEPT - 1 - i]
        t = out[i + 1] + high * w + carry
        out[i + 1] = t & _LOW
        carry = t >> _SHIFT
    out[KEPT + 1] = carry
    return out


@fast
def reduced(x: float) -> Any:
    """A pair of at most an eighth of a turn, and how many quarters x has besides."""
    if abs(x) < 0.785:
        return (x, 0.0), 0
    mantissa, exponent = math.frexp(abs(x))
    q = exponent - 53
    first = max(0, (q - 2) // WORD)
    words = product(int(math.ldexp(mantissa, 53)), first)
    # The product is words * 2**s: its whole part has the words and bits from -s on.
    s = q - WORD * (first + KEPT)
    whole, bit = -s // WORD, np.uint64(-s % WORD)
    n = words[whole] >> bit
    if bit > np.uint64(WORD - 2):
        n |= words[whole + 1] << (_SHIFT - bit)
    words[whole] &= (np.uint64(1) << bit) - np.uint64(1)
    n = int(n & np.uint64(3))
    top = whole * WORD + int(bit) - 1
    negative = (words[top // WORD] >> np.uint64(top % WORD)) & np.uint64(1)
    if negative:  # more than half: what is missing to the next whole number
        n += 1
        borrow = np.uint64(1)
        for i in range(whole + 1):
            t = (words[i] ^ _LOW) + borrow
            words[i] = t & _LOW
            borrow = t >> _SHIFT
        words[whole] &= (np.uint64(1) << bit) - np.uint64(1)
    y = (0.0, 0.0)
    for i in range(whole, -1, -1):
        y = add(y, (math.ldexp(float(words[i]), s + WORD * i), 0.0))
    y = multiply(normal(y[0], y[1]), QUARTER)
    if negative:
        y = (-y[0], -y[1])
    if x < 0.0:
        return (-y[0], -y[1]), -n
    return y, n
