"""Calls by plans give what the long way gives, line by line. Cites: level.bind"""

from __future__ import annotations

import warnings
from types import FunctionType, SimpleNamespace
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from array_lines import Line, draw, lines

import traceir
import traceir.numpy as jnp
from traceir.eager.dispatch import planned
from traceir.pytrees import flatten

LINES = list(lines())
REFUSALS = (TypeError, ValueError, IndexError, ArithmeticError, AttributeError)


def namespace(module: Any, shown: Any) -> SimpleNamespace:
    """A package whose functions are shown in another way."""
    found = SimpleNamespace()
    for name in module.__all__:
        value = getattr(module, name)
        if type(value) is FunctionType:
            value = shown(getattr(value, "__wrapped__", value))
        elif hasattr(value, "__all__"):
            value = namespace(value, shown)
        setattr(found, name, value)
    return found


LONG = namespace(jnp, lambda function: function)


def outcome(line: Line, library: Any, operands: dict[str, Any]) -> Any:
    """Types and bits of the results of a line, or the error."""
    try:
        found = line.run(library, operands)
    except REFUSALS as error:
        return type(error), str(error)
    leaves, tree = flatten.flatten(found)
    return tree, [
        (v.aval, np.asarray(v).tobytes())
        if isinstance(v, traceir.Array)
        else (type(v), repr(v))
        for v in leaves
    ]


SHORT = namespace(jnp, planned)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.text)
def test_a_line_gives_the_same_by_plans(line: Line) -> None:
    seed = crc32(line.text.encode())
    dtype = line.dtypes[seed % len(line.dtypes)]
    given = draw(line, dtype, seed)
    with traceir.enable_x64(seed % 3 > 0), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in (jnp.asarray, np.asarray):
            operands = {name: kind(value) for name, value in given.items()}
            want = outcome(line, LONG, operands)
            found = [outcome(line, SHORT, operands) for _ in range(3)]
            assert found == [want] * 3


def test_most_lines_have_plans() -> None:
    made, asked = 0, 0

    def counting(function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal asked
            asked += 1
            return function(*args, **kwargs)

        return planned(call)

    library = namespace(jnp, counting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in LINES:
            operands = draw(line, "float32" if "f" in line.kinds else "int32", 1)
            arrays = {name: jnp.asarray(value) for name, value in operands.items()}
            outcome(line, library, arrays)
            outcome(line, library, arrays)
            before = asked
            outcome(line, library, arrays)
            made += asked == before
    assert made > len(LINES) * 3 // 4
