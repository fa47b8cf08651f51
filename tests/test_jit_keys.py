"""Equal raw keys imply equal keys: the hot path joins nothing. Cites: cache.key.*"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as settings_
from hypothesis import strategies as st
from soak import examples

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir.base import config, cost_model
from traceir.jit.cache.cache_key import KeyTable
from traceir.jit.cache.signature import bind_arguments, form_of, resolve_static
from traceir.jit.cache.trace_cache import GUARD
from traceir.jit.hot_path.guard_codegen import MISS
from traceir.jit.hot_path.raw_keys import raw_key
from traceir.jit.staging import prepare
from traceir.pytrees import flatten
from traceir.rules import default, walk

DTYPES = ["bool", "int32", "int64", "float32", "float64"]
floats_ = st.sampled_from(["bool", "float32", "float64"])


def sortable(tree: dict[Any, Any]) -> bool:
    """True if a dict is a tree: its keys have an order."""
    return len({isinstance(key, str) for key in tree}) < 2


arrays = st.builds(
    lambda shape, dtype: np.ones(shape, dtype),
    st.sampled_from([(), (1,), (2,), (1, 2)]),
    st.sampled_from(DTYPES),
)
numbers = st.sampled_from([0, 1, True, False, 0.0, -0.0, 1.0, float("nan")])
scalars = st.builds(lambda x, dtype: np.dtype(dtype).type(x), numbers, floats_)
leaves = arrays | numbers | scalars | arrays.map(jnp.asarray) | numbers.map(jnp.asarray)
keys_ = st.sampled_from(["a", "b", 0, True, 1.0])


class Pair(NamedTuple):
    """A named tuple."""

    x: Any
    y: Any


class Twin(NamedTuple):
    """The same, of another type."""

    x: Any
    y: Any


@traceir.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    """A dataclass with metadata."""

    x: Any
    kind: Any = dataclasses.field(metadata={"static": True})


class Box:
    """A class with metadata that is registered by functions."""

    def __init__(self, kind: Any, *parts: Any) -> None:
        self.kind, self.parts = kind, parts


traceir.tree_util.register_pytree_node(
    Box, lambda box: (iter(box.parts), box.kind), lambda kind, parts: Box(kind, *parts)
)
kinds = st.sampled_from([0, 1, True, 1.0, 0.0, -0.0, "a", None, int, (1,), (True, "a")])


def nodes(inner: Any) -> Any:
    """Nodes of all kinds."""
    texts = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    return (
        st.lists(inner, max_size=2)
        | st.lists(inner, max_size=2).map(tuple)
        | st.dictionaries(keys_, inner, max_size=2).filter(sortable)
        | st.builds(Pair, inner, inner)
        | st.builds(Twin, inner, inner)
        | st.builds(Layer, inner, kinds)
        | st.builds(lambda kind, parts: Box(kind, *parts), kinds, st.lists(inner))
        | st.builds(OrderedDict, texts)
        | st.builds(defaultdict, st.sampled_from([int, list]), texts)
    )


trees = st.recursive(leaves | st.none(), nodes, max_leaves=4)
statics = numbers | st.sampled_from(
    [
        *("a", None, (1,), (1.0,), (True,), frozenset([1]), frozenset([True])),
        *(b"a", 1j, complex(0.0, -0.0), 0j, np.float32(0), np.float32(-0.0), int),
        *(("a", "b"), ("a", ("b",)), np.datetime64(1, "D"), np.datetime64(1, "Y")),
    ]
)
calls = st.tuples(trees, leaves, statics, st.sampled_from(["pos", "kw", "mixed"]))


def function(x: Any, y: Any, n: Any) -> Any:
    return x


FORM = form_of(function)
STATIC = resolve_static(FORM.signature, None, "n")


# Every flag at any of its values.
settings = st.fixed_dictionaries(
    {name: st.sampled_from(flag.values) for name, flag in config.FLAGS.items()}
)


@contextmanager
def flags(values: dict[str, Any]) -> Iterator[None]:
    """The configuration with these values."""
    with ExitStack() as scopes:
        for name, value in values.items():
            scopes.enter_context(config.scope(name, value))
        yield


def keys(call: Any, values: dict[str, Any], face: str = "jax") -> tuple[Any, Any]:
    """The raw key and the key by the rows of one call."""
    x, y, n, how = call
    args = {"pos": (x, y, n), "kw": (), "mixed": (x,)}[how]
    given_ = {"x": x, "y": y, "n": n}
    kwargs = dict(list(given_.items())[len(args) :])
    with flags(values):
        raw = raw_key(config.current(), args, kwargs, STATIC)
        prepared = prepare(bind_arguments(FORM, STATIC, args, kwargs), face)
    return raw, KeyTable(default()).key(prepared.call)


@given(calls, calls, settings, settings, st.sampled_from(["jax", "numpy"]))
def test_equal_raw_keys_imply_equal_keys(
    a: Any, b: Any, c: Any, d: Any, face: str
) -> None:
    raw_a, key_a = keys(a, c, face)
    for call, values in ((b, d), (a, d), (b, c)):
        raw_b, key_b = keys(call, values, face)
        if raw_a is not None and raw_a == raw_b:
            assert key_a == key_b


@given(calls, settings, settings)
def test_the_flags_of_the_key_alone_split(call: Any, c: Any, d: Any) -> None:
    split = [name for name, row in default().flags.items() if row.key]
    same = all(c[name] == d[name] for name in split)
    assert (keys(call, c)[1] == keys(call, d)[1]) == same


def test_trees_and_numpy_scalars_have_raw_keys() -> None:
    def raw(*args: Any) -> Any:
        return raw_key(config.current(), args, {}, None)

    x = jnp.arange(3)
    assert raw({"w": x, "b": (1, np.float32(2))}, [None, x]) is not None
    assert raw({"w": x}) == raw({"w": x + 1}) != raw({"v": x})
    assert raw((x,)) != raw([x]) != raw(x)
    assert raw(np.float64(1)) != raw(1.0)
    # Equal keys of other types make other trees.
    assert raw({1: x}) is raw({True: x}) is None
    assert raw({"w": {"text"}}) is None
    # What nodes are made of beside their leaves counts.
    assert raw(Pair(x, 1)) == raw(Pair(x + 1, 2)) != raw(Twin(x, 1))
    assert raw(Layer(x, 1)) == raw(Layer(x, 1)) != raw(Layer(x, True))
    assert raw(Box("a", x)) == raw(Box("a", x)) != raw(Box("b", x))
    assert raw(Box([], x)) is None
    assert raw(OrderedDict(a=x, b=x)) != raw(OrderedDict(b=x, a=x))
    # Known arguments are told apart beside the raw key.
    assert raw("text") == raw("other") != raw(len)


def test_a_tree_that_hits_gives_the_leaves_in_their_order() -> None:
    f = traceir.jit(lambda d: d["a"] - d["b"][0])
    for _ in range(2):
        assert float(f({"a": 5.0, "b": (2.0, None)})) == 3
        assert float(f({"b": (2.0, None), "a": 5.0})) == 3
    assert f.cache_info() == (3, 1, 1, 1)


@given(calls, st.booleans())
def test_the_rows_alone_decide(call: Any, x64: bool) -> None:
    _, key = keys(call, {"enable_x64": x64})
    table = default()
    assert len(key) == len(table.keys)
    x, y, n, _ = call
    with config.enable_x64(x64):
        bound = bind_arguments(FORM, STATIC, (x, y, n), {})
        prepared = prepare(bound, "jax")
    for row, part in zip(table.keys, key, strict=True):
        if row.per == "leaf":
            walked = tuple(walk(row.part, {"v": a}) for a in prepared.call.avals)
            assert part == walked


def test_every_form_of_call_gives_the_same_result() -> None:
    f = traceir.jit(lambda x, y, n: x - y * n, static_argnames="n")
    for _ in range(2):
        assert float(f(5.0, 2.0, 2)) == 1
        assert float(f(5.0, y=2.0, n=2)) == 1
        assert float(f(n=2, y=2.0, x=5.0)) == 1
        assert float(f(np.float64(5), jnp.asarray(2.0), n=2)) == 1
        assert float(f(np.full((), 5), jnp.asarray(2), 2)) == 1
    assert f.cache_info().misses == 3


def test_arrays_made_under_x64_are_narrowed_outside() -> None:
    with traceir.enable_x64(True):
        wide = jnp.asarray(np.arange(3.0))
    assert wide.dtype == np.float64
    f = traceir.jit(lambda x: x * 2)
    for _ in range(2):
        assert f(wide).dtype == np.float32
    assert f(np.asarray(wide)[::-1]).tolist() == [4, 2, 0]


# Two trees as results, so that a guard's return is tried, too.
def both(x: Any, y: Any, n: Any) -> Any:
    return {"x": x, "rest": [(y, None), x]}


def guard(call: Any, values: dict[str, Any]) -> Any:
    """The guard of one call, its positional and its keyword arguments."""
    x, y, n, how = call
    args = {"pos": (x, y, n), "kw": (), "mixed": (x,)}[how]
    kwargs = dict(list({"x": x, "y": y, "n": n}.items())[len(args) :])
    with flags(values):
        f = traceir.jit(both, static_argnames="n")
        f.clear_cache()
        for _ in range(cost_model.GUARDED_CALLS + 1):
            f(*args, **kwargs)
        return f._fast.get(GUARD), args, kwargs, config.current()


@given(calls, calls, st.booleans(), st.booleans())
@settings_(max_examples=examples(60))
def test_a_guard_takes_only_calls_of_its_raw_key(
    a: Any, b: Any, c: bool, d: bool
) -> None:
    known, *own = guard(a, {"enable_x64": c})
    if known is None:
        return
    args, kwargs, context = own
    for call, x64 in ((b, d), (a, d), (b, c)):
        _, args_b, kwargs_b, now = guard(call, {"enable_x64": x64})
        result = known(now, args_b, kwargs_b)
        raws = [
            raw_key(k, v, w, STATIC)
            for k, v, w in ((context, args, kwargs), (now, args_b, kwargs_b))
        ]
        assert result is MISS or raws[0] == raws[1]


def test_a_guard_gives_what_the_function_gives() -> None:
    f = traceir.jit(lambda x, y, n: both(x, y, n), static_argnames="n")
    x, y = jnp.arange(3), np.ones((2, 2), np.float32)
    expected = f({"a": x, "b": (y, None)}, [1.0, x], n="k")
    for _ in range(cost_model.GUARDED_CALLS):
        f({"a": x, "b": (y, None)}, [1.0, x], n="k")
    assert f._fast[GUARD] is not None
    found = f({"b": (y.T, None), "a": x + 1}, [2.0, x], n="k")
    assert flatten.structure(found) == flatten.structure(expected)
    assert str(found["x"]["a"]) == "[1 2 3]" and float(found["rest"][0][0][0]) == 2
    assert f.cache_info().hits == cost_model.GUARDED_CALLS + 1
    f.clear_cache()
    assert not f._fast


def test_nodes_of_classes_have_guards() -> None:
    @traceir.jit
    def f(pair: Any, box: Any) -> Any:
        kept = OrderedDict(z=pair.x, a=box.parts[0])
        return Pair(Layer(pair.y.x + 1, "new"), Box(len(box.parts), kept)), None

    def call(kind: Any, *parts: Any) -> Any:
        return f(Pair(1.0, Layer(jnp.ones(2), "old")), Box(kind, *parts))

    for _ in range(cost_model.GUARDED_CALLS + 2):
        (layer, box), none = call("k", 5.0)
    assert f._fast[GUARD] is not None and none is None
    assert layer.kind == "new" and layer.x.tolist() == [2, 2]
    assert box.kind == 1 and list(box.parts[0]) == ["z", "a"]
    assert float(box.parts[0]["a"]) == 5
    assert f.cache_info().misses == 1
    for kind, parts in (("q", (5.0,)), ("k", (5.0, 6.0)), ("k", (jnp.ones(2),))):
        (_, box), _ = call(kind, *parts)
        assert box.kind == len(parts)
    assert f.cache_info().misses == 4


def test_a_named_tuple_that_is_registered_later_has_calls_of_its_own() -> None:
    class Late(NamedTuple):
        x: Any
        y: Any

    f = traceir.jit(lambda p: (p.x - p.y, [*traceir.tree.map(lambda v: v, p)]))
    for _ in range(cost_model.GUARDED_CALLS + 1):
        assert float(f(Late(5.0, 2.0))[0]) == 3
    traceir.tree_util.register_pytree_node(
        Late, lambda p: ((p.y, p.x), None), lambda _, c: Late(c[1], c[0])
    )
    assert traceir.tree.map(lambda v: v, Late(1, 2)) == Late(1, 2)
    for _ in range(cost_model.GUARDED_CALLS + 1):
        assert float(f(Late(5.0, 2.0))[0]) == 3
    assert f.cache_info().misses == 2


def test_plain_functions_know_in_what_order_a_dict_was_made() -> None:
    f = traceir_numba.jit(lambda d: next(iter(d.values())) * 1)
    for make in (dict, partial(defaultdict, int)):
        for _ in range(cost_model.GUARDED_CALLS + 1):
            assert float(f(make(a=1.0, b=2.0))) == 1
        assert float(f(make(b=2.0, a=1.0))) == 2


def test_what_a_class_refuses_is_told_by_the_call() -> None:
    f = traceir.jit(lambda box: box.parts[0] + 1)
    for _ in range(cost_model.GUARDED_CALLS + 1):
        assert float(f(Box("k", 1.0))) == 2
    broken = Box("k", 1.0)
    del broken.parts
    with pytest.raises(AttributeError, match="parts"):
        f(broken)
