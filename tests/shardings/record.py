"""Writes down how JAX lays the results of the programs of this folder.

Run with JAX: `PYTHONPATH=tests python -m shardings.record`
"""

from __future__ import annotations

from importlib import import_module

from recorded import Record
from shardings.programs import PROGRAMS, layouts

LAYOUTS = Record("shardings.txt")


def main() -> None:
    """One line for each program: its arguments, and the layouts of its results."""
    jax = import_module("jax")
    jax.config.update("jax_num_cpu_devices", 8)
    lines = []
    for name, (_, arguments) in PROGRAMS.items():
        given = ", ".join(f"[{text}]" for text in arguments)
        lines.append(f"{name} {given} -> {layouts(jax, name)}\n")
    LAYOUTS.write_text("".join(lines))


if __name__ == "__main__":
    main()
