"""Draws of the state machines of the cache and the levels: arguments and functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from traceir.conform.casefiles.values import HostName, TypedValue
from traceir.ir.avals import ShapedArray


def value(shape: tuple[int, ...], dtype: str, weak: bool, start: int) -> TypedValue:
    """An array of small numbers."""
    array = np.arange(start, start + int(np.prod(shape))).astype(dtype)
    return TypedValue(ShapedArray(shape, dtype, weak), array.reshape(shape))


DTYPES = ("bool", "int32", "float32", "int64", "float64")
numbers = st.sampled_from([0, 1, 2, True, False, 0.0, -0.0, 1.0, 2.5, float("nan")])
strong = st.builds(
    value,
    st.sampled_from([(), (1,), (2,), (1, 2)]),
    st.sampled_from(DTYPES),
    st.just(False),
    st.integers(0, 3),
)
weak = st.builds(
    value,
    st.just(()),
    st.sampled_from(("int32", "float32")),
    st.just(True),
    st.integers(0, 3),
)
foreign = st.builds(
    lambda dtype, number: np.dtype(dtype).type(number),
    st.sampled_from(DTYPES),
    st.integers(0, 2),
)
leaves = strong | weak | numbers | foreign


def trees_of(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Trees of such leaves."""
    return st.recursive(
        leaf | st.none(),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.lists(inner, max_size=2).map(tuple)
            | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
        ),
        max_leaves=4,
    )


trees = trees_of(leaves)
plain = st.sampled_from(
    [None, "a", b"a", np.int64(1), np.int32(1), np.float32(0), np.float32(-0.0)]
)
hashable = st.recursive(
    numbers | plain | st.sampled_from([HostName("o"), HostName("p"), HostName("q")]),
    lambda inner: st.lists(inner, max_size=2).map(tuple) | st.frozensets(inner),
    max_leaves=3,
)
statics = hashable | st.sampled_from([[1], {"a": 1}])
transforms = st.sampled_from(
    [*["jit"] * 4, "make_jaxpr", "eval_shape", "trace", "lower", "eager"]
)

ASKS = (
    *("host_bool", "host_number", "host_index", "host_array", "host_item"),
    *("host_format", "host_attribute", "host_shape", "host_len", "host_print"),
    "host_hash",
)


@st.composite
def bodies(
    draw: st.DrawFn,
    callable_: list[str],
    leaks: bool = True,
    asks: Sequence[str] = ASKS,
) -> str:
    """Equations that compute, ask, leak, use what leaked and call other functions."""
    names, equations = ["x"], []
    for n in range(draw(st.integers(1, 4))):
        a, b = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        kinds = ["mul", "gt", "constant", *["leak", "leaked"] * leaks]
        kind = draw(st.sampled_from([*kinds, "ask", *["call"] * bool(callable_) * 3]))
        match kind:
            case "mul" | "gt":
                equations.append(f"v{n} = operator.{kind} {a} {b}")
            case "constant":
                equations.append(f"v{n} = operator.mul {a} 2")
            case "leak":
                equations.append(f"v{n} = host_leak {a}")
            case "leaked":
                equations.append(f"v{n} = host_leaked")
            case "ask":
                equations.append(f"{draw(st.sampled_from(asks))} {a}")
            case _:
                equations.append(f"v{n} = {draw(st.sampled_from(callable_))} {a}")
        if kind != "ask":
            names.append(f"v{n}")
    result = draw(st.sampled_from(names))
    return f"{{ lambda ; x. let {' ; '.join(equations)} in ({result},) }}"
