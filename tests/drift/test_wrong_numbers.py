"""Kernels of keys, complex numbers and special functions that are wrong on purpose.

Each is told by the case that is named for it. Cites random_bits.*, random_split.*,
threefry2x32, accuracy.complex, accuracy.complex-limits, accuracy.conditioned
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import special
from wrong_kernels import (
    Wrong,
    check_told,
    right,
    with_arrays,
    with_params,
    with_results,
)

from traceir.reference.kernels.random import keys_of, words_of

# Keys and bits ------------------------------------------------------------------------

HASH = "threefry2x32"
BITS = "random_bits"


def _by_the_other(key0: Any, key1: Any, counter0: Any, counter1: Any) -> Any:
    return counter0, counter1, key0, key1


def _halves_exchanged(bits: Any) -> Any:
    return bits << np.uint64(32) | bits >> np.uint64(32)


def _highest_bits(keys: Any, *, bit_width: int, **params: Any) -> Any:
    words = right(BITS, keys, bit_width=32, **params)
    return (words >> np.uint32(32 - bit_width)).astype(f"uint{bit_width}")


def _highest_first(keys: Any, *, bit_width: int, shape: Any, **params: Any) -> Any:
    lanes = 32 // bit_width
    (size,) = shape
    whole = (-(-size // lanes) * lanes,)
    bits = right(BITS, keys, bit_width=bit_width, shape=whole, **params)
    return bits.reshape(-1, lanes)[:, ::-1].reshape(-1)[:size]


def _of_the_first(keys: Any) -> Any:
    return (np.broadcast_to(keys[:1], keys.shape),)


def _low_words(keys: Any) -> Any:
    return keys_of(words_of(keys) * np.uint32([0, 1]))


def _extended(x: Any, **params: Any) -> Any:
    return right("random_seed", x.astype("int64"), **params)


def _mixed_in(keys: Any, numbers: Any) -> Any:
    return keys_of(words_of(keys) ^ np.uint32([0, 1]) * numbers[..., None])


def _turned(words: Any) -> Any:
    return words[..., ::-1]


WRONG_KEYS: dict[str, Wrong] = {
    "the key is hashed by the counter": (
        HASH,
        with_arrays(HASH, _by_the_other),
        "threefry2x32/digits-of-pi",
    ),
    "the second word first": (
        HASH,
        with_results(HASH, lambda first, second: [second, first]),
        "threefry2x32/zeros",
    ),
    "a layout that was not asked for": (
        BITS,
        with_params(BITS, partitionable=lambda _: False),
        "random_bits/of-32",
    ),
    "the newer layout for the older": (
        "random_split",
        with_params("random_split", partitionable=lambda _: True),
        "random_split/three-of-the-older-layout",
    ),
    "the lower half first": (
        BITS,
        with_results(BITS, _halves_exchanged),
        "random_bits/of-64",
    ),
    "the highest bits of a word": (BITS, _highest_bits, "random_bits/of-8"),
    "parts of a word from the highest": (
        BITS,
        _highest_first,
        "random_bits/of-8-of-the-older-layout",
    ),
    "the bits of one key for all": (
        BITS,
        with_arrays(BITS, _of_the_first),
        "random_bits/of-two-keys",
    ),
    "a seed's high bits are lost": (
        "random_seed",
        with_results("random_seed", _low_words),
        "random_seed/all-of-64-bits",
    ),
    "a seed's sign is extended": ("random_seed", _extended, "random_seed/negative"),
    "a number is mixed in without a hash": (
        "random_fold_in",
        _mixed_in,
        "random_fold_in/a-number",
    ),
    "words of a key are exchanged": (
        "random_wrap",
        with_arrays("random_wrap", lambda words: (_turned(words),)),
        "random_wrap/words",
    ),
}


# Complex numbers ----------------------------------------------------------------------


def _plain_distance(z: Any) -> Any:
    return np.sqrt(z.real * z.real + z.imag * z.imag)


def _plain_quotient(z: Any, w: Any) -> Any:
    return z * w.conj() / (w.real * w.real + w.imag * w.imag)


def _unsigned_zeros(z: Any) -> Any:
    return (z + 0,)


def _by_parts(z: Any, **_: Any) -> Any:
    size = np.exp(z.real)
    return size * np.cos(z.imag) + 1j * (size * np.sin(z.imag))


def _infinite_all_the_same(found: Any) -> Any:
    return np.where(np.isnan(found), found.dtype.type(complex(np.inf, np.inf)), found)


def _by_distance(z: Any, **_: Any) -> Any:
    return z[np.argsort(np.abs(z), kind="stable")]


def _farther(z: Any, w: Any) -> Any:
    return np.where(np.abs(w) > np.abs(z), w, z)


WRONG_COMPLEX: dict[str, Wrong] = {
    "the other part": (
        "real",
        lambda z: z.imag,
        "complex/parts",
    ),
    "the other half-plane": (
        "conj",
        with_results("conj", np.negative),
        "complex/conj",
    ),
    "a distance by squares": ("abs", _plain_distance, "complex/distance"),
    "a quotient by squares": ("div", _plain_quotient, "complex/quotient"),
    "one side of the cut": (
        "sqrt",
        with_arrays("sqrt", _unsigned_zeros),
        "complex/root-on-both-sides-of-the-cut",
    ),
    "one zero has a logarithm": (
        "log",
        with_arrays("log", _unsigned_zeros),
        "complex/logarithm-of-zero",
    ),
    "an infinity by an angle of zero": (
        "exp",
        _by_parts,
        "complex/exponential-at-infinity",
    ),
    "infinities are recovered": (
        "mul",
        with_results("mul", _infinite_all_the_same),
        "complex/product-of-an-infinity",
    ),
    "in the order of distances": ("sort", _by_distance, "complex/in-order-of-parts"),
    "the farther from zero": ("max", _farther, "complex/greater-part-first"),
}


# Special functions --------------------------------------------------------------------


def _logarithm(x: Any) -> Any:
    return np.log(np.abs(special.gamma(x)))


def _grown(x: Any) -> Any:
    return np.exp(-np.abs(x)) * special.i0(x)


def _by_differences(a: Any, x: Any) -> Any:
    step = a / 1e6
    return (special.gammainc(a + step, x) - special.gammainc(a - step, x)) / (2 * step)


BETA = "regularized_incomplete_beta"
WRONG_SPECIAL: dict[str, Wrong] = {
    "the logarithm of a product": (
        "lgamma",
        _logarithm,
        "lgamma/near-zeros-and-poles",
    ),
    "a limit at a pole": (
        "digamma",
        with_results("digamma", lambda y: np.where(np.isnan(y), -np.inf, y)),
        "digamma/values",
    ),
    "growth that is taken away afterwards": (
        "bessel_i0e",
        _grown,
        "bessel_i0e/values",
    ),
    "a function without a sign": (
        "bessel_i1e",
        with_results("bessel_i1e", np.abs),
        "bessel_i1e/values",
    ),
    "the sum begins at one": (
        "zeta",
        lambda x, q: special.zeta(x),
        "zeta/values",
    ),
    "signs do not take turns": (
        "polygamma",
        with_results("polygamma", np.abs),
        "polygamma/values",
    ),
    "the rest of one": (
        "igammac",
        lambda a, x: 1 - right("igamma", a, x),
        "igammac/double",
    ),
    "an integral that is no part": (
        "igamma",
        lambda a, x: right("igamma", a, x) * special.gamma(a).astype(a.dtype),
        "igamma/values",
    ),
    "a slope by differences": (
        "igamma_grad_a",
        _by_differences,
        "igamma_grad_a/double",
    ),
    "a slope of the other sign": (
        "random_gamma_grad",
        with_results("random_gamma_grad", np.negative),
        "random_gamma_grad/values",
    ),
    "parameters exchanged": (
        BETA,
        with_arrays(BETA, lambda a, b, x: (b, a, x)),
        f"{BETA}/values",
    ),
}

WRONG: Mapping[str, Wrong] = {**WRONG_KEYS, **WRONG_COMPLEX, **WRONG_SPECIAL}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_numbers_are_told_by_a_case(what: str) -> None:
    check_told(*WRONG[what])
