"""Whole numbers."""

import numpy as np

from plain.loops.program import Program, integers


def sieve(n):
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    for p in range(2, int(n**0.5) + 1):
        if prime[p]:
            prime[p * p :: p] = False
    return prime


def gcd_all(a, b):
    """Euclid's steps for all pairs at a time."""
    a, b = a.copy(), b.copy()
    while np.any(b != 0):
        nonzero = b != 0
        safe = np.where(nonzero, b, 1)
        a, b = np.where(nonzero, b, a), np.where(nonzero, a % safe, 0)
    return a


def pow_mod(base, exponent, modulus):
    """Powers of an array of bases, by squaring."""
    result = np.ones_like(base)
    base = base % modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


def collatz_lengths(limit):
    lengths = np.zeros(limit, np.int64)
    longest = 0
    for start in range(1, limit):
        n = start
        count = 1
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        lengths[start] = count
        if count > lengths[longest]:
            longest = start
    return lengths, longest


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def totients(n):
    """Euler's function by counting, the coprime pairs, and the last prime met."""
    phi = np.zeros(n, dtype=np.int64)
    last = 0
    for m in range(1, n):
        for k in range(1, m + 1):
            if gcd(m, k) == 1:
                phi[m] += 1
        if m > 1 and phi[m] == m - 1:
            last = m
    return phi, phi.sum(), last


def first_factors(numbers):
    """The least factor above one of each number."""
    out = np.empty_like(numbers)
    for i in range(len(numbers)):
        n = numbers[i]
        f = 2
        while f * f <= n:
            if n % f == 0:
                out[i] = f
                break
            f += 1 if f == 2 else 2
        else:
            out[i] = n
    return out


PROGRAMS = [
    Program("numpy", sieve, lambda n: (n,), (30,), (1_000_000,)),
    Program(
        "numpy",
        gcd_all,
        lambda n: (integers(n, below=999), integers(n, below=999, seed=1)),
        (8,),
        (50_000,),
    ),
    Program(
        "numpy", pow_mod, lambda n: (integers(n, below=99), 77, 1009), (5,), (50_000,)
    ),
    Program("numba", collatz_lengths, lambda n: (n,), (12,), (20_000,)),
    Program("numba", totients, lambda n: (n,), (12,), (500,)),
    Program(
        "numba",
        first_factors,
        lambda n: (integers(n, below=9999) + 2,),
        (8,),
        (20_000,),
    ),
]
