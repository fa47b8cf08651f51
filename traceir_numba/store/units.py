"""Machine code under the digest of the LLVM text that it was made of.

A unit is one object file. It is loaded once in a process, after those whose functions
it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from traceir.store.entry import Entry, digest
from traceir.store.files import Store, current
from traceir_numba import engine
from traceir_numba.store.identity import compiler

Addresses = Mapping[str, int]

_loaded: dict[str, Addresses] = {}
# Which unit a function is in, for those that call it.
_home: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Made:
    """An object file, and the functions that it calls and has not."""

    code: bytes
    needs: tuple[str, ...]


def unit_key(*texts: str | bytes) -> str:
    """The name of the unit that is made of some texts."""
    return digest(compiler(), *texts)


def linked(key: str, symbols: Sequence[str], make: Callable[[], Made]) -> Addresses:
    """The addresses of a unit's functions: loaded before, stored, or made now.

    The caller holds `engine.lock`.
    """
    found = _loaded.get(key)
    if found is None:
        store = current()
        found = _from(store, key) if store else None
        if found is None:
            made = make()
            found = _load(key, made.code, symbols)
            if store and _write(store, key, made, symbols):
                store.kept.add(key)
    return found


def stored(keys: Iterable[str]) -> list[Addresses] | None:
    """The functions of some units that must be in the store; None if one is not."""
    store = current()
    found = []
    with engine.lock:
        for key in keys:
            unit = _loaded.get(key)
            if unit is None:
                unit = _from(store, key) if store else None
            if unit is None:
                return None
            found.append(unit)
    return found


def address(key: str, symbol: str) -> int:
    """Where a function of a loaded unit is."""
    return _loaded[key][symbol]


def _load(key: str, code: bytes, symbols: Sequence[str]) -> Addresses:
    found = _loaded[key] = engine.load(code, symbols)
    _home.update(dict.fromkeys(symbols, key))
    return found


def _write(store: Store, key: str, made: Made, symbols: Sequence[str]) -> bool:
    uses = sorted({_home[name] for name in made.needs if name in _home})
    if not store.kept.issuperset(uses):
        return False
    facts = {"symbols": list(symbols), "needs": list(made.needs), "uses": uses}
    return store.write(Entry("code", key, facts, (made.code,)))


def _from(store: Store, key: str) -> Addresses | None:
    """A unit of the store, loaded with those that it uses."""
    entry = store.read("code", key)
    if entry is None:
        return None
    facts = entry.facts
    for other in facts["uses"]:
        if other in _loaded:
            continue
        if _from(store, other) is None:
            return None
    if not all(map(engine.is_known, facts["needs"])):
        return None
    store.kept.add(key)
    return _load(key, entry.blocks[0], facts["symbols"])
