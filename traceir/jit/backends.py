"""Backends by name, resolved when first used. Serves: jit.backend"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from traceir import rules
from traceir.arrays.devices import PLATFORMS, Device
from traceir.base import config
from traceir.base.caches import uncollected
from traceir.base.progress import progress
from traceir.ir.avals import ShapedArray, stacked
from traceir.ir.effects import effects_of
from traceir.ir.jaxpr import (
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Params,
    Var,
    subjaxprs,
)
from traceir.ir.notebooks import NotebookText
from traceir.ir.typecheck import infer
from traceir.ir.unroll_report import longest_line, warn
from traceir.jit.cache.trace_cache import TraceCacheEntry
from traceir.jit.runtime_checks import CheckedExecutable, RuntimeChecks
from traceir.ranks.topology import STATE
from traceir.sanitize.nan_checks import watched
from traceir.tracing.trace import EAGER

# Name -> module with `compile(closed, name) -> Executable`, and `DIALECTS` of texts.
BACKENDS: dict[str, str] = {
    "reference": "traceir.reference.interpreter",
    "numba": "traceir_numba.backend",
    "cuda": "traceir_numba.cuda.backend",
    "oracle": "traceir.conform.judging.oracle_backend",
}
# Whose programs leave their results where nobody looks at them.
UNCHECKED = frozenset({"cuda"})
# What a backend needs; without what the default one needs the reference runs. The CPU's
# machine code is LLVM's alone, devices have Numba's compilers.
NEEDS = {"numba": "llvmlite", "cuda": "numba"}


# Who looks at programs before they are compiled for one device.
COMPILING: list[Callable[[ClosedJaxpr], None]] = []


def _cuda_devices() -> list[Device]:
    found: list[Device] = resolve("cuda").devices()
    return found


PLATFORMS["cuda"] = _cuda_devices


class Executable(Protocol):
    """A compiled program."""

    def run(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """Run on C-contiguous arrays of the program's input types; fresh results."""

    def as_text(self, form: str) -> str:
        """The program in a dialect of the backend, or a report on its "speed" or on how
        long it took to "compile".
        """


@functools.cache
def default_backend() -> str:
    """ "numba" where llvmlite is importable, else "reference"."""
    return "numba" if importlib.util.find_spec(NEEDS["numba"]) else "reference"


@functools.cache
def resolve(name: str) -> Any:
    """The module of a backend; raises ValueError (jit.backend) for an unknown one."""
    if name not in BACKENDS:
        raise rules.error(
            "jit.backend", got=f"{name!r}; there are {', '.join(sorted(BACKENDS))}"
        )
    needed = NEEDS.get(name)
    if needed and importlib.util.find_spec(needed) is None:
        raise rules.error("jit.backend", got=f"{name!r} without {needed} installed")
    with uncollected():
        return importlib.import_module(BACKENDS[name])


def text_of(exe: Executable, backend: str, dialect: str | None) -> str:
    """A program's text in a dialect of its backend, the first of them unless asked.

    Raises ValueError (jit.dialect) for one that it does not have.
    """
    known: tuple[str, ...] = resolve(backend).DIALECTS
    if dialect is not None and dialect not in known:
        got = f"{dialect!r}; with the backend {backend} there is {', '.join(known)}"
        raise rules.error("jit.dialect", got=got)
    dialect = dialect or known[0]
    return NotebookText(exe.as_text(dialect), dialect, f"{dialect} for {backend}")


def executable(
    entry: TraceCacheEntry,
    backend: str,
    keep_unused: bool,
    donated: tuple[int, ...] = (),
) -> Executable:
    """The compiled program of an entry, compiled now if it is not yet.

    It may write over the inputs that are `donated`.
    """
    checks = _checks(entry, backend)
    closed = entry.closed if checks is None else checks.closed
    key = backend, keep_unused, donated
    found: Executable | None = entry.executables.get(key)
    if found is not None:
        return found
    with entry.lock:
        found = entry.executables.get(key)
        if found is None:
            logged = config.local.context.log_compiles
            name = entry.closed.jaxpr.debug_name
            if logged:
                count = len(entry.closed.eqns)
                warn("Lowering %s for %s: equations: %d", name, backend, count)
            start = time.perf_counter()
            wanted = (closed, backend, keep_unused, donated)
            if entry.call.context.sanitize:
                from traceir.sanitize.taint import (
                    SanitizedExecutable,  # not on the way of an import
                )

                found = SanitizedExecutable(closed, partial(compile_program, *wanted))
            else:
                found = compile_program(*wanted, checks.extra if checks else 0)
            if checks is not None:
                found = CheckedExecutable(found, checks)
            if STATE.several:
                from traceir.ranks.agreement import agreed  # which few programs need

                found = agreed(found, closed)
            entry.executables[key] = found
            if logged:
                seconds = time.perf_counter() - start
                warn("Compiled %s with %s in %.3f s", name, backend, seconds)
    return found


def executable_of_calls(
    entry: TraceCacheEntry, backend: str, keep_unused: bool
) -> Executable:
    """The compiled program that calls run: it may write to the arguments that the
    function writes to, unless somebody computes with them again.
    """
    again = entry.call.context.sanitize or watched(config.local.context)
    over = () if again else tuple(one.argument for one in entry.overwritten)
    return executable(entry, backend, keep_unused, over)


def _checks(entry: TraceCacheEntry, backend: str) -> RuntimeChecks | None:
    """The checks that the program makes, if it makes any."""
    checks = entry.checks
    if checks is None or (backend in UNCHECKED and not checks.raises):
        return None
    return checks


