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


@dataclass(frozen=True, slots=True)
class Made:
    """An object file, and the functions that it calls and has not."""

    code: bytes
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A loaded object file; it can be put in a store that has not got it."""

    made: Made
    addresses: Addresses


_loaded: dict[str, Unit] = {}
# Which unit a function is in, for those that call it.
_home: dict[str, str] = {}


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
            found = _load(key, make(), symbols)
            if store:
                _keep(store, key)
    return found.addresses


def stored(keys: Iterable[str]) -> bool:
    """Load some units from the store; False if one is not there."""
    store = current()
    with engine.lock:
        return all(
            key in _loaded or (store is not None and _from(store, key) is not None)
            for key in keys
        )


def kept(keys: Iterable[str]) -> bool:
    """Put some loaded units in the store; False if one could not be."""
    store = current()
    return store is not None and all(_keep(store, key) for key in keys)


def address(key: str, symbol: str) -> int:
    """Where a function of a loaded unit is."""
    return _loaded[key].addresses[symbol]


def _load(key: str, made: Made, symbols: Sequence[str]) -> Unit:
    found = _loaded[key] = Unit(made, engine.load(made.code, symbols))
    _home.update(dict.fromkeys(symbols, key))
    return found


def _keep(store: Store, key: str) -> bool:
    """Whether a unit is in the store, with those that it uses; it is put there now."""
    if key in store.kept:
        return True
    unit = _loaded[key]
    needs = unit.made.needs
    uses = sorted({_home[name] for name in needs if name in _home} - {key})
    if not all(_keep(store, other) for other in uses):
        return False
    facts = {"symbols": list(unit.addresses), "needs": list(needs), "uses": uses}
    if not store.write(Entry("code", key, facts, (unit.made.code,))):
        return False
    store.kept.add(key)
    return True


def _from(store: Store, key: str) -> Unit | None:
    """A unit of the store, loaded with those that it uses."""
    entry = store.read("code", key)
    if entry is None:
        return None
    facts = entry.facts
    for other in facts["uses"]:
        if other not in _loaded and _from(store, other) is None:
            return None
    if not all(map(engine.is_known, facts["needs"])):
        return None
    store.kept.add(key)
    made = Made(entry.blocks[0], tuple(facts["needs"]))
    return _load(key, made, facts["symbols"])
