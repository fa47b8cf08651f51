"""Arrays of `traceir.jit(backend="cuda")` stay on the device between calls.

Cites: jit.backend, array.deleted
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.arrays.array import LIVING, _there
from traceir_numba.cuda import device_put
from traceir_numba.cuda.runtime import device

Copies = list[str]


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> Iterator[Copies]:
    """The copies to and from the device, as they are made."""
    found: Copies = []
    for name in ("upload", "download"):
        inner = getattr(device, name)

        def counted(*args: Any, name: str = name, inner: Any = inner) -> Any:
            found.append(name)
            return inner(*args)

        monkeypatch.setattr(device, name, counted)
    yield found


@traceir.jit(backend="cuda")
def step(x: Any, y: Any) -> Any:
    """Two results, one of which is an argument."""
    return x * 2 + 1, y


def made() -> Any:
    """A result that nobody has read."""
    return step(jnp.arange(4.0), 3)[0]


def test_nothing_is_copied_between_calls(copies: Copies) -> None:
    x, y = jnp.arange(4.0), jnp.arange(2)
    step(x, y)
    assert copies == ["upload"] * 2
    a, b = step(x, y)
    for _ in range(4):
        a, b = step(a, b)
    assert copies == ["upload"] * 2
    assert a.block_until_ready() is a and a.shape == (4,)
    assert a.tolist() == [31, 63, 95, 127]
    assert copies == [*["upload"] * 2, "download"]
    step(a, b)
    np.testing.assert_array_equal(a, [31, 63, 95, 127])
    assert copies == [*["upload"] * 2, "download"]


READERS: dict[str, Any] = {
    "operator": lambda a: a + 1,
    "function": jnp.sin,
    "index": lambda a: a[1:],
    "numpy": lambda a: np.asarray(a) * 2,
    "text": repr,
    "pickle": lambda a: pickle.loads(pickle.dumps(a)),
    "jit": traceir.jit(lambda a: a * 2),
    "closure": lambda a: traceir.jit(lambda x: a + x)(1.0),
    "jaxpr": lambda a: str(traceir.make_jaxpr(lambda x: a * x)(1.0)),
    "grad": traceir.grad(lambda a: (a * a).sum()),
    "vmap": traceir.vmap(lambda a: a * 2),
    "cond": lambda a: traceir.lax.cond(True, lambda: a * 2, lambda: a),
    "tree": lambda a: traceir.device_get([a])[0],
    "donated": lambda a: traceir.jit(lambda x: x + 1, donate_argnums=0)(a),
    "strict": lambda a: traceir.jit(lambda x: x + a, strict=True)(1.0),
    "iterated": lambda a: [float(v) for v in a],
    "updated": lambda a: a.at[0].set(1),
    "deleted": lambda a: a.is_deleted(),
    "weak": lambda a: a.weak_type,
}


@pytest.mark.parametrize("name", READERS)
def test_who_reads_one_finds_an_array_like_others(name: str) -> None:
    found, plain = made(), jnp.arange(4.0) * 2 + 1
    assert isinstance(found, traceir.Array) and type(found) in LIVING
    got, want = READERS[name](found), READERS[name](plain)
    assert type(got) is type(want)
    if isinstance(want, str):
        assert got == want
    else:
        np.testing.assert_array_equal(got, want)


def test_keys_stay_there() -> None:
    split = traceir.jit(traceir.random.split, backend="cuda")
    keys = split(traceir.random.key(0))
    want = traceir.random.split(traceir.random.split(traceir.random.key(0))[1])
    found = split(keys[1])
    data = traceir.random.key_data
    np.testing.assert_array_equal(data(found), data(want))


def test_unused_arguments_and_arrays_of_the_device_itself() -> None:
    second = traceir.jit(lambda x, y: y + 1, backend="cuda")
    there = device_put(np.ones(3, "float32"))
    for _ in range(4):
        assert second(np.zeros(2), there).tolist() == [2, 2, 2]
        assert second(2.0, np.ones(3)).tolist() == [2, 2, 2]


def test_an_array_that_is_deleted_is_gone() -> None:
    gc.collect()
    count = len(_there)
    a = made()
    assert len(_there) == count + 1
    a.delete()
    assert a.is_deleted() and len(_there) == count
    with raises_rule("array.deleted"):
        step(a, 1)
    b = made()
    traceir.jit(lambda x: x + 1, donate_argnums=0)(b)
    assert b.is_deleted()
    del b
    gc.collect()
    assert len(_there) == count


def test_flags_that_look_at_results_find_them() -> None:
    quotient = traceir.jit(lambda x: x / x, backend="cuda")
    with traceir.debug_nans(True), raises_rule("debug.nan"):
        quotient(jnp.zeros(2))


def test_results_lie_as_shardings_say() -> None:
    mesh = traceir.make_mesh((1,), ("x",))
    place = traceir.NamedSharding(mesh, traceir.P("x"))
    double = traceir.jit(lambda x: x * 2, backend="cuda", out_shardings=place)
    found = double(jnp.arange(4.0))
    assert found.sharding == place and found.tolist() == [0, 2, 4, 6]
    assert traceir.device_put(made(), place).sharding == place
