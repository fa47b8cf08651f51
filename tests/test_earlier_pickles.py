"""Pickles of an earlier version, which have its names of modules. Cites export.pickled.

`earlier-pickles.json` was written when modules had their former names.
"""

from __future__ import annotations

import base64
import copy
import json
import pickle
from pathlib import Path
from typing import Any

import earlier
import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
import traceir.tree_util as tu
from traceir import lax
from traceir.base.moved_modules import MOVED
from traceir.scipy import linalg, stats
from traceir.sharding import P

X = jnp.arange(3.0)
PICKLES = json.loads((Path(__file__).parent / "data/earlier-pickles.json").read_text())
WRITTEN: dict[str, Any] = {
    "array": X,
    "aval": traceir.typeof(X),
    "density": stats.norm.pdf,
    "device": traceir.devices()[0],
    "dimensions": lax.ConvDimensionNumbers((0, 1), (0, 1), (0, 1)),
    "exported": traceir.export(earlier.doubled, X),
    "fft": jnp.fft.rfft,
    "function": jnp.sin,
    "half": jnp.ones(2, jnp.bfloat16),
    "jitted": earlier.doubled,
    "key": traceir.random.key(7),
    "lax": lax.add,
    "linalg": linalg.toeplitz,
    "mode": lax.GatherScatterMode.CLIP,
    "partial": tu.Partial(lax.mul, 2.0),
    "partition": traceir.sharding.PartitionSpec("a"),
    "path": tu.tree_flatten_with_path({"a": (1, 2)})[0],
    "precision": lax.Precision.HIGHEST,
    "reduction": lax.reduce_max,
    "scalar_type": jnp.float32,
    "spec": traceir.ShapeDtypeStruct((3,), "float32"),
    "treedef": tu.tree_structure({"a": 1, "b": (2, None)}),
    "unconstrained": P(P.UNCONSTRAINED, "a"),
    "variable": traceir.make_jaxpr(lambda x: x)(X),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_an_earlier_pickle_is_read(name: str) -> None:
    found, wanted = pickle.loads(base64.b64decode(PICKLES[name])), WRITTEN[name]
    assert type(found) is type(wanted)
    if isinstance(wanted, traceir.Array):
        assert found.dtype == wanted.dtype
        assert str(found) == str(wanted)
    elif name == "exported":
        assert np.asarray(found.call(X)).tolist() == [0.0, 2.0, 4.0]
    elif name == "partial":
        assert found(X).tolist() == [0.0, 2.0, 4.0]
    elif name == "variable":
        assert str(found) == str(wanted)
    else:
        assert found == wanted


def test_every_module_is_where_it_is_said_to_be() -> None:
    for before, now in MOVED.items():
        former = __import__(f"traceir.{before}", fromlist=["x"])
        present = __import__(f"traceir.{now}", fromlist=["x"])
        for name in getattr(
            present, "__all__", [n for n in vars(present) if n[0] != "_"]
        ):
            assert getattr(former, name) is getattr(present, name), (before, name)


@pytest.mark.parametrize("name", ["bool_", "bfloat16", "float32", "complex128"])
def test_a_scalar_type_is_itself_after_a_copy(name: str) -> None:
    kind = getattr(jnp, name)
    assert pickle.loads(pickle.dumps(kind)) is copy.deepcopy(kind) is kind


def test_what_leaves_a_dimension_to_the_compiler_is_one() -> None:
    spec = P(P.UNCONSTRAINED, "a")
    for same in (pickle.loads(pickle.dumps(spec)), copy.deepcopy(spec)):
        assert same == spec and same.axes(0) == ()
