"""Promotion against JAX's table and NumPy's own. Serves: promote.*, aval.*"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from data_lines import data_lines
from fewer_rows import without
from recorded import Record

from traceir.base.config import enable_x64
from traceir.dtypes import ADDED, NARROW, as_dtype, kind_of
from traceir.ir.avals import ShapedArray
from traceir.ir.promotion import (
    canonical_dtype,
    join,
    promote,
    promote_names,
    python_aval,
)
from traceir.rules import default, load

LATTICE = default().tables["lattice"]
DATA = Record("promotion.txt")
Operand = tuple[str, bool]


def operand(text: str) -> Operand:
    """``float32*`` -> name and weakness."""
    return text.removesuffix("*"), text.endswith("*")


def jax_table() -> Iterator[tuple[bool, Operand, Operand, Operand]]:
    """Rows of the recorded table: x64, two operands, their result."""
    for line in data_lines(DATA):
        flag, *operands = line.split()
        a, b, result = map(operand, operands)
        yield flag == "x64", a, b, result


def test_the_jax_face_promotes_as_jax_does() -> None:
    rows = list(jax_table())
    assert len(rows) == 447
    wrong = [r for r in rows if promote_names([r[1], r[2]], "jax", r[0]) != r[3]]
    assert wrong == []


STORED = sorted(default().dtypes)
KEYS = [name for name, row in default().dtypes.items() if row.kind == "key"]
NUMPYS = [name for name in STORED if name not in (*ADDED, *KEYS)]


def test_the_numpy_face_promotes_as_numpy_does() -> None:
    for count in (1, 2, 3):
        for names in product(NUMPYS, repeat=count):
            found = promote_names([(n, False) for n in names], "numpy", x64=True)
            assert found == (np.result_type(*names).name, False), names


@pytest.mark.parametrize("name", [n for n in NUMPYS if "64" not in n])
def test_bfloat16_meets_others_in_the_numpy_face_as_in_numpys_functions(
    name: str,
) -> None:
    pair = [np.ones(1, as_dtype(n)) for n in ("bfloat16", name)]
    want = pair[0].dtype if name == "bool" else np.multiply(*pair).dtype
    found = promote_names([("bfloat16", False), (name, False)], "numpy", x64=True)
    assert found == (want.name, False)


@pytest.mark.parametrize(
    ("number", "weak"), [(1, "int64"), (1.0, "float64"), (1j, "complex128")]
)
@pytest.mark.parametrize("name", NUMPYS)
def test_python_numbers_are_weak_for_the_numpy_face(
    name: str, number: complex, weak: str
) -> None:
    found = promote_names([(weak, True), (name, False)], "numpy", x64=True)
    assert found == (np.result_type(name, number).name, False)


def test_weak_operands_meet_in_a_weak_dtype() -> None:
    weak = [python_aval(1, x64=False), python_aval(1.0, x64=False)]
    for face in ("jax", "numpy"):
        assert promote(*weak, face=face, x64=False) == (np.dtype("float32"), True)
        assert promote(weak[0], face=face, x64=False) == (np.dtype("int32"), True)


def test_promotion_is_that_of_the_context_unless_told() -> None:
    a, b = ShapedArray((2,), "int32"), ShapedArray((), "uint32")
    assert promote(a, b) == (np.dtype("int32"), False)
    with enable_x64():
        assert promote(a, b) == (np.dtype("int64"), False)
        assert promote(a, b, x64=False) == (np.dtype("int32"), False)


def test_a_dtype_outside_a_face_has_no_bound() -> None:
    with pytest.raises(ValueError, match="float and int8"):
        join(["float*", "int8"], "numpy", default())


@pytest.mark.parametrize("face", ["jax", "numpy"])
@pytest.mark.parametrize("name", sorted(NARROW))
def test_narrow_dtypes_meet_numbers_alone(name: str, face: str) -> None:
    """As JAX's do, which the numpy face has of itself and weak numbers alone."""
    kind = default().dtypes[name].kind
    for other in STORED:
        if other in KEYS or other == name:
            continue
        pair = [(name, False), (other, False)]
        whole = default().dtypes[other].kind in ("boolean", "signed", "unsigned")
        into = other == "bool" or (kind == "floating" and whole and other not in NARROW)
        if face == "jax" and into:
            assert promote_names(pair, face, x64=True) == (name, False)
        else:
            with pytest.raises(ValueError, match=name):
                promote_names(pair, face, x64=True)
    weak = [("int64", True), ("float64", True)][: 1 + (kind == "floating")]
    for number in weak:
        assert promote_names([number, (name, False)], face, x64=True) == (name, False)