def compile_program(
    closed: ClosedJaxpr,
    backend: str,
    keep_unused: bool,
    donated: Sequence[int] = (),
    status: int = 0,
) -> Executable:
    """Compile a program; inputs that it does not use are dropped unless kept.

    A backend that `DONATES` may let it write over the inputs that are `donated`. In one
    that `STOPS` the other results may be anything where the last one, a number, is not
    0; with it `status` results tell which check has failed.
    """
    from traceir.ir.located import located  # not on the way of an import

    for look in COMPILING:
        look(closed)
    closed = located(closed)
    name = closed.jaxpr.debug_name
    module = resolve(backend)
    told = functools.cache(partial(longest_line, closed))
    with progress(f"compiling {name}", told), uncollected():
        return _compiled(closed, module, keep_unused, donated, status)


def _compiled(
    closed: ClosedJaxpr,
    module: Any,
    keep_unused: bool,
    donated: Sequence[int],
    status: int,
) -> Executable:
    name = closed.jaxpr.debug_name
    donates = bool(donated) and getattr(module, "DONATES", False)
    stops = bool(status) and getattr(module, "STOPS", False)
    options = {"status": status} if stops else {}
    used = used_inputs(closed.jaxpr)
    if keep_unused or len(used) == len(closed.jaxpr.invars):
        given = (tuple(donated),) if donates else ()
        compiled: Executable = module.compile(closed, name, *given, **options)
        return compiled
    kept = replace(closed.jaxpr, invars=tuple(closed.jaxpr.invars[k] for k in used))
    own = tuple(used.index(k) for k in donated if k in used)
    given = (own,) if donates else ()
    pruned = ClosedJaxpr(kept, closed.consts)
    inner = module.compile(pruned, name, *given, **options)
    return _PrunedExecutable(inner, used)


def used_inputs(jaxpr: Jaxpr) -> tuple[int, ...]:
    """The positions of the inputs that an equation or an output refers to."""
    atoms = {a for e in jaxpr.eqns for a in e.inputs if not isinstance(a, Literal)}
    atoms.update(a for a in jaxpr.outvars if not isinstance(a, Literal))
    return tuple(k for k, v in enumerate(jaxpr.invars) if v in atoms)


def run_eagerly(params: Params) -> Callable[..., Sequence[np.ndarray]]:
    """The evaluation of a `jit` equation outside every trace: by its own backend."""
    closed: ClosedJaxpr = dict(params)["jaxpr"]  # type: ignore[assignment]
    backend = closed.backend or "reference"
    return runner(closed, backend)


def runner(closed: ClosedJaxpr, backend: str) -> Callable[..., Sequence[np.ndarray]]:
    """The function of arrays that a program is on a backend, compiled once."""
    exe = closed.memo(
        ("executable", backend), lambda: compile_program(closed, backend, False)
    )
    run: Callable[..., Sequence[np.ndarray]] = exe.run
    return run


EAGER["jit"] = run_eagerly


def run_region(primitive: str) -> Callable[[Params], Callable[..., Any]]:
    """The evaluation of a region outside every trace: compiled, by the default backend.

    Compiled code is kept with the first program in its params.
    """

    def made(params: Params) -> Callable[..., Sequence[np.ndarray]]:
        programs = subjaxprs(Eqn(primitive, (), (), params))
        closed = next(programs).memo(
            ("alone", primitive, params), lambda: alone(primitive, params)
        )
        return runner(closed, default_backend())

    return made


def alone(primitive: str, params: Params) -> ClosedJaxpr:
    """The program that is one equation of a region, on operands that it takes."""
    avals = INPUTS[primitive](**dict(params))
    invars = tuple(map(Var, avals))
    outvars = tuple(map(Var, infer(primitive, avals, params)))
    does = effects_of(primitive, params)
    eqn = Eqn(primitive, invars, outvars, params, does)
    return ClosedJaxpr(Jaxpr((), invars, (eqn,), outvars, primitive))


def _of_cond(*, branches: tuple[ClosedJaxpr, ...]) -> tuple[ShapedArray, ...]:
    return ShapedArray((), "int32"), *branches[0].in_avals


def _of_while(
    *, cond_jaxpr: ClosedJaxpr, cond_nconsts: int, body_jaxpr: ClosedJaxpr, **_: Any
) -> tuple[ShapedArray, ...]:
    return *cond_jaxpr.in_avals[:cond_nconsts], *body_jaxpr.in_avals


def _of_scan(
    *, jaxpr: ClosedJaxpr, length: int, num_consts: int, num_carry: int, **_: Any
) -> tuple[ShapedArray, ...]:
    first = num_consts + num_carry
    return *jaxpr.in_avals[:first], *stacked(jaxpr.in_avals[first:], length)


# The types of the operands that a region takes, by its params.
INPUTS: dict[str, Callable[..., tuple[ShapedArray, ...]]] = {
    "cond": _of_cond,
    "while": _of_while,
    "scan": _of_scan,
}
EAGER.update({name: run_region(name) for name in INPUTS})


class _PrunedExecutable:
    """An executable that is given all inputs and passes on those that are used."""

    def __init__(self, inner: Executable, used: tuple[int, ...]) -> None:
        self._inner = inner
        self._used = used

    def run(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        return self._inner.run(*[arrays[k] for k in self._used])

    def __getattr__(self, name: str) -> Any:
        # Where arrays stay on a device, and where memory is planned.
        if name not in ("put", "run_there", "memory_analysis"):
            raise AttributeError(name)
        found = getattr(self._inner, name)
        if name != "run_there":
            return found
        return lambda places: found([places[k] for k in self._used])

    def as_text(self, form: str) -> str:
        return self._inner.as_text(form)
