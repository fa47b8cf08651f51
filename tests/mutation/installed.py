"""Changed tables as *the* tables, in a process of their own.

A hunt has read every module once, and judged the cases by the tables as they are. A
child of it forgets what was derived from these, and reads the changed ones in their
place: of the oracle, the evaluator, `jit` and the functions of arrays alike.
"""

from __future__ import annotations

import gc
import os
import pickle
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from mmap import mmap
from types import ModuleType
from typing import Any

from traceir import rules
from traceir.errors import RuleTableError
from traceir.jit.cache.trace_cache import clear_caches
from traceir.rules import Rules, load, parsed_tables
from traceir.rules.derivatives import check_templates
from traceir.rules.load import _Loader
from traceir.rules.primitives import read_primitives
from traceir.rules.rules import PRIMITIVES

# Seconds of the processor for one case, and bytes for all of them.
PATIENCE = 10
MEMORY = 6 << 30
DEPTH = 1500
# Tables whose rows are needed by one another.
STRICT = ("machine", "judgements")
# Modules whose caches hold numbers, which no table decides.
NUMBERS = ("traceir.exact", "traceir.reference.kernels", "traceir.store")
# What is read from files once: cases, of which a child has copies that nobody read.
FILES = ("_of_the_specification",)


class Desk:
    """The number of the case that a child works on, which its parent sees, too."""

    def __init__(self) -> None:
        self._page = mmap(-1, 8)
        self.take(-1)

    def take(self, number: int) -> None:
        """Begin with a case: its patience starts anew."""
        self._page[:8] = number.to_bytes(8, "little", signed=True)
        # Of the processor's time: a busy machine is no silence.
        if number >= 0:
            signal.setitimer(signal.ITIMER_PROF, PATIENCE)

    @property
    def number(self) -> int:
        """The case, -1 before the first."""
        return int.from_bytes(self._page[:8], "little", signed=True)


def in_child(work: Callable[[], Any], patient: bool = False) -> Any:
    """The result of a function in a process of its own; None if it never returns.

    It has the `PATIENCE` for one case until it begins with one, unless it is `patient`.
    """
    return next(iter(streamed(lambda: iter((work(),)), patient)), None)


def streamed(work: Callable[[], Iterator[Any]], patient: bool = False) -> list[Any]:
    """The values that a function yields in a process of its own, until that ends."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            gc.disable()
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            sys.setrecursionlimit(DEPTH)
            signal.setitimer(signal.ITIMER_PROF, 0 if patient else PATIENCE)
            with open(write, "wb") as pipe:
                for found in work():
                    pickle.dump(found, pipe)
                    pipe.flush()
        except Exception:
            if os.environ.get("MUTATION_TRACE"):
                traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write)
    found = []
    with open(read, "rb") as pipe, suppress(EOFError, pickle.UnpicklingError):
        while True:
            found.append(pickle.load(pipe))
    os.waitpid(child, 0)
    return found


def lenient(tables: Any, table: str, like: Rules | None = None) -> Rules | None:
    """The rules of mutated tables; None if nothing can be made of them.

    That a machine has one transition for each event in each state is a rule of its
    tables, and so is that rules speak of judgements and terms that there are; of other
    tables, it is left to the cases what a missing row means.
    """
    if like is not None and table in PRIMITIVES:
        try:
            return _of_one_table(tables, table, like)
        except Exception:  # the loader is asked what it says of it
            pass
    for how in (False, True)[: 1 if table in STRICT else 2]:
        try:
            return load(tables, lenient=how, like=like)
        except RuleTableError:
            continue
        except Exception:  # whatever the loader says of it, it has noticed
            return None
    return None


def _of_one_table(tables: Any, table: str, like: Rules) -> Rules:
    """The rules of tables of which one of primitives is changed, sooner than by `load`.

    Raises for whatever the loader may have something to say of.
    """
    loader = _Loader(tables, lenient=False, checked=False, like=like)
    options = like.lattice.constants, False, loader.known(table)
    prims, gone = dict(like.prims), like.tables[table].get("prim", {})
    old = {clause.id for name in gone for clause in like.prims[name].clauses}
    others = {c.id for n, p in prims.items() if n not in gone for c in p.clauses}
    for name in gone:
        del prims[name]
    for prim in read_primitives(loader.table(table), *options):
        loader.add_all(prim.clauses, f"prim.{prim.name}")
        unmeasured = prim.accuracy == "ulp" and not prim.ulp
        assert not unmeasured and prim.accuracy in like.accuracy
        assert prim.name not in prims
        prims[prim.name] = prim
    assert not loader.clauses.keys() & others
    clauses = {i: c for i, c in like.clauses.items() if i not in old} | loader.clauses
    check_templates(prims)
    return replace(like, prims=prims, clauses=clauses, tables=tables)


def install(found: Rules) -> None:
    """Make these the rules of the specification, and forget the others."""
    forget()
    rules.default.cache_clear()
    # `default` reads them from the tables or from the store.
    parsed_tables.remembered = lambda *args, **kwargs: found
    assert rules.default() is found


def forget() -> None:
    """Drop whatever functions remember of the tables."""
    clear_caches()
    for clear in _clears(len(sys.modules)):
        clear()


@cache
def _clears(modules: int) -> tuple[Callable[[], None], ...]:
    """The caches of functions in the modules of the library that are loaded now."""
    own = [
        m
        for name, m in sys.modules.items()
        if name.partition(".")[0] == "traceir" and not name.startswith(NUMBERS)
    ]
    found = {id(f): f for module in own for f in _functions(module)}
    del found[id(rules.default)]
    return tuple(f.cache_clear for f in found.values() if f.__name__ not in FILES)


def _functions(module: ModuleType) -> Iterator[Any]:
    holders = [module, *(v for v in vars(module).values() if isinstance(v, type))]
    for holder in holders:
        for value in list(vars(holder).values()):
            value = getattr(value, "__func__", value)
            if callable(getattr(type(value), "cache_clear", None)):
                yield value
