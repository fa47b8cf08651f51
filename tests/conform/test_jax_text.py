"""Text that JAX prints: it is read, printed again as it was, checked and run.

Rules: text.roundtrip, text.spelling, text.layout
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from jaxprs import DATA, RECORDED

from traceir.errors import TraceirError
from traceir.ir.jaxpr import ClosedJaxpr, Eqn
from traceir.ir.typecheck import check
from traceir.reference import interpreter
from traceir.rules import default
from traceir.text import parse, to_text

SEEDS = sorted((DATA / "seeds").glob("*.jaxpr"))


@pytest.mark.parametrize("text", RECORDED)
def test_jax_text_prints_as_it_was_read(text: str) -> None:
    assert str(parse(text)) == text


@pytest.mark.parametrize("text", RECORDED)
def test_full_text_is_lossless_for_jax_text(text: str) -> None:
    closed = parse(text)
    again = parse(to_text(closed, full=True))
    assert again == closed
    assert str(again) == text


@pytest.mark.parametrize("text", RECORDED)
def test_jax_text_checks(text: str) -> None:
    closed = parse(text)
    unknown = {e.primitive for e in _all_eqns(closed)} - set(default().prims)
    if unknown:
        with pytest.raises(TraceirError, match=r"program\.primitive"):
            check(closed)
    else:
        check(closed)


@pytest.mark.parametrize("path", SEEDS, ids=lambda p: p.stem)
def test_seed_text_parses_checks_and_runs(path: Path) -> None:
    closed = parse(path.read_text(encoding="utf-8"))
    check(closed)
    args = [np.ones(a.shape, a.dtype) for a in closed.in_avals]
    results = interpreter.eval_jaxpr(closed, (), *args)
    wanted = [(a.shape, a.dtype) for a in closed.out_avals]
    assert [(r.shape, r.dtype) for r in results] == wanted


def test_seed_spellings_become_todays() -> None:
    closed = parse((DATA / "seeds" / "000-fn.jaxpr").read_text(encoding="utf-8"))
    assert str(closed) == (
        "{ lambda ; a:f32[100]. let\n"
        "    b:f32[] = jit[\n"
        "      name=fn\n"
        "      jaxpr={ lambda ; a:f32[100]. let\n"
        "          c:f32[100] = integer_pow[y=2] a\n"
        "          d:f32[100] = integer_pow[y=3] a\n"
        "          e:f32[100] = sub c d\n"
        "          f:f32[100] = sub e a\n"
        "          b:f32[] = reduce_sum[axes=(0,) out_sharding=None] f\n"
        "        in (b,) }\n"
        "    ] a\n"
        "  in (b,) }"
    )


def _all_eqns(closed: ClosedJaxpr) -> list[Eqn]:
    found = list(closed.eqns)
    for eqn in closed.eqns:
        for _, value in eqn.params:
            if isinstance(value, ClosedJaxpr):
                found += _all_eqns(value)
    return found
