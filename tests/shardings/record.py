"""Writes down how JAX lays the results of the programs of this folder, and what it
gives for derivatives within functions of parts, and the text of such functions.

Run with JAX: `PYTHONPATH=tests python -m shardings.record`
"""

from __future__ import annotations

import json
from importlib import import_module

from recorded import Record
from shardings import gradients, texts
from shardings.programs import PROGRAMS, layouts

LAYOUTS = Record("shardings.txt")
GRADIENTS = Record("gradients-of-parts.json")
TEXTS = Record("texts-of-parts.txt")


def main() -> None:
    """One line for each program: its arguments, and the layouts of its results."""
    jax = import_module("jax")
    jax.config.update("jax_num_cpu_devices", 8)
    lines = []
    for name, (_, arguments) in PROGRAMS.items():
        given = ", ".join(f"[{text}]" for text in arguments)
        lines.append(f"{name} {given} -> {layouts(jax, name)}\n")
    LAYOUTS.write_text("".join(lines))
    shown = (f"# {name}\n{text(jax)}\n" for name, text in texts.PROGRAMS.items())
    TEXTS.write_text("\n".join(shown))
    slopes = {name: gradients.results(jax, name) for name in gradients.PROGRAMS}
    rows = (f"{json.dumps(name)}: {json.dumps(v)}" for name, v in slopes.items())
    GRADIENTS.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
