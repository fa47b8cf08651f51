"""The key of a program: the text of all that can decide its code.

Two programs of one key differ at most in source lines, in functions of the host that
are never called, and in which variables they use. Serves: program.effects
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    ForeignFunction,
    HostFunction,
    Jaxpr,
    Literal,
    Var,
)
from traceir.pytrees.treedef import TreeDef
from traceir.store.entry import digest
from traceir_numba import cost_model
from traceir_numba.store.identity import identity


class UnkeyableParam(TypeError):
    """A param that no text stands for: such a program is not kept."""


def program_key(
    closed: ClosedJaxpr, name: str, donated: tuple[int, ...] = (), status: int = 0
) -> str | None:
    """The digest of a program, its name, the inputs that it may write over, and the
    number of results that are its status.

    None where there is none to be had.

    >>> from traceir.text import parse
    >>> one = parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")
    >>> two = parse("{ lambda ; x:f32[]. let y:f32[] = sin x in (y,) }")
    >>> program_key(one, "f") == program_key(two, "f") != program_key(one, "g")
    True
    """
    writer = _KeyWriter()
    try:
        writer.closed(closed)
    except UnkeyableParam:
        return None
    words = " ".join([*map(str, donated), f"status{status}", *writer.words])
    return digest(identity(), name, words, *writer.constants)


class _KeyWriter:
    """Collects the words of a program, and its constants as digests."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.constants: list[str] = []
        self.bytes = 0
        # Programs and types that occur again; programs live as long as the outermost.
        self.programs: dict[int, str] = {}
        self.types: dict[ShapedArray, str] = {}

    def closed(self, closed: ClosedJaxpr) -> None:
        seen = self.programs.get(id(closed))
        if seen is not None:
            self.words.append(seen)
            return
        self.programs[id(closed)] = f"again{len(self.programs)}"
        self.words.append(f"program{len(closed.consts)}")
        for value in closed.consts:
            self.constant(value)
        self.jaxpr(closed.jaxpr)

    def constant(self, value: Any) -> None:
        array = np.asarray(value)
        self.bytes += array.nbytes
        if self.bytes > cost_model.STORE_KEY_BYTES:
            raise UnkeyableParam("too many bytes of constants")
        data = array.tobytes()
        self.constants.append(digest(str(array.dtype), str(array.shape), data))

    def jaxpr(self, jaxpr: Jaxpr) -> None:
        """Write a program with numbers in the places of variables."""
        numbers: dict[Var, str] = {}
        words = self.words
        words.append("{")
        self.define(jaxpr.constvars, numbers)
        self.define(jaxpr.invars, numbers)
        for eqn in jaxpr.eqns:
            words.append(f"; {eqn.primitive}")
            for name, value in eqn.params:
                words.append(f"{name}=")
                self.value(value)
            words.extend(sorted(eqn.effects))
            self.use(eqn.inputs, numbers)
            self.define(eqn.outputs, numbers)
        self.use(jaxpr.outvars, numbers)
        words.append("}")

    def define(self, variables: Sequence[Var], numbers: dict[Var, str]) -> None:
        self.words.append("(")
        for var in variables:
            numbers[var] = f"v{len(numbers)}"
            self.words.append(self.type(var.aval))
        self.words.append(")")

    def use(self, atoms: Sequence[Atom], numbers: dict[Var, str]) -> None:
        for atom in atoms:
            if isinstance(atom, Literal):
                bits = atom.array.tobytes().hex()
                self.words.append(f"{bits}:{self.type(atom.aval)}")
            else:
                self.words.append(numbers[atom])

    def type(self, aval: ShapedArray) -> str:
        found = self.types.get(aval)
        if found is None:
            weak = "~" if aval.weak_type else ""
            found = self.types[aval] = f"{weak}{aval.dtype.name}{aval.shape}"
        return found

    def value(self, value: Any) -> None:
        """Write a param so that equal texts mean equal code."""
        match value:
            case ClosedJaxpr():
                self.closed(value)
            case Jaxpr():
                self.jaxpr(value)
            case tuple():
                self.words.append(f"{type(value).__qualname__}(")
                for one in value:
                    self.value(one)
                self.words.append(")")
            case None | bool() | int() | float() | complex() | str() | np.dtype():
                self.words.append(f"{type(value).__name__}:{value!r}")
            case ShapedArray():
                self.words.append(self.type(value))
            case ForeignFunction():
                self.words.append(f"ForeignFunction:{value.name}")
            case HostFunction() | TreeDef():
                # A program that calls the host has no code of its own.
                self.words.append(type(value).__name__)
            case _:
                raise UnkeyableParam(f"a {type(value).__name__} in a param")
