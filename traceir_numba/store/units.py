"""Object code under the digest of its LLVM text.

A unit is one object file. It is loaded once, after those whose functions it calls, and
stays as long as somebody holds it: a function that runs its code, a unit that calls it.
Several units may have the same function, each of them for itself: what calls it names
the units that it is looked for in.

Programs that share a kernel share its file, and a kernel whose text an edit of the
emitters leaves as it was is not compiled again. No address of this process is in code
that is kept: a kernel calls others by symbols, which other units have or
`runtime.external_symbols` finds, and the trampolines of `llvm.trampoline` read the
addresses of Python's functions from an object that they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from weakref import WeakValueDictionary

from traceir.base.caches import LRUCache
from traceir.base.fast_dataclass import dataclass
from traceir.store.entry import StoreEntry, digest
from traceir.store.files import Store, current
from traceir_numba.runtime import code_loader
from traceir_numba.store.identity import compiler

Addresses = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """An object file, and the functions that it calls and has not."""

    code: bytes
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class LoadedObject:
    """A loaded object file; it can be put in a store that has not got it.

    `uses` are the units whose functions it calls.
    """

    key: str
    made: ObjectFile
    image: code_loader.Image
    uses: tuple[LoadedObject, ...]

    @property
    def addresses(self) -> Addresses:
        """The addresses of its functions, while it lives."""
        return self.image.addresses


_loaded: WeakValueDictionary[str, LoadedObject] = WeakValueDictionary()
# What was used last stays, for the next program that wants it.
_recent: LRUCache[LoadedObject] = LRUCache(256)


def unit_key(*texts: str | bytes) -> str:
    """The name of the unit that is made of some texts."""
    return digest(compiler(), *texts)


def linked(
    key: str,
    symbols: Sequence[str],
    uses: Sequence[LoadedObject],
    make: Callable[[], ObjectFile],
) -> LoadedObject:
    """A unit, and whatever it uses: loaded before, stored, or made now.

    A new unit calls functions of the units `uses`, or of libraries. Raises RuntimeError
    for others. The caller holds `code_loader.lock`.
    """
    found = _loaded.get(key)
    if found is None:
        store = current()
        found = _from(store, key) if store else None
        if found is None:
            found = _load(key, make(), symbols, uses)
            if store:
                _keep(store, found)
    return found


def stored(keys: Iterable[str]) -> dict[str, LoadedObject] | None:
    """Some units, loaded now if they are not; None if one is nowhere."""
    store = current()
    found: dict[str, LoadedObject] = {}
    with code_loader.lock:
        for key in keys:
            unit = _loaded.get(key) or (_from(store, key) if store else None)
            if unit is None:
                return None
            found[key] = unit
    for key, unit in found.items():
        _recent.use(key, unit)
    return found


def kept(units: Iterable[LoadedObject]) -> bool:
    """Put some units in the store; False if one could not be."""
    store = current()
    return store is not None and all(_keep(store, unit) for unit in units)


def _load(
    key: str, made: ObjectFile, symbols: Sequence[str], uses: Iterable[LoadedObject]
) -> LoadedObject:
    homes = _homes(made.needs, uses)
    needs = {name: unit.addresses[name] for name, unit in homes.items()}
    image = code_loader.load(made.code, symbols, needs)
    used = {unit.key: unit for unit in homes.values()}
    found = _loaded[key] = LoadedObject(key, made, image, tuple(used.values()))
    return found


def _homes(
    needs: Iterable[str], uses: Iterable[LoadedObject]
) -> dict[str, LoadedObject]:
    """The units that functions are in, but for those of libraries.

    Raises RuntimeError for a function that is nowhere: LLVM would end the process.
    """
    homes = {name: unit for unit in uses for name in unit.addresses}
    for name in needs:
        if name not in homes and not code_loader.is_provided(name):
            raise RuntimeError(f"no code for {name}")
    return {name: homes[name] for name in needs if name in homes}


def _keep(store: Store, unit: LoadedObject) -> bool:
    """Keep a unit in the store, with those that it uses; return True if it is there."""
    if unit in store.kept:
        return True
    if not all(_keep(store, other) for other in unit.uses):
        return False
    facts = {
        "symbols": list(unit.addresses),
        "needs": list(unit.made.needs),
        "uses": sorted(other.key for other in unit.uses),
    }
    if not store.write(StoreEntry("code", unit.key, facts, (unit.made.code,))):
        return False
    store.kept.add(unit)
    return True


def _from(store: Store, key: str) -> LoadedObject | None:
    """A unit of the store, loaded with those that it uses."""
    entry = store.read("code", key)
    if entry is None:
        return None
    facts = entry.facts
    uses: list[LoadedObject] = []  # held until this unit holds them
    for other in facts["uses"]:
        unit = _loaded.get(other) or _from(store, other)
        if unit is None:
            return None
        uses.append(unit)
    made = ObjectFile(entry.blocks[0], tuple(facts["needs"]))
    try:
        found = _load(key, made, facts["symbols"], uses)
    except RuntimeError:  # a library's function that is not on this system
        return None
    store.kept.add(found)
    return found
