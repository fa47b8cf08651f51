"""The requirements of evaluating a program. Rules: eval.constants, eval.arguments"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import traceir
from traceir import lax
from traceir.errors import TraceirError
from traceir.rules import default

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


FOLDS: dict[str, Callable[..., Any]] = {
    "reduce_sum": lambda x: x.sum(1),
    "reduce_prod": lambda x: x.prod(0),
    "cumsum": lambda x: lax.cumsum(x, 0),
    "cumprod": lambda x: lax.cumprod(x, 1, reverse=True),
    "fft": lambda x: lax.fft(x + 0j, "fft", x.shape[-1:]),
    "dot_general": lambda x: x @ x.T,
    "regularized_incomplete_beta": lambda x: lax.betainc(x, x, x / 2),
    "conv": lambda x: lax.conv(x[None, None], x[None, None, :3, :3], (1, 1), "SAME"),
}
FUNCTIONS = [
    row.name
    for row in default().prims.values()
    if row.accuracy in ("ulp", "conditioned") and row.name not in FOLDS
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", [*FOLDS, *FUNCTIONS])
def test_the_order_of_memory_decides_no_bit(name: str, dtype: str) -> None:
    """Of contiguous arrays, views of parts, and arrays written in another order."""
    arity = 1 if name in FOLDS else default().prims[name].arity
    draws = np.random.default_rng(0).uniform(0.5, 1.5, (2, arity, 33, 65))
    operands = list(draws[0].astype(dtype))
    if dtype == "complex64":
        operands = [(x + 0.5j * y).astype(dtype) for x, y in zip(*draws, strict=True)]
    function = FOLDS.get(name) or getattr(lax, name)
    with traceir.enable_x64(True):
        try:
            program = traceir.make_jaxpr(function)(*operands)
        except TypeError as error:
            assert "complex" in str(error) and dtype == "complex64"
            return
    wanted = [a.tobytes() for a in traceir.eval_jaxpr(program, (), *operands)]
    for given in (
        [np.repeat(a, 2, -1)[:, ::2] for a in operands],
        [np.asfortranarray(a) for a in operands],
    ):
        got = traceir.eval_jaxpr(program, (), *given)
        assert [a.tobytes() for a in got] == wanted
