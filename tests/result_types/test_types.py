"""Types of results, and exceptions, against what JAX 0.10.2 gives, as recorded.

Every public function is called with every kind of operands, weak ones too, with 64-bit
types off and on; its derivatives are asked for; and something is put wrong in its call.
Cites promote.jax, face.argument
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from zlib import crc32

from soak import SOAK

from result_types.calls import calls, uncalled
from result_types.differences import agrees, asked
from result_types.recorded import DIFFERENCES, Table, read
from result_types.running import Library

# One row of so many is asked for; in `make soak` every one.
FEW = 1 if SOAK else 32
MODULES = ["numpy", "numpy.linalg", "numpy.fft", "lax", "lax.linalg", "nn", "random"]
MODULES += ["nn.initializers", "image", "ops", "scipy.linalg", "scipy.signal"]
MODULES += ["scipy.fft", "scipy.special", "scipy.stats"]


def public() -> Iterator[str]:
    """The dotted names of public functions, and of the methods of arrays and places."""
    for name in MODULES:
        module, short = import_module(f"traceir.{name}"), name.replace("numpy", "jnp")
        for member in getattr(module, "__all__", dir(module)):
            value = getattr(module, member)
            if name == "scipy.stats" and isinstance(value, ModuleType):
                yield from (f"{short}.{member}.{n}" for n in defined(value))
            elif callable(value) and not member.startswith("_"):
                yield f"{short}.{member}"
    array = import_module("traceir.numpy").ones((3, 3))
    for owner, short in ((array, "x"), (array.at[0], "x.at")):
        names = (n for n in dir(owner) if not n.startswith("_"))
        yield from (f"{short}.{n}" for n in names if callable(getattr(owner, n)))


def defined(module: ModuleType) -> Iterator[str]:
    """The public functions that a module defines."""
    for name, value in vars(module).items():
        if getattr(value, "__module__", "") == module.__name__ and name[0] != "_":
            yield name


def test_every_public_function_is_called() -> None:
    text = " ".join(re.sub(r"\[\w+\]", "", call.text) for call in calls())
    named = set(re.findall(r"[a-z]\w*(?:\.\w+)+", text))
    missing = [name for name in public() if name not in named | uncalled().keys()]
    assert missing == []
    assert [name for name in uncalled() if name in named] == []


def test_results_and_exceptions_are_those_of_jax() -> None:
    known, wrong, gone = read(DIFFERENCES), [], []
    for name, table, ask in asked(Library("traceir")):
        some = chosen(name, table)
        found = ask(list(some)) if some else []
        for (kinds, wanted), got in zip(some.items(), found, strict=True):
            row = f"{name} of {' '.join(kinds)}"
            expected = known.get(name, {}).get(kinds)
            if agrees(wanted, got):
                gone += [row] if expected else []
            elif got != expected:
                wrong.append(f"{row}: {got}, by JAX {wanted}")
    assert wrong == []
    assert gone == []  # leave them out of the file


def chosen(name: str, table: Table) -> Table:
    """The rows of a table that are asked for."""
    text = {kinds: f"{name} {' '.join(kinds)}".encode() for kinds in table}
    return {k: table[k] for k in table if crc32(text[k]) % FEW == 0}