def test_promotion_follows_the_rules_that_it_is_given() -> None:
    tables = dict(default().tables)
    edges = {"bool": ["float*"], "float*": ["float64"], "float64": []}
    faces = [{**tables["lattice"]["face"][0], "edges": edges}]
    tables["lattice"] = {**tables["lattice"], "face": faces}

    found = load(tables)
    a, b = ShapedArray((), "bool"), ShapedArray((), "float64")
    assert promote(a, b, x64=True, rules=found) == (np.dtype("float64"), False)
    with pytest.raises(ValueError, match="bool and int8"):
        promote(a, ShapedArray((), "int8"), rules=found)


@pytest.mark.parametrize(
    ("value", "narrow", "wide"),
    [
        (True, ("bool", False), ("bool", False)),
        (2, ("int32", True), ("int64", True)),
        (2.5, ("float32", True), ("float64", True)),
        (2.5j, ("complex64", True), ("complex128", True)),
        (np.zeros(2, "complex128"), ("complex64", False), ("complex128", False)),
        (np.float64(1), ("float32", False), ("float64", False)),
        (np.int8(1), ("int8", False), ("int8", False)),
        (np.zeros((2, 3), "uint64"), ("uint32", False), ("uint64", False)),
    ],
    ids=repr,
)
def test_what_python_values_are(value: Any, narrow: Operand, wide: Operand) -> None:
    for x64, (name, weak) in ((False, narrow), (True, wide)):
        aval = python_aval(value, x64)
        assert aval is ShapedArray(np.shape(value), name, weak)


@pytest.mark.parametrize("rule", sorted(load({"lattice": LATTICE}).clauses))
def test_without_its_row_nothing_is_promoted_or_narrowed(rule: str) -> None:
    less = without(rule)
    table, _, name = rule.rpartition(".")
    if table == "aval.canonical":
        dtype = np.dtype(name)
        assert canonical_dtype(dtype, False, less) == dtype
        return
    with pytest.raises(KeyError, match=name):
        if table == "promote":
            promote(python_aval(1), python_aval(1.0), face=name, rules=less)
        else:
            value = {"bool": True, "int": 1, "float": 1.0, "complex": 1j}[name]
            python_aval(value, rules=less)


class Whole(int):
    """An integer of a class of its own."""


def test_a_subclass_of_a_number_is_that_number() -> None:
    assert python_aval(Whole(3)) is python_aval(3)


@pytest.mark.parametrize("value", ["a", None, [1], object()])
def test_what_is_no_value_is_refused(value: object) -> None:
    with pytest.raises(TypeError) as caught:
        python_aval(value)
    assert getattr(caught.value, "rule", None) == "jit.argument"
    assert type(value).__name__ in str(caught.value)


@pytest.mark.parametrize("dtype", ["U1", "O", "G", "M8[D]", "i4,f4", "g"])
def test_arrays_of_other_dtypes_are_refused(dtype: str) -> None:
    with pytest.raises(TypeError) as caught:
        python_aval(np.zeros(1, dtype))
    assert getattr(caught.value, "rule", None) == "jit.dtype"
    assert np.dtype(dtype).name in str(caught.value)


def test_an_integer_must_fit_its_dtype() -> None:
    for value, x64 in ((2**31, False), (-(2**31) - 1, False), (2**63, True)):
        with pytest.raises(OverflowError) as caught:
            python_aval(value, x64)
        assert getattr(caught.value, "rule", None) == "jit.overflow"
    assert python_aval(2**31 - 1, False).dtype == np.dtype("int32")
    assert python_aval(-(2**63), True).dtype == np.dtype("int64")


def test_dtypes_narrow_while_64_bit_types_are_off() -> None:
    for name in STORED:
        dtype = as_dtype(name)
        assert canonical_dtype(dtype, x64=True) == dtype
        narrow = canonical_dtype(dtype, x64=False)
        assert kind_of(narrow) == kind_of(dtype)
        if name in KEYS:
            assert narrow == dtype
            continue
        parts = 2 if kind_of(dtype) == "c" else 1
        assert narrow.itemsize == min(dtype.itemsize, 4 * parts)
