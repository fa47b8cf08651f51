"""The rows of the tables, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Literal

import numpy as np

from traceir.base.caches import cached_property
from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import ADDED, as_dtype, is_added
from traceir.rules.batching import Batch
from traceir.rules.derivatives import Derivative
from traceir.rules.formulas.language import Formula
from traceir.rules.hints import LineHint


@dataclass(frozen=True, slots=True)
class Clause:
    """One demand: `holds` must be true; `says` is the error's text when it is not.

    `needs` are the ids of the clauses that must hold before this one means anything.
    `at` tells where a clause of `program.toml` applies; `hints` go before `hint`.
    """

    id: str
    says: str
    holds: Formula | None = None
    hint: str = ""
    class_: str = "TypeError"
    needs: tuple[str, ...] = ()
    at: str = ""
    hints: tuple[LineHint, ...] = ()


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a primitive; one that has no default must be given.

    `parse` computes it from `out`, the type of the first result, where the text leaves
    it out. One that `applies` a primitive is None, written as a program of two scalars.
    """

    name: str
    domain: str
    has_default: bool = False
    default: Any = None
    print: Literal["always", "nondefault", "never"] = "always"
    parse: Formula | None = None
    applies: str = ""


@dataclass(frozen=True, slots=True)
class Spelling:
    """An older spelling of a primitive: new names of params, params to leave out."""

    name: str
    means: str
    params: Mapping[str, str]
    ignores: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Out:
    """The type of one result."""

    shape: Formula
    dtype: Formula
    weak_type: Formula


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of results: `holds` for every index `i` into the shape `over`."""

    says: str
    over: Formula
    holds: Formula


@dataclass(frozen=True, slots=True)
class Singular:
    """Points at which a derivative is not the slope of the value, and why.

    `at` is over params and the names of `value`; `by` the operand that moves, or "".
    """

    says: str
    at: Formula
    by: str = ""


@dataclass(frozen=True, slots=True)
class Prim:
    """A primitive: operands, params, clauses, result types and one meaning.

    `inputs` are the operands' names; when `variadic`, the last takes all that are
    left. `out` is one row per result, or a formula for all the types at once. `let`
    names parts of every other formula, `each` parts of `value` for one index `i`.
    `order` are the params printed first, `names` is the param whose program's inputs
    and results are printed with the names of the equation's, `ulp` the units in the
    last place allowed for each dtype, `classes` the classes of the row, `derivative`
    its columns about tangents and cotangents, `identity` when it gives its operand
    unchanged, `results` the names by which the relations of `post` know the results,
    `folds` whether templates apply it to a number at once, `batch` the one
    about many examples, `across` what a collective gives for one of them, `varies` the
    axes along which results may vary beside those that `out` tells, `host` where
    an equation calls the host, `effects` what it does besides, `keys` what becomes of
    keys among its operands, `singular` where its derivative is not the value's slope.
    """

    name: str
    inputs: tuple[str, ...]
    variadic: bool
    params: tuple[Param, ...]
    order: tuple[str, ...]
    names: str
    was: tuple[Spelling, ...]
    clauses: tuple[Clause, ...]
    let: Mapping[str, Formula]
    each: Mapping[str, Formula]
    out: tuple[Out, ...] | Formula
    value: Formula | None
    means: str | None
    steps: Formula | None
    accuracy: str
    ulp: Mapping[str, float]
    classes: tuple[str, ...]
    derivative: Derivative | None = None
    identity: Formula | None = None
    folds: bool = False
    batch: Batch | None = None
    host: bool = False
    effects: frozenset[str] = frozenset()
    across: Formula | None = None
    results: tuple[str, ...] = ()
    keys: Literal["used", "passed", "parted", "seen"] = "used"
    post: tuple[Relation, ...] = ()
    singular: tuple[Singular, ...] = ()
    varies: Formula | None = None

    @property
    def defaults(self) -> dict[str, Any]:
        """The params that need not be given, and their values."""
        return {p.name: p.default for p in self.params if p.has_default}

    @property
    def single(self) -> bool:
        """True if every application has one result."""
        return isinstance(self.out, tuple) and len(self.out) == 1

    @property
    def arity(self) -> int:
        """The least number of operands; the exact number if not `variadic`."""
        return len(self.inputs) - self.variadic


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One part of the jit cache's key."""

    id: str
    per: Literal["call", "leaf", "static", "known"]
    part: Formula
    says: str


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of the configuration; `key` is the row of the key that it decides."""

    id: str
    name: str
    values: tuple[str, ...]
    key: str
    says: str


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision about a plain function's loops: its formula, and kinds of values."""

    id: str
    says: str
    when: Formula | None = None
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """The form of every text of a program: a condition, a mark, letters, columns."""

    id: str
    says: str
    when: Formula | None = None
    mark: str = ""
    letters: str = ""
    width: int = 0
    indent: int = 0

    def applies(self, **known: object) -> bool:
        """True if the row applies here, by its `when`."""
        return self.when is None or bool(self.when(known))


