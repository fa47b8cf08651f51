"""Traced functions under names of C, with the types of their arguments.

Serves: artefact.name, artefact.tree, artefact.contents
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

import traceir
from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import is_key
from traceir.ir.effects import calls_host
from traceir.ir.jaxpr import Eqn, Jaxpr, subjaxprs
from traceir.ir.located import located
from traceir.jit.stages import Traced
from traceir.pytrees.treedef import TreeDef, key_path
from traceir_numba.aot.seals import FORMAT
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import HostCallback, ReferenceCall
from traceir_numba.emitters.pairs.values import is_reference_call
from traceir_numba.loops.program import CallReference
from traceir_numba.lowering.host_partition import needs_host
from traceir_numba.pipeline.compiler import Compilation, build
from traceir_numba.runtime import mcjit

Shape = tuple[int, ...]


# C's own names, and those that its header needs.
C_WORDS = """
    auto break case char const continue default do double else enum extern float for
    goto if inline int long register restrict return short signed sizeof static struct
    switch typedef union unsigned void volatile while bool true false main
    missing DONE NO_MEMORY NO_INSTRUCTIONS MARK
"""
# What modules name beside their functions, and parameters are not called.
MODULE_WORDS = """
    np numpy numba math ctypes hashlib platform sys Path PLATFORM LIBRARY SHA256
    INSTRUCTIONS FORMAT ml_dtypes inf nan function kernel product strided_product
    parallel in_order
"""
TAKEN = frozenset([*C_WORDS.split(), *MODULE_WORDS.split(), *keyword.kwlist])


@dataclass(frozen=True, slots=True)
class AotArray:
    """An argument or a result: its name in C, its path in Python, its type."""

    name: str
    path: str
    shape: Shape
    dtype: str

    @property
    def type(self) -> str:
        """The type as documentation has it: `float32[2,3]`."""
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class AotFunction:
    """A function of an artefact; `symbol` is its name in machine code.

    `written` are the numbers of the inputs that it writes to: the program's results are
    `outputs`, and then the new elements of these.
    """

    name: str
    symbol: str
    parameters: tuple[str, ...]
    inputs: tuple[AotArray, ...]
    outputs: tuple[AotArray, ...]
    in_tree: TreeDef
    out_tree: TreeDef
    written: tuple[int, ...]
    text: str  # of the traced program
    build: Compilation

    @property
    def signature(self) -> str:
        """The function as Python calls it."""
        return f"{self.name}({', '.join(self.parameters)})"


@dataclass(frozen=True, slots=True)
class Artefact:
    """Functions that are written together; machine code may use the instructions."""

    name: str
    entries: tuple[AotFunction, ...]
    instructions: tuple[str, ...]

    @property
    def missing(self) -> str:
        """The symbol of the function that names the instructions a processor lacks."""
        return f"{self.name}_missing"

    @property
    def mark(self) -> str:
        """A symbol that no other artefact has: of functions, types and programs."""
        used = FORMAT, traceir.__version__, mcjit.triple(), *self.instructions
        digest = sha256(repr(used).encode())
        for e in self.entries:
            digest.update(repr((e.symbol, e.inputs, e.outputs, e.text)).encode())
            for _, value in e.build.program.constants:
                digest.update(np.ascontiguousarray(value).tobytes())
        return f"{self.name}_{digest.hexdigest()[:16]}"


def entry_of(name: str, symbol: str, traced: Traced) -> AotFunction:
    """The entry of a traced function.

    Raises TypeError (artefact.contents, artefact.tree).
    """
    closed, call = located(traced.jaxpr), traced.entry.call
    out_tree, written = traced.out_tree, ()
    if traced.entry.writes:
        (written, _), out_tree = traced.out_tree.meta, traced.out_tree.below[0]
    checks = traced.entry.checks
    if checks is not None and checks.raises:
        got = f"{name}, which may raise an exception of its own"
        raise rules.error("artefact.contents", got=got, where=checks.first_line)
    if calls_host(closed.jaxpr) or needs_host(closed.jaxpr):
        eqn = next(_outside(closed.jaxpr))
        raise rules.error("artefact.contents", got=_called(name, eqn), where=_line(eqn))
    for tree in (call.treedef, out_tree):
        _check_tree(name, tree)
    built = build(closed, symbol)
    for step in built.program.steps:
        if isinstance(step, CallReference):
            got, where = _called(name, step.eqn), _line(step.eqn)
            raise rules.error("artefact.contents", got=got, where=where)
    parameters = _parameters(call.labels)
    names = _Names()
    inputs = [
        AotArray(names.new(path, "x"), path, aval.shape, _dtype(name, aval.dtype))
        for path, aval in zip(call.paths, closed.in_avals, strict=True)
    ]
    paths = [key_path(p, "result") for p in out_tree.paths()]
    outputs = [
        AotArray(names.new(path, "result"), path, aval.shape, _dtype(name, aval.dtype))
        for path, aval in zip(paths, closed.out_avals[: len(paths)], strict=True)
    ]
    return AotFunction(
        *(name, symbol, parameters, tuple(inputs), tuple(outputs)),
        *(call.treedef, out_tree, written, str(closed), built),
    )


def _called(name: str, eqn: Eqn) -> str:
    return f"`{eqn.primitive}` in {name}"


def _line(eqn: Eqn) -> str:
    """The user's line of an equation."""
    return str(eqn.source) if eqn.source else ""


