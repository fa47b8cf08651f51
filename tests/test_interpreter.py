"""The requirements of evaluating a program. Rules: eval.constants, eval.arguments"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import traceir
from traceir.errors import TraceirError

OUTER = "{ lambda c:f32[2]; a:f32[2]. let b:f32[2] = mul c a in (b,) }"
INNER = (
    "{ lambda ; a:f32[2]. let b:f32[2] = jit[name=f "
    "jaxpr={ lambda c:f32[2]; a:f32[2]. let b:f32[2] = mul c a in (b,) }] a in (b,) }"
)
TWO = np.array([1.0, 2.0], "float32")


def evaluated(text: str, consts: Sequence[object], *args: object) -> object:
    """The one result of a program."""
    (result,) = traceir.eval_jaxpr(traceir.parse(text), consts, *args)
    return result.tolist()


def test_a_value_from_elsewhere_will_do() -> None:
    assert evaluated(OUTER, (TWO,), TWO) == [1.0, 4.0]
    assert evaluated(OUTER, [[1, 2]], [3, 4]) == [3.0, 8.0]


@pytest.mark.parametrize(
    "call, rule, got",
    [
        (lambda: evaluated(OUTER, (), TWO), "eval.constants", "0 values for 1"),
        (lambda: evaluated(OUTER, (TWO, TWO), TWO), "eval.constants", "2 values for 1"),
        (lambda: evaluated(INNER, (), TWO), "eval.constants", "0 values for 1"),
        (lambda: evaluated(OUTER, (TWO,)), "eval.arguments", "0 arguments for 1"),
        (
            lambda: evaluated(OUTER, (TWO,), TWO[:1]),
            "eval.arguments",
            "shape (1,) for f32[2]",
        ),
    ],
)
def test_what_is_missing_is_told(
    call: Callable[[], object], rule: str, got: str
) -> None:
    with pytest.raises(TraceirError) as caught:
        call()
    assert isinstance(caught.value, TypeError)
    assert caught.value.rule == rule and got in caught.value.got
    assert Path(__file__).name in str(caught.value)
