"""Compiled programs as data, to run and to keep.

The backend first makes the key of a program (`store.keys`): a digest of all that can
decide its code. Where there is a recipe under it, no pass of the compiler is imported;
the driver's text is run as it was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, field
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.store.entry import StoreEntry
from traceir.store.files import current
from traceir_numba import cost_model
from traceir_numba.store.units import LoadedObject, kept, stored


@dataclass(frozen=True, slots=True)
class Entrypoint:
    """A kernel or routine under the name by which the program's function calls it.

    `released`: other threads of Python run meanwhile.
    """

    name: str
    unit: str
    symbol: str
    pointers: int
    sizes: int
    released: bool


@dataclass(frozen=True, slots=True)
class Recipe:
    """A program's function in Python, and the values of its names.

    `driver` is the text of the function, which begins at `line` of the module's
    `source`; `dtypes` are those that it names, `evaluated` pairs its names for the
    reference's kernels with their primitives.
    """

    name: str
    source: str
    driver: str
    line: int
    dtypes: tuple[str, ...]
    functions: tuple[Entrypoint, ...]
    constants: tuple[tuple[str, np.ndarray], ...]
    evaluated: tuple[tuple[str, str], ...] = ()
    # The code of the functions, by its keys.
    units: Mapping[str, LoadedObject] = field(default_factory=dict)


# The fields that a store takes as they are.
PLAIN = ("name", "source", "driver", "line", "dtypes", "evaluated")


def write_program(key: str, recipe: Recipe, given: Sequence[np.ndarray]) -> bool:
    """Keep a program; of its constants, those that are not among `given`.

    Says whether it is there now: not where some of its code is not.
    """
    store = current()
    if store is None or not kept(recipe.units.values()):
        return False
    known = {id(value): number for number, value in enumerate(given)}
    blocks: list[bytes] = []
    constants: list[list[Any]] = []
    for name, value in recipe.constants:
        number = known.get(id(value))
        if number is None:
            constants.append([name, None, value.dtype.name, list(value.shape)])
            blocks.append(value.tobytes())
        else:
            constants.append([name, number])
    if sum(map(len, blocks)) > cost_model.STORE_PROGRAM_BYTES:
        return False
    facts: dict[str, Any] = {name: getattr(recipe, name) for name in PLAIN}
    facts |= {"functions": [*map(astuple, recipe.functions)], "constants": constants}
    return store.write(StoreEntry("program", key, facts, tuple(blocks)))


def read_program(key: str, given: Sequence[np.ndarray]) -> Recipe | None:
    """A program that was kept, its code loaded; None if any part of it is missing."""
    store = current()
    entry = store.read("program", key) if store else None
    if entry is None:
        return None
    facts = entry.facts
    functions = tuple(Entrypoint(*one) for one in facts["functions"])
    units = stored(one.unit for one in functions)
    if units is None:
        return None
    blocks = iter(entry.blocks)
    constants = tuple(
        (name, _array(next(blocks), *rest) if number is None else given[number])
        for name, number, *rest in facts["constants"]
    )
    return Recipe(
        facts["name"],
        facts["source"],
        facts["driver"],
        facts["line"],
        tuple(facts["dtypes"]),
        functions,
        constants,
        tuple((name, primitive) for name, primitive in facts["evaluated"]),
        units,
    )


def _array(data: bytes, dtype: str, shape: list[int]) -> np.ndarray:
    return np.frombuffer(data, dtype).reshape(shape)
