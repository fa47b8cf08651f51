"""The programs of batches are those that JAX prints."""

from __future__ import annotations

import copy
import itertools
import tomllib

import numpy as np
import pytest
from other_tables import transforming_by

import traceir
from tests.transforms.batch_texts import DATA, cases, program
from traceir.rules import default, load
from traceir.text import parse
from traceir.tracing.staging import apply

TEXTS = {row["of"]: row["is"] for row in tomllib.loads(DATA.read_text())["text"]}
PARTS = {line: parts for line, *parts in cases()}


def test_every_case_is_recorded() -> None:
    assert list(PARTS) == list(TEXTS)


@pytest.mark.parametrize("line", PARTS)
def test_a_batch_prints_as_in_jax(line: str) -> None:
    assert program(traceir, traceir.numpy, *PARTS[line]) == TEXTS[line]


def with_axis(shape: tuple[int, ...], dim: int | None) -> tuple[int, ...]:
    """The shape of some operands of a shape, along an axis; of one without."""
    return shape if dim is None else (*shape[:dim], 4, *shape[dim:])


def of_two_alike(shape: tuple[int, ...]) -> list[str]:
    """The batches of `add_any` of two operands of a shape, at all axes."""
    rank, found = len(shape), []
    aval = f"f32[{','.join(map(str, shape))}]"
    adds = parse(
        f"{{ lambda ; a:{aval} b:{aval}. let c:{aval} = add_any a b in (c,) }}"
    )
    axes = None, *range(rank + 1)
    for dims in itertools.product(axes, axes):
        if any(dim is not None for dim in dims):
            args = [np.zeros(with_axis(shape, dim), np.float32) for dim in dims]
            for out in range(rank + 1):
                batch = traceir.vmap(lambda x, y: apply(adds, [x, y])[0], dims, out)
                found.append(str(traceir.make_jaxpr(batch)(*args)))
    return found


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_operands_of_one_shape_batch_alike_by_two_rules(shape: tuple[int, ...]) -> None:
    tables = copy.deepcopy(dict(default().tables))
    tables["primitives"]["prim"]["add_any"]["batch"]["rule"] = "aligned"
    found = of_two_alike(shape)
    with transforming_by(load(tables)):
        assert of_two_alike(shape) == found
