"""Random programs under random compositions of transforms: each backend as the other.

Its type and values, and what its text gives when it is read again.

Cites derive.*, vmap.*, control.*, text.*. A draw that fails is printed as a case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st
from soak import examples

import traceir
from traceir.conform.drawing.chains import Chain, chains
from traceir.conform.drawing.steps import Fun
from traceir.conform.drawing.strategies import arrays
from traceir.conform.drawing.written import as_case
from traceir.dtypes import is_key
from traceir.errors import TraceirError
from traceir.text import parse, to_text
from traceir.tracing.staging import apply

# Steps whose programs hold a function of Python's, which has no text.
CUSTOM = frozenset({"custom_jvp", "custom_vjp"})
# Each example traces and compiles several programs.
FEW = examples(5)


def ours(chain: Chain) -> Fun:
    """The function that the chain makes."""
    return chain.function(traceir, lambda *xs: apply(chain.program, xs))


def results(chain: Chain, args: Sequence[Any], backend: str) -> list[Any]:
    """The results of the whole chain under `jit` with a backend."""
    return list(traceir.jit(ours(chain), backend=backend)(*args))


def drawn(data: st.DataObject) -> tuple[Chain, list[Any]]:
    """A chain and its arguments, noted as a case; weak ones are numbers of Python."""
    chain = data.draw(chains())
    avals = chain.avals(traceir, lambda *xs: apply(chain.program, xs))
    args = [data.draw(arrays(a, True)) for a in avals]
    note(f"{as_case('fuzz/transforms', chain.program, args)}\n  under  {chain}")
    weak = [a.weak_type and a.dtype.name in ("int32", "float32") for a in avals]
    return chain, [a.item() if w and not a.shape else a for a, w in zip(args, weak)]


def eager(arg: Any) -> Any:
    """The argument with the methods of an array; keys are made of their words."""
    if isinstance(arg, np.ndarray) and arg.dtype.names:
        return traceir.random.wrap_key_data(traceir.numpy.asarray(arg["words"]))
    return traceir.numpy.asarray(arg)


def assert_alike(got: Sequence[Any], want: Sequence[Any]) -> None:
    """Equal types, and values as near as sums in another order may be."""
    forms = [
        [(a.shape, str(a.dtype), a.weak_type) for a in some] for some in (got, want)
    ]
    assert forms[0] == forms[1]
    for g, w in zip(map(numbers, got), map(numbers, want), strict=True):
        if g.dtype.kind not in "fc":
            np.testing.assert_array_equal(g, w)
            continue
        finite = np.isfinite(w) & (np.abs(w) < 1e30)
        scale = float(np.max(np.abs(w[finite]), initial=1.0))
        np.testing.assert_allclose(g[finite], w[finite], rtol=1e-4, atol=1e-5 * scale)


def numbers(result: Any) -> np.ndarray:
    """The elements of a result; of keys, their words, whoever made them."""
    array = getattr(result, "_base_array", result)  # as JAX holds keys
    if array is result and str(result.dtype).startswith("key"):
        array = traceir.random.key_data(result)
    return np.asarray(array)


def test_other_words_or_parts_are_not_alike() -> None:
    """The comparison sees other words and parts."""
    one, other = traceir.random.key(1), traceir.random.key(2)
    assert_alike([one], [traceir.random.key(1)])
    with pytest.raises(AssertionError):
        assert_alike([one], [other])
    part = traceir.numpy.asarray(np.complex64(1 + 2j))
    assert_alike([part], [part + np.float32(1e-6)])
    with pytest.raises(AssertionError):
        assert_alike([part], [part.conj()])


@settings(max_examples=FEW)
@given(st.data())
def test_a_chain_is_the_same_on_both_backends(data: st.DataObject) -> None:
    chain, args = drawn(data)
    want = results(chain, args, "reference")
    assert_alike(results(chain, args, "numba"), want)


@settings(max_examples=FEW)
@given(st.data())
def test_a_chain_is_the_same_with_and_without_jit(data: st.DataObject) -> None:
    chain, args = drawn(data)
    found = map(eager, ours(chain)(*map(eager, args)))
    assert_alike(list(found), results(chain, args, "reference"))


@settings(max_examples=FEW)
@given(st.data())
def test_the_text_of_a_chain_is_its_program(data: st.DataObject) -> None:
    chain, args = drawn(data)
    own = chain.program.jaxpr
    # A key is no array of NumPy's, as which arguments and constants are drawn.
    assume(not any(is_key(v.aval.dtype) for v in (*own.invars, *own.constvars)))
    closed = traceir.make_jaxpr(ours(chain))(*args)
    traceir.check(closed)
    try:
        text = to_text(closed, full=True)
    except TraceirError as error:
        assert error.rule == "text.opaque" and CUSTOM.intersection(chain.steps)
        return
    again = parse(text)
    assert again == closed
    values = [np.asarray(a, t.dtype) for a, t in zip(args, closed.in_avals)]
    found = [list(map(eager, apply(program, values))) for program in (again, closed)]
    assert_alike(*found)


@settings(max_examples=FEW)
@given(st.data())
def test_a_chain_is_what_jax_makes_of_it(data: st.DataObject) -> None:
    jax = pytest.importorskip("jax", reason="this is compared with JAX itself")
    from traceir.conform.jax.system import JaxSystem

    chain, args = drawn(data)
    program = JaxSystem().function(chain.program)

    def function(*xs: Any) -> list[Any]:
        found = program(*xs)
        return list(found) if isinstance(found, tuple) else [found]

    want = jax.jit(chain.function(jax, function))(*args)
    assert_alike(results(chain, args, "reference"), want)
