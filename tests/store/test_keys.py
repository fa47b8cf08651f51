"""The keys of programs: what must decide them does, and what must not does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corpus.program import corpus

import traceir
import traceir.numpy as jnp
from traceir.errors import TraceirError
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.text.parser import parse
from traceir.text.printer import to_text
from traceir_numba import cost_model
from traceir_numba.store.keys import program_key

X = np.ones(4, np.float32)


def key(f: Any, *args: Any) -> str | None:
    return program_key(traceir.make_jaxpr(f)(*args), "f")


def test_equal_traces_have_one_key() -> None:
    def one(x: Any) -> Any:
        return jnp.sin(x) * 2

    def other(y: Any) -> Any:
        # The same, on other lines.
        z = jnp.sin(y)
        return z * 2

    assert key(one, X) == key(other, X) is not None


TWINS = {
    "a literal": ["add a 1.0:f32[]", "add a 2.0:f32[]"],
    "the sign of a zero": ["add a 0.0:f32[]", "add a -0.0:f32[]"],
    "an operand": ["add a b", "add b a"],
    "a primitive": ["add a b", "mul a b"],
    "a param": ["rev[dimensions=(0,)] a", "rev[dimensions=()] a"],
}


@pytest.mark.parametrize("twins", TWINS.values(), ids=TWINS)
def test_programs_that_differ_have_different_keys(twins: list[str]) -> None:
    texts = [
        f"{{ lambda ; a:f32[4] b:f32[4]. let c:f32[4] = {eqn} in (c,) }}"
        for eqn in twins
    ]
    found = {program_key(parse(text), "f") for text in texts}
    assert len(found) == 2 and None not in found


def test_types_names_and_constants_decide() -> None:
    found = {
        key(lambda x: x + X, X),
        key(lambda x: x + X, X[:1]),
        key(lambda x: x + X, X.astype(np.int32)),
        key(lambda x: x + 2 * X, X),
        program_key(traceir.make_jaxpr(lambda x: x + X)(X), "g"),
    }
    assert len(found) == 5 and None not in found


def test_large_constants_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_model, "STORE_KEY_BYTES", X.nbytes - 1)
    assert key(lambda x: x + X, X) is None


def test_a_param_without_text_has_no_key() -> None:
    closed = parse("{ lambda ; a:f32[4]. let b:f32[4] = neg a in (b,) }")
    eqn = closed.jaxpr.eqns[0]
    object.__setattr__(eqn, "params", (("what", frozenset({1})),))
    assert program_key(closed, "f") is None


def test_functions_that_are_never_called_do_not_decide() -> None:
    """Those of a derivative stand in the program, and have no part in its code."""

    def with_rule() -> Any:
        f = traceir.custom_jvp(lambda x: x * x)
        f.defjvp(lambda x, t: (f(*x), 3 * t[0]))
        return f

    assert key(with_rule(), X) == key(with_rule(), X) is not None


def test_programs_read_from_text_have_the_same_key_and_others_have_others() -> None:
    found: dict[str | None, ClosedJaxpr] = {}
    for case in corpus():
        with case.context(traceir):
            arguments = case.python(traceir)
            closed = traceir.make_jaxpr(case.bound(traceir))(*arguments)
        own = program_key(closed, "f")
        assert own is not None
        try:
            text = to_text(closed, full=True)
        except TraceirError:
            continue  # it holds a function, of which text has only the name
        assert program_key(parse(text), "f") == own
        assert found.setdefault(own, closed) == closed
    assert len(found) > 100
