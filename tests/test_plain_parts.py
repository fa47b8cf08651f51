"""Real and imaginary parts as views; classes of traced arrays. Rules: face.view, box"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba

Z = np.array([[1 + 2j, 3 - 1j], [0.5j, -2]])


def by_element(z: Any) -> Any:
    """A view of parts, a part of which is written to."""
    z.real[0] = 5
    z.imag[:, 1] *= 3
    return z


def by_name(z: Any) -> Any:
    """All parts at once, of the array, of a copy and of a view."""
    w = z.copy()
    w.imag = np.arange(2.0)
    w[1].real = 7
    z.real = 3
    return z, w


def in_place(z: Any) -> Any:
    """A view that was taken before, and sums in place."""
    r = z.real
    z.real += 1
    r += 1
    z.imag[::-1, 0] -= 2
    return z, r


def of_views(z: Any) -> Any:
    """Parts of rows and of transposed arrays; a view sees what is written later."""
    row = z.T[1].imag
    row[:] = 9
    later = z.reshape(4).real
    z[0, 0] = 4 + 4j
    return z, later, later.copy(), row + 0


def by_mask(z: Any) -> Any:
    """Parts where a condition holds."""
    z.real[z.imag > 0] = 0
    return z


def by_out(z: Any) -> Any:
    """Results of universal functions in the place of parts."""
    np.absolute(z, out=z.real)
    np.conjugate(z, out=z)
    np.negative(z.imag, out=z.imag)
    return z


def made_inside(z: Any) -> Any:
    """An array that is known while tracing, and then is not."""
    w = np.zeros((2, 2), complex)
    w.real[0] = 1
    known = w.imag[0] + w.real[0]
    w.imag = z.real
    return w, known


def by_function(z: Any) -> Any:
    """NumPy's functions of parts give views, too."""
    np.real(z)[0] = 1
    np.imag(z)[1] = 1
    return z, np.conj(z), np.conjugate(z), np.angle(z), z.conj(), abs(z)


def of_one(z: Any) -> Any:
    """A scalar's parts are scalars."""
    one = z[0, 0]
    return one.real, one.imag, one.conjugate(), np.angle(one), abs(one)


def weak(z: Any) -> Any:
    """Python numbers that are complex make real arrays complex."""
    x = z.real
    return 1j * x, x + 0j, (x > 0) * 2j, x.astype(np.float32) * 1j, 2 * 1j * x[0, 0]


FUNCTIONS = (
    *(by_element, by_name, in_place, of_views, by_mask, by_out, made_inside),
    *(by_function, of_one, weak),
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_parts_are_views(function: Callable[[Any], Any], dtype: str) -> None:
    given, plain = Z.astype(dtype), Z.astype(dtype)
    wanted = function(plain)
    found = traceir_numba.jit(function)(given)
    np.testing.assert_allclose(given, plain, rtol=1e-6)
    pairs = [(found, wanted)] if isinstance(wanted, np.ndarray) else zip(found, wanted)
    for one, other in pairs:
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-6)


def test_parts_of_real_arrays() -> None:
    def fun(x: Any) -> Any:
        x.real[0] = 7
        x.real = x + 1
        return np.conjugate(x), x.imag, np.angle(x), np.real(x), np.imag(x)

    x, y = np.array([1.0, -2.0]), np.array([1.0, -2.0])
    for one, other in zip(traceir_numba.jit(fun)(x), fun(y), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(x, y)

    def refused(x: Any) -> None:
        x.imag = 1.0

    with raises_rule("face.meaning", TypeError, "imag"):
        traceir_numba.jit(refused)(np.ones(2))


def test_what_is_put_into_a_real_array() -> None:
    def written(x: Any) -> Any:
        x[0] = 1j

    def array(x: Any) -> Any:
        x[:] = x + 1j
        return x

    with raises_rule("face.imaginary", TypeError):
        traceir_numba.jit(written)(np.ones(2))
    with pytest.warns(np.exceptions.ComplexWarning):
        assert traceir_numba.jit(array)(np.ones(2)).tolist() == [1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert traceir_numba.jit(lambda z: z.astype(bool))(Z).all()


def classes(x: Any, n: Any, k: Any) -> list[bool]:
    """Questions of a function about its arguments, and about others."""

    class Meta(type):
        pass

    class One:
        pass

    made = type("Made", (), {"part": 1})
    total, mask = x.sum(), x > 0
    return [
        *(isinstance(x, np.ndarray), isinstance(x, (list, np.ndarray))),
        *(isinstance(x, list | np.ndarray), isinstance(x, (list, float))),
        *(type(x) is np.ndarray, type(x) is list, issubclass(type(x), np.ndarray)),
        *(isinstance(total, np.floating), isinstance(total, float)),
        *(isinstance(x[0], np.float64), isinstance(x[0], np.ndarray)),
        *(isinstance(mask, np.ndarray), isinstance(mask.any(), np.bool_)),
        *(isinstance(x[mask], np.ndarray), type(x[mask]) is np.ndarray),
        *(type(n) is float, isinstance(n, (int, float)), isinstance(n, int)),
        *(isinstance(k, int), isinstance(k, float), type(k).__name__ == "int"),
        *(isinstance(One, type), isinstance(int, type), type(One()) is One),
        *(made.part == 1, isinstance(made, type), isinstance(Meta("A", (), {}), type)),
        *(int is int, type(int) is type, type(type) is type, type([]) is list),
        *(isinstance(np.zeros(2), np.ndarray), isinstance(np.zeros(2)[0], float)),
    ]


def test_classes_are_those_of_what_arrays_stand_for() -> None:
    arguments = (np.arange(3.0), 2.0, 3)
    found = traceir_numba.jit(classes)(*copy.deepcopy(arguments))
    assert list(map(bool, found)) == classes(*arguments)


def test_a_branch_on_a_class_is_the_one_of_numpy() -> None:
    def total(parts: Any) -> Any:
        if isinstance(parts, np.ndarray):
            return parts.sum()
        return sum(total(part) for part in parts)

    jitted = traceir_numba.jit(total)
    assert jitted(np.ones(3)) == 3 and jitted([np.ones(2), [np.ones(1)]]) == 3