def _outside(jaxpr: Jaxpr) -> Iterator[Eqn]:
    """The equations, wherever, that the host or a library's function does."""
    for eqn in jaxpr.eqns:
        own = EMITTERS.get(eqn.primitive)
        if isinstance(own, HostCallback | ReferenceCall) or is_reference_call(eqn):
            yield eqn
        for inner in subjaxprs(eqn):
            yield from _outside(inner.jaxpr)


def _dtype(name: str, dtype: Any) -> str:
    if is_key(dtype):
        got = f"an array of keys in {name}; pass `random.key_data` of it"
        raise rules.error("artefact.tree", got=got, where="")
    return str(dtype.name)


def _check_tree(name: str, tree: TreeDef) -> None:
    """Refuse containers that C and plain Python have no counterpart of."""
    if tree.node_type not in (None, tuple, list, dict, type(None)):
        got = f"{name}, with {tree.node_type.__name__}"
        raise rules.error("artefact.tree", got=got, where="")
    if tree.node_type is dict and not all(
        isinstance(key, str | int | bool) for key in tree.meta
    ):
        got = f"{name}, with a dict of the keys {list(tree.meta)}"
        raise rules.error("artefact.tree", got=got, where="")
    for child in tree.below:
        _check_tree(name, child)


def check_names(names: Sequence[str]) -> None:
    """Raise ValueError (artefact.name) unless these are names for an artefact."""
    for name in names:
        if not is_name(name):
            raise rules.error("artefact.name", got=repr(name), where="")


def is_name(name: str) -> bool:
    """True if both C and Python have it as a name that is not theirs.

    >>> is_name("selu"), is_name("my selu"), is_name("while")
    (True, False, False)
    """
    plain = re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) is not None
    return plain and name not in TAKEN


def _parameters(labels: Sequence[str]) -> tuple[str, ...]:
    """The names of a function's parameters in Python."""
    names = _Names()
    return tuple(names.new(label, "x") for label in labels)


class _Names:
    """Names for C and Python, each new."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def new(self, path: str, other: str) -> str:
        """A name like a path."""
        base = re.sub(r"\W+", "_", path).strip("_")
        if not is_name(base) or re.fullmatch(r"(given|made|new)_\d+", base):
            base = f"{other}_{base}".rstrip("_")
        name, count = base, 1
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name
