"""``python -m answers.record``: JAX's answers to the programs, as data.

Run from the folder of the tests, with JAX.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from data_lines import data_lines
from recorded import Record

HERE = Path(__file__).parent
RECORD = Record("answers.json.xz")
# What an error of JAX's is an error of.
CLASSES = (OverflowError, NotImplementedError, ValueError, IndexError, TypeError)


def programs() -> list[str]:
    """The programs, one on each line."""
    return data_lines(HERE / "programs.txt")


def names(package: str) -> dict[str, Any]:
    """The names that programs may use of a package that is like JAX."""
    found: dict[str, Any] = {}
    exec(
        f"import numpy as np, {package} as jax, {package}.numpy as jnp\n"
        f"from {package} import lax\n"
        f"import {package}.scipy.linalg as sl",
        found,
    )
    jnp = found["jnp"]
    found["b"] = jnp.array([True, False])
    found["x"] = jnp.array([[1.0, 2.0], [3.0, 5.0]])
    found["m"] = jnp.arange(6.0).reshape(2, 3)
    found["y"] = jnp.arange(6.0).reshape(2, 3)
    found["v"] = jnp.array([3.0, 1.0, 2.0])
    found["h"] = jnp.array([1.5, 300.0], "bfloat16")
    found["i"] = jnp.array([0, 0, 1])
    found["A"] = jnp.array([[4.0, 1.0], [1.0, 3.0]])
    found["S"] = jnp.stack([k * found["A"] for k in (1, 2, 3)])
    found["H"] = jnp.array([[4.0, 1 + 1j], [1 - 1j, 3.0]])
    found["c"] = jnp.array([1.0, 2j])
    return found


def plain(value: Any) -> Any:
    """A result as data: dtype, weakness, shape and elements of each array."""
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    elements = np.asarray(value)
    wide = "complex128" if elements.dtype.kind == "c" else "float64"
    flat = elements.astype(wide).ravel()
    numbers = [[v.real, v.imag] for v in flat] if wide == "complex128" else list(flat)
    shown = json.loads(json.dumps(numbers))
    return {"type": str(value.dtype), "shape": list(value.shape), "value": shown}


def answer(program: str, known: Mapping[str, Any]) -> Any:
    """The result of a program, or the classes by which its error can be caught."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(eval(program, dict(known)))
    except CLASSES as error:
        return ",".join(k.__name__ for k in CLASSES if isinstance(error, k))


def main() -> None:
    """Write the record."""
    known = names("jax")
    found = {program: answer(program, known) for program in programs()}
    rows = ",\n".join(f"{json.dumps(p)}: {json.dumps(a)}" for p, a in found.items())
    RECORD.write_text(f"{{\n{rows}\n}}\n")


if __name__ == "__main__":
    main()
