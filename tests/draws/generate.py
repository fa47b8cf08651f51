"""JAX's draws: `PYTHONPATH=tests python -m draws.generate --update` writes them.

The values in `records/draws.json.xz` are those of JAX 0.10.2, of each of `expressions`
in both layouts of counters, and `records/draw-texts.txt.xz` has the texts of its
programs. Needs JAX; the tests do not.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from recorded import Record

DRAWN = Record("draws.json.xz")
PROGRAMS = Record("draw-texts.txt.xz")
# What stands before each program, with its expression.
MARK = "== "
SEED = 7


def kept() -> dict[str, dict[str, Any]]:
    """By layout and expression: the dtype, the shape, and the elements."""
    found: dict[str, dict[str, Any]] = json.loads(DRAWN.read_text())
    return found


def programs() -> dict[str, str]:
    """The texts of programs that were written down, by expression."""
    found = {}
    for part in PROGRAMS.read_text().split(f"\n{MARK}")[1:]:
        expression, _, text = part.partition("\n")
        found[expression] = text.strip("\n")
    return found


def draws(expression: str, module: Any, jnp: Any, key: Any) -> Any:
    """The value of an expression, of a module of random numbers and of a key."""
    return eval(expression, {"r": module, "jnp": jnp, "key": key})


def entry(value: Any) -> list[Any]:
    """An array as JSON has it: a floating number by its shortest text."""
    array = np.asarray(value)
    flat = array.reshape(-1)
    kind = array.dtype.kind
    elements = [str(x) for x in flat] if kind == "f" else flat.tolist()
    return [array.dtype.name, list(array.shape), elements]


def array(dtype: str, shape: list[int], elements: list[Any]) -> np.ndarray:
    """The array of an entry."""
    return np.array([np.dtype(dtype).type(x) for x in elements], dtype).reshape(shape)


def main() -> None:
    """Write the file, when asked to."""
    if sys.argv[1:] != ["--update"]:
        sys.exit(__doc__)
    import jax
    from draws.expressions import EXACT, NEAR, TEXTS

    found: dict[str, dict[str, Any]] = {}
    for layout in (True, False):
        jax.config.update("jax_threefry_partitionable", layout)
        rows = found[str(layout)] = {}
        for text in EXACT + NEAR:
            value = draws(text, jax.random, jax.numpy, jax.random.key(SEED))
            rows[text] = entry(value)
    layouts = (f'"{k}": {{\n{_lines(rows)}\n}}' for k, rows in found.items())
    DRAWN.write_text("{\n" + ",\n".join(layouts) + "\n}\n")
    jax.config.update("jax_threefry_partitionable", True)
    blocks = []
    for text in TEXTS:

        def draw(key: Any, text: str = text) -> Any:
            return draws(text, jax.random, jax.numpy, key)

        program = jax.make_jaxpr(draw)(jax.random.key(SEED))
        blocks.append(f"\n{MARK}{text}\n{program}\n")
    PROGRAMS.write_text("".join(blocks))


def _lines(rows: dict[str, Any]) -> str:
    return ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in rows.items())


if __name__ == "__main__":
    main()
