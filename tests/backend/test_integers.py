"""Integers of all widths: wrapping, division, conversion, as the evaluator has them."""

from __future__ import annotations

import pytest
from compiling import compiled, reference, same_bits
from integer_programs import WIDTHS, arithmetic, conversion, converted, operands


@pytest.mark.parametrize("dtype", WIDTHS)
def test_arithmetic_wraps_and_nothing_is_undefined(dtype: str) -> None:
    text, (x, y) = arithmetic(dtype), operands(dtype)
    assert same_bits(compiled(text).run(x, y), reference(text, x, y))


@pytest.mark.parametrize("floating", ["float32", "float64"])
@pytest.mark.parametrize("dtype", WIDTHS)
def test_conversions_saturate_and_round(dtype: str, floating: str) -> None:
    text, (a, b) = conversion(dtype, floating), converted(dtype, floating)
    assert same_bits(compiled(text).run(a, b), reference(text, a, b))
