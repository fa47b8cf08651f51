"""Writes down what JAX makes of the programs and compositions of this folder.

Run with JAX: `PYTHONPATH=tests python -m control.record`
"""

from __future__ import annotations

import functools
import json
import re
from importlib import import_module

import control.transformed  # noqa: F401 - adds its programs
from control.compositions import chains, value
from control.programs import PROGRAMS
from recorded import Record

TEXTS = Record("control-texts.txt.xz")
VALUES = Record("control-values.json.xz")


def texts() -> None:
    """JAX's text of each program, NumPy's wrapping of its integers left out."""
    jax = import_module("jax")
    found = []
    for name, (function, arguments) in PROGRAMS.items():
        made = jax.make_jaxpr(functools.partial(function, jax))(*arguments)
        plain = re.sub(r"np\.int64\((-?\d+)\)", r"\1", str(made))
        found.append(f"# {name}\n{plain}\n")
    TEXTS.write_text("\n".join(found))


def values() -> None:
    """The value of each chain of transforms."""
    jax = import_module("jax")
    found = {chain.name: value(jax, chain) for chain in chains()}
    lines = [f"  {json.dumps(name)}: {json.dumps(v)}" for name, v in found.items()]
    VALUES.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    texts()
    values()
