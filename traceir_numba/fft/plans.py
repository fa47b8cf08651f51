"""Plans of transforms: factors of a length, and twiddle factors.

Serves: fft.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import chain
from math import prod

import numpy as np

from traceir.base.caches import cleared
from traceir.base.fast_dataclass import dataclass
from traceir_numba.fft.interface import ENTRIES, lanes_of, symbol_of
from traceir_numba.llvm.trampoline import callable_of
from traceir_numba.runtime import code_loader
from traceir_numba.store.identity import identity
from traceir_numba.store.units import LoadedObject, ObjectFile, linked, unit_key

PRIMES = (2, 3, 5, 7, 11, 13)
# Plans that are kept, the last ones used.
PLANS = 16


@cache
def factors(n: int) -> tuple[int, ...] | None:
    """The radices of the passes of a length; None where a factor has no codelet.

    The first is the greatest: what is left after it is short.

    >>> factors(1000), factors(1024), factors(34)
    ((8, 5, 5, 5), (8, 8, 4, 4), None)
    """
    primes = _primes(n)
    if prod(primes) != n:
        return None
    twos = primes.count(2)
    # Eights; then a four, or two, or if there is no other way a two.
    fours = min(-twos % 3, twos // 2)
    eights = (twos - 2 * fours) // 3
    found = [8] * eights + [4] * fours + [2] * (twos - 3 * eights - 2 * fours)
    return (*found, *sorted(primes[twos:], reverse=True))


def two_factors(n: int) -> tuple[int, int]:
    """The two factors of a length that are nearest each other.

    >>> two_factors(1000), two_factors(1 << 20)
    ((25, 40), (1024, 1024))
    """
    products = {1}
    for prime in _primes(n):
        products |= {prime * each for each in products}
    small = max(each for each in products if each * each <= n)
    return small, n // small


def _primes(n: int) -> list[int]:
    found = []
    for prime in PRIMES:
        while n % prime == 0:
            found.append(prime)
            n //= prime
    return found


def twiddles(numbers: np.ndarray, n: int) -> np.ndarray:
    """The numbers exp(-2 pi i k / n): their two parts side by side, in float64.

    Each is made of an angle of pi / 4 at most, so 1, -i, -1 and i are exact.
    """
    fourths = 4 * (numbers % n)
    quarters = (fourths + n // 2) // n
    angle = (fourths - quarters * n) * (np.pi / 2 / n)
    c, s = np.cos(angle), -np.sin(angle)
    cosine = np.choose(quarters % 4, [c, s, -c, -s])
    sine = np.choose(quarters % 4, [s, -c, -s, c])
    return np.stack([cosine, sine], -1)


@dataclass(frozen=True, slots=True)
class Plan:
    """All that `groups` needs of a length: passes, twiddle factors and work memory."""

    table: np.ndarray
    twiddles: np.ndarray
    work: int  # elements


@lru_cache(PLANS)
def plan_of(n: int, dtype: str) -> Plan:
    """The plan of a length, of 2 at least, whose factors have codelets."""
    radices = factors(n)
    assert radices is not None
    pair = 2 * lanes_of(dtype)
    radix, *others = radices
    m = n // radix
    found = [_twiddles(radix, m)]
    rows = [
        [
            _pass(radix, m == 1, dtype),
            1,
            pair,
            pair,
            m * pair,
            pair,
            pair,
            m * pair,
            m,
            0,
        ]
    ]
    # What the first pass leaves, `radix` transforms of m points, ends in order.
    left, s, at = m, 1, found[0].size
    for other in others:
        left //= other
        read = s, 1, left * s
        written = (other * s, 1, s) if left > 1 else (0, radix, s * radix)
        steps = (pair * step for step in (*read, *written))
        rows.append([_pass(other, left == 1, dtype), s, *steps, left, at])
        found.append(_twiddles(other, left))
        at, s = at + found[-1].size, s * other
    table = np.array([len(radices), radix, *chain(*rows)], np.int64)
    work = (2 * (n + 1) + m) * pair
    return Plan(table, np.concatenate(found).astype(dtype), work)


def _twiddles(radix: int, m: int) -> np.ndarray:
    """Those of a pass; the last one has none."""
    p, k = np.arange(m)[:, None], np.arange(1, radix)
    return twiddles(p * k, m * radix).ravel() if m > 1 else np.empty(0)


@cache
def _pass(radix: int, last: bool, dtype: str) -> int:
    """The address of a pass."""
    symbol = symbol_of(f"{'last' if last else 'pass'}_{radix}", dtype)

    def texts() -> tuple[str, ...]:
        from traceir_numba.fft.passes import pass_text

        return (pass_text(symbol, dtype, radix, last),)

    return _loaded([symbol], texts).addresses[symbol]


def entry(name: str, dtype: str) -> Callable[..., None]:
    """A function that Python calls: `groups` or `halve_line`, compiled once."""
    return _entries(dtype)[name]


@cache
def _entries(dtype: str) -> dict[str, Callable[..., None]]:
    def texts() -> tuple[str, ...]:
        from traceir_numba.fft.groups import texts_of

        return texts_of(dtype)

    symbols = {name: symbol_of(name, dtype) for name in ENTRIES}
    unit = _loaded([*symbols.values()], texts)
    return {
        name: callable_of(unit.addresses[symbols[name]], *counts, True, unit)
        for name, counts in ENTRIES.items()
    }


_units: list[LoadedObject] = []


def _loaded(
    symbols: Sequence[str], texts: Callable[[], tuple[str, ...]]
) -> LoadedObject:
    """The code of these functions, which is kept for good.

    It is known by the sources that make its text, so that a process that finds it in
    the store needs nothing of the compiler.
    """

    def made() -> ObjectFile:
        from traceir_numba.llvm import optimize

        return optimize.object_file(texts())

    with code_loader.lock:
        unit = linked(unit_key(identity(), *symbols), symbols, [], made)
    _units.append(unit)
    return unit


@dataclass(frozen=True, slots=True)
class TwoSteps:
    """A long transform: of `rows` points in columns, then of `columns` in rows.

    `coarse` and `fine` are the twiddle factors between them.
    """

    rows: int
    columns: int
    coarse: np.ndarray
    fine: np.ndarray


@lru_cache(PLANS)
def two_steps(n: int, dtype: str) -> TwoSteps:
    """The two steps of a long transform."""
    lanes = lanes_of(dtype)
    rows, columns = two_factors(n)
    k = np.arange(rows)
    groups = np.arange(-(-columns // lanes))[:, None]
    coarse = twiddles(k * groups * lanes, n)
    fine = twiddles(k[:, None] * np.arange(lanes), n).transpose(0, 2, 1)
    return TwoSteps(rows, columns, coarse.astype(dtype), fine.astype(dtype, "C"))


@lru_cache(PLANS)
def half_twiddles(n: int, dtype: str, inverse: bool) -> np.ndarray:
    """Those by which the spectrum of 2 n real points is made of that of n, or back."""
    cosine, sine = twiddles(np.arange(n // 2 + 1), 2 * n).T
    both = np.stack([sine, cosine if inverse else -cosine], -1)
    return both.astype(dtype)


for _made in (plan_of, two_steps, half_twiddles):
    cleared(_made.cache_clear)