@dataclass(frozen=True, slots=True)
class DType:
    """A dtype: names, kind, width, range; `stored` is the name under which arrays have
    it, empty where nothing stores it. Of a floating one also how many binary `digits`
    its numbers have, the `least` of them above 0, what is `beyond` the range, and of
    which signs there is a `zero`."""

    name: str
    short: str
    kind: str
    bits: int
    min: int | float
    max: int | float
    stored: str
    digits: int = 0
    least: float = 0.0
    beyond: str = ""
    zero: str = ""

    @property
    def narrow(self) -> bool:
        """True if it has fewer bits than all numbers that mix with others."""
        return self.bits < {"floating": 16}.get(self.kind, 8)

    @property
    def numpy(self) -> np.dtype | None:
        """The dtype of arrays, None where nothing stores it."""
        return as_dtype(self.stored) if self.stored else None


@dataclass(frozen=True, slots=True)
class Weak:
    """The node of the lattice that a weak kind of number is, and its usual dtypes."""

    node: str
    kind: str
    x64: str
    x32: str


@dataclass(frozen=True)
class Face:
    """The meeting of operands of different dtypes: what the edges reach from each node.

    `rank` orders the kinds of the nodes. With `weak = "nodes"`, weak operands are
    nodes of the lattice; with "kinds", one of a kind above all strong operands stands
    for its usual dtype, any other yields.
    """

    id: str
    name: str
    weak: Literal["nodes", "kinds"]
    reach: Mapping[str, frozenset[str]]
    rank: Mapping[str, int]
    says: str


@dataclass(frozen=True)
class Lattice:
    """Dtypes, their sets, promotion, and the dtypes of Python's numbers."""

    dtypes: Mapping[str, DType] = field(default_factory=dict)
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weak: Mapping[str, Weak] = field(default_factory=dict)
    python: Mapping[str, str] = field(default_factory=dict)
    canonical: Mapping[str, str] = field(default_factory=dict)
    faces: Mapping[str, Face] = field(default_factory=dict)

    @cached_property
    def constants(self) -> Mapping[str, Any]:
        """The names of formulas: stored dtypes of NumPy's own, and sets of them."""
        own = {n: d.stored for n, d in self.dtypes.items() if d.stored not in ADDED}
        stored = {n: as_dtype(s) for n, s in own.items() if s}
        sets = {
            name: DTypes(
                (stored[m] for m in members if m in stored),
                (self.dtypes[m].stored for m in members if m not in own),
            )
            for name, members in self.sets.items()
        }
        # No formula has brackets in a name: `key<fry>` is `key`, `key<rbg>` `key_rbg`.
        spelled = {n: n.removesuffix("<fry>").replace("<", "_") for n in stored}
        named = {spelled[n].removesuffix(">"): d for n, d in stored.items()}
        return {**named, **sets}


class DTypes(frozenset[np.dtype]):
    """A set of dtypes; those that NumPy knows once a package is imported, which is not
    done to say what they are, are known `later`: they are in it by their names."""

    later: frozenset[str]

    def __new__(cls, dtypes: Iterable[np.dtype], later: Iterable[str] = ()) -> DTypes:
        made = super().__new__(cls, dtypes)
        made.later = frozenset(later)
        return made

    def __contains__(self, dtype: object) -> bool:
        if super().__contains__(dtype):
            return True
        if not isinstance(dtype, np.dtype):
            return False
        return is_added(dtype) and dtype.name in self.later


@dataclass(frozen=True, slots=True)
class AccuracySet:
    """A set of acceptable results."""

    id: str
    name: str
    says: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A point that implementations decide; `sets` have other members by that."""

    id: str
    says: str
    allowed: tuple[str, ...]  # the strictest first
    reference: str
    sets: tuple[str, ...] = ()
