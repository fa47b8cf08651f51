"""Programs of running folds: every primitive, along rows and columns."""

from __future__ import annotations

import numpy as np

from traceir.ir.avals import short_dtype
from traceir_numba import cost_model

PRIMITIVES = ("cumsum", "cumprod", "cummax", "cummin")


# Shape and axis: rows, columns and planes, short, of a few chunks, of a few blocks.
LINES = [
    *(((0,), 0), ((1,), 0), ((63,), 0), ((64,), 0), ((cost_model.SCAN_CHUNK + 1,), 0)),
    *(((3, 5), 0), ((3, 5), 1), ((0, 3), 1), ((3, 0), 1), ((7, 1), 0), ((1, 7), 1)),
    *(((4, 5, 6), 0), ((4, 5, 6), 1), ((2, 3, 90), 2), ((2, 600), 0)),
    *(
        ((2, cost_model.SCAN_CHUNK + 70), 1),
        ((2 * cost_model.REDUCTION_BLOCK + 17,), 0),
    ),
]


def text(prim: str, dtype: str, shape: tuple[int, ...], axis: int, way: bool) -> str:
    """A fold of what another operation has made of the input."""
    t = f"{short_dtype(np.dtype(dtype))}[{','.join(map(str, shape))}]"
    one = f"1:{t.partition('[')[0]}[]"
    operation = "mul" if prim == "cumprod" else "add"
    return f"""{{ lambda ; a:{t}. let
        b:{t} = {operation} a {one}
        c:{t} = {prim}[axis={axis} reverse={way}] b
      in (c,) }}"""


def numbers(prim: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers whose sums and products are exact, whatever their order."""
    random = np.random.default_rng(0)
    if prim == "cumprod":
        return random.choice([1, -1], shape).astype(dtype)
    return random.integers(-4, 5, shape).astype(dtype)
