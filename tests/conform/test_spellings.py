"""The table of elements' spellings: what it says is read is read, and nothing else.

Serves: every table
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress

import pytest

from traceir.conform.judging.answers import Malformed
from traceir.conform.protocol.decoding import read_array, reading
from traceir.rules import default, spec_path

ROW = re.compile(
    r"   \* - (.+?)\n     - (.+?)\n     - (.+?)\n     - (.+?)\n", re.DOTALL
)


def table() -> list[list[list[str]]]:
    """The cells of the table, each as the texts in it that are literal."""
    chapter = (spec_path() / "data.rst").read_text(encoding="utf-8")
    part = chapter.partition("These are all dtypes")[2].partition("A NaN of certain")[0]
    _, *rows = ROW.findall(part)
    return [[re.findall(r"``(.+?)``", cell) for cell in row] for row in rows]


def is_read(dtype: str, element: str) -> bool:
    """True if an element of the table is one of a dtype's."""
    aval = {"dtype": dtype, "shape": [], "weak": False}
    with suppress(Malformed):
        data = {"type": aval, "elements": [json.loads(element)]}
        return reading("an array", read_array, data).array.dtype is not None
    return False


def has(dtype: str, element: str) -> bool:
    """True if a dtype has a number, as the lattice says it."""
    row, text = default().lattice.dtypes[dtype], json.loads(element)
    if row.kind in ("signed", "unsigned"):
        return bool(row.min <= int(text) <= row.max)
    if row.kind != "floating":
        return True
    number = float.fromhex(text)
    if math.isnan(number):
        return row.beyond != "max"
    if math.isinf(number):
        return row.beyond == "inf"
    if not number:
        return row.zero != "none"
    fraction = math.frexp(number)[0] * 2.0**row.digits
    exact = fraction.is_integer() and not math.fmod(number, row.least)
    return bool(exact and row.min <= number <= row.max)


def test_the_table_has_all_dtypes() -> None:
    names = [name for dtypes, *_ in table() for name in dtypes]
    assert sorted(names) == sorted(default().dtypes)


@pytest.mark.parametrize("row", range(5))
def test_the_table_is_right(row: int) -> None:
    dtypes, _, right, wrong = table()[row]
    assert right and wrong
    for name in dtypes:
        unsigned = name.startswith("u")
        asked = [e for e in right if not (unsigned and e.startswith('"-'))]
        assert [e for e in asked if is_read(name, e) != has(name, e)] == []
        assert [e for e in wrong if is_read(name, e)] == []
