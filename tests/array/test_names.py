"""Names that are no functions of arrays: kinds of dtypes, texts, files, constants.

Cites face.dtype
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp

KINDS = [
    (jnp.generic, "biufc"),
    (jnp.number, "iufc"),
    (jnp.integer, "iu"),
    (jnp.signedinteger, "i"),
    (jnp.unsignedinteger, "u"),
    (jnp.inexact, "fc"),
    (jnp.floating, "f"),
    (jnp.complexfloating, "c"),
    (jnp.flexible, ""),
    (jnp.character, ""),
    (jnp.object_, ""),
]
DTYPES = {
    "b": jnp.bool,
    "i": jnp.int16,
    "u": jnp.uint64,
    "f": jnp.float16,
    "c": jnp.complex64,
}


@pytest.mark.parametrize(("kind", "members"), KINDS)
def test_a_dtype_is_of_its_kinds(kind: type, members: str) -> None:
    assert {k for k, d in DTYPES.items() if jnp.issubdtype(d, kind)} == set(members)


def test_dtypes_have_several_names() -> None:
    assert (jnp.single, jnp.double) == (jnp.float32, jnp.float64)
    assert (jnp.csingle, jnp.cdouble) == (jnp.complex64, jnp.complex128)
    assert (jnp.int_, jnp.uint) == (jnp.int64, jnp.uint64)
    assert jnp.bool == jnp.bool_
    assert jnp.euler_gamma == np.euler_gamma


def test_the_text_of_an_array() -> None:
    x = jnp.array([0.123456, 1.0])
    assert jnp.array_str(x, precision=2) == "[0.12 1.  ]"
    assert jnp.array_repr(x, precision=2) == "Array([0.12, 1.  ], dtype=float32)"
    with jnp.printoptions(precision=3):
        assert str(x) == "[0.123 1.   ]"
        assert jnp.get_printoptions()["precision"] == 3
        jnp.set_printoptions(precision=1)
        assert str(x) == "[0.1 1. ]"


def test_arrays_in_files(tmp_path: Path) -> None:
    x, y = jnp.arange(3), jnp.ones((2, 2))
    jnp.save(tmp_path / "x.npy", x)
    found = jnp.load(tmp_path / "x.npy")
    assert isinstance(found, traceir.Array)
    np.testing.assert_array_equal(found, x)
    jnp.savez(tmp_path / "both.npz", x=x, y=y)
    with jnp.load(tmp_path / "both.npz") as both:
        np.testing.assert_array_equal(both["y"], y)
    (tmp_path / "raw").write_bytes(np.arange(4.0).tobytes())
    np.testing.assert_array_equal(jnp.fromfile(tmp_path / "raw"), [0, 1, 2, 3])


def test_arrays_of_what_is_no_array() -> None:
    floats = np.arange(3.0).tobytes()
    np.testing.assert_array_equal(jnp.frombuffer(floats, count=2, offset=8), [1, 2])
    np.testing.assert_array_equal(jnp.fromstring("1,2", sep=","), [1, 2])
    np.testing.assert_array_equal(jnp.fromiter(iter([1, 2, 3]), "u1", 2), [1, 2])
    file = io.BytesIO()
    jnp.save(file, jnp.float32(2))
    file.seek(0)
    assert jnp.load(file) == 2


def test_what_is_a_scalar_and_what_has_elements() -> None:
    assert [jnp.isscalar(v) for v in (1, 2.5, "a", jnp.int8(1), np.ones(()))] == [
        True
    ] * 5
    assert not any(jnp.isscalar(v) for v in (None, [1], jnp.ones(1)))
    assert jnp.iterable(jnp.ones(1)) and not jnp.iterable(jnp.float32(1))


def test_a_remainder_is_trimmed_when_it_is_asked_for() -> None:
    u, v = np.array([3.0, 5.0, 2.0]), np.array([2.0, 1.0])
    quotient, rest = jnp.polydiv(jnp.array(u), jnp.array(v), trim_leading_zeros=True)
    want = np.polydiv(u, v)
    np.testing.assert_array_equal(quotient, want[0])
    np.testing.assert_array_equal(rest, want[1])
    product = jnp.polymul(jnp.array([0, 1]), jnp.array(v), trim_leading_zeros=True)
    np.testing.assert_array_equal(product, [2, 1])


def test_dtypes_are_those_of_numpy() -> None:
    ours = [
        *(jnp.int8, jnp.int16, jnp.int32, jnp.int64, jnp.int_),
        *(jnp.uint8, jnp.uint16, jnp.uint32, jnp.uint64, jnp.uint),
        *(jnp.float16, jnp.float32, jnp.float64, jnp.single, jnp.double, jnp.bool_),
    ]
    theirs = [
        *(np.int8, np.int16, np.int32, np.int64, np.int64),
        *(np.uint8, np.uint16, np.uint32, np.uint64, np.uint64),
        *(np.float16, np.float32, np.float64, np.single, np.double, np.bool_),
    ]
    assert [jnp.dtype(d) for d in ours] == [np.dtype(d) for d in theirs]
    assert isinstance(jnp.arange(2), jnp.ndarray) and not isinstance(1, jnp.ndarray)
    assert jnp.promote_types("int8", jnp.uint8) == np.promote_types("i1", "u1")
    # Python's types are as weak as their numbers.
    assert jnp.result_type("int8", int) == np.int8
    assert jnp.result_type(jnp.float16, float) == np.float16
    assert jnp.result_type(int, float) == np.float32


def test_result_type_of_what_has_a_dtype() -> None:
    class Typed:
        def __init__(self, name: str) -> None:
            self.dtype = np.dtype(name)

    assert jnp.result_type(Typed("int8"), 1.0) == np.float32
    assert jnp.result_type(Typed("float16"), 1.0) == np.float16
    assert jnp.result_type(Typed("float64")) == np.float32
    with traceir.enable_x64(True):
        assert jnp.result_type(Typed("float64")) == np.float64
