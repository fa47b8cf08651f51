"""``python -m answers.signatures``: the parameters of JAX's functions, as data.

Run from the folder of the tests, with JAX.
"""

from __future__ import annotations

import importlib
import inspect
import json
from typing import Any

from recorded import Record

RECORD = Record("signatures.json.xz")
MODULES = ["numpy", "numpy.linalg", "numpy.fft", "lax", "nn", "scipy.linalg"]
MODULES += ["scipy.special", "random", "ops", "image"]
# Arrays are not spread over devices, and LLVM's functions have one accuracy.
LEFT = {"out_sharding", "accuracy"}
BY_PLACE = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
Parameters = dict[str, list[list[str]]]


def parameters(function: Any) -> list[list[str]] | None:
    """Those by place, and those by name alone; None if it does not tell."""
    try:
        found = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return None
    left = [p for p in found if p.name not in LEFT and not p.name.startswith("_")]
    by_name = [p.name for p in left if p.kind is inspect.Parameter.KEYWORD_ONLY]
    return [[p.name for p in left if p.kind in BY_PLACE], by_name]


def signatures(package: str) -> Parameters:
    """The parameters of all public functions of the modules, and of arrays' methods."""
    found: Parameters = {}
    for name in MODULES:
        module = importlib.import_module(f"{package}.{name}")
        for key, value in vars(module).items():
            if not key.startswith("_") and not inspect.isclass(value):
                own = parameters(value) if callable(value) else None
                if own is not None:
                    found[f"{name}.{key}"] = own
    array = importlib.import_module(f"{package}.numpy").arange(3)
    for owner, value in (("Array", array), ("at", array.at[0])):
        for key in dir(value):
            method = None if key.startswith("_") else getattr(type(value), key, None)
            if callable(method) and (own := parameters(method)) is not None:
                found[f"{owner}.{key}"] = [own[0][1:], own[1]]
    return found


def main() -> None:
    """Write the record."""
    found = sorted(signatures("jax").items())
    rows = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found)
    RECORD.write_text(f"{{\n{rows}\n}}\n")


if __name__ == "__main__":
    main()
