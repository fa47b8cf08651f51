"""`lattice.toml`: dtypes, sets and promotion. Serves: aval.*, promote.*"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from traceir.dtypes import ADDED, as_dtype, finfo, iinfo, kind_of, part_dtype
from traceir.rules.formulas.table_errors import problem
from traceir.rules.row_reader import RowReader
from traceir.rules.rows import Clause, DType, Face, Lattice, Weak

KINDS = ("boolean", "signed", "unsigned", "floating", "complex", "key")
# The order of kinds in promotion; integers of both signs are one kind.
RANK = {
    "boolean": 0,
    "signed": 1,
    "unsigned": 1,
    "integer": 1,
    "floating": 2,
    "complex": 3,
    "key": 4,
}
INEXACT = ("floating", "complex")


def read_lattice(
    table: RowReader, checked: bool = False
) -> tuple[Lattice, list[Clause]]:
    """The lattice and the clauses of its rows; RuleTableError if it is malformed.

    One that was `checked` before is not compared with NumPy, and its bounds are not.
    """
    dtypes = {name: _dtype(name, row, checked) for name, row in table.tables("dtype")}
    sets = _sets(table.get("set", Mapping, {}), dtypes, table.where)
    weak = {name: _weak(name, row) for name, row in table.tables("weak")}
    clauses: list[Clause] = []
    python: dict[str, str] = {}
    for row in table.rows("python"):
        python[row.text("type")] = row.one_of("is", (*dtypes, *weak))
        clauses.append(_clause(row))
    canonical: dict[str, str] = {}
    for row in table.rows("canonical"):
        canonical[row.one_of("from", dtypes)] = row.one_of("to", dtypes)
        clauses.append(_clause(row))
    faces: dict[str, Face] = {}
    rank = {name: RANK[d.kind] for name, d in dtypes.items()}
    rank |= {name: RANK[w.kind] for name, w in weak.items()}
    narrow = {name for name, d in dtypes.items() if d.narrow}
    for row in table.rows("face"):
        face = _face(row, rank, narrow, checked)
        faces[face.name] = face
        clauses.append(_clause(row))
    table.done()
    return Lattice(dtypes, sets, weak, python, canonical, faces), clauses


def _clause(row: RowReader) -> Clause:
    return Clause(row.text("id"), row.says())


def _dtype(name: str, row: RowReader, checked: bool) -> DType:
    """A row of the dtypes, its limits read exactly."""
    kind = row.one_of("kind", KINDS)
    read = float.fromhex if kind in INEXACT else int
    numpy = row.text("numpy", "")
    found = DType(
        sys.intern(name),
        row.text("short"),
        kind,
        row.get("bits", int),
        read(row.text("min")),
        read(row.text("max")),
        numpy,
        *(_format(row) if kind in INEXACT else ()),
    )
    row.done()
    if not checked:
        _check_stored(found, row.where)
    return found


def _format(row: RowReader) -> tuple[int, float, str, str]:
    """The digits of a floating dtype, its least number, what is beyond, its zeros."""
    return (
        row.get("digits", int),
        float.fromhex(row.text("least")),
        row.one_of("beyond", ("inf", "nan", "max"), "inf"),
        row.one_of("zero", ("both", "one", "none"), "both"),
    )


def _check_stored(dtype: DType, where: str) -> None:
    """Raises table.lattice if a dtype is not the one that NumPy has by its name, or
    ml_dtypes, which is asked where it is imported by now, or not that of keys."""
    name = dtype.stored
    if not name or (name in ADDED and "ml_dtypes" not in sys.modules):
        return
    said, stored = replace(dtype, short=""), _stored(as_dtype(name))
    if said != stored:
        raise problem("table.lattice", where, f"{said}, NumPy has {stored}")


def _stored(dtype: np.dtype[Any]) -> DType:
    """The row of a dtype that arrays have, without a short name."""
    name, bits = dtype.name, 8 * dtype.itemsize
    match kind_of(dtype):
        case "b":
            return DType(name, "", "boolean", bits, 0, 1, name)
        case "i" | "u" as sign:
            integers = iinfo(dtype)
            kind = "signed" if sign == "i" else "unsigned"
            low, high = int(integers.min), int(integers.max)
            return DType(name, "", kind, int(integers.bits), low, high, name)
        case "V":  # keys, whose limits are those of a word
            return DType(name, "", "key", bits, 0, int(iinfo("uint32").max), name)
        case letter:
            floats, part = finfo(dtype), part_dtype(dtype)
            kind = "floating" if letter == "f" else "complex"
            bits = int(floats.bits) if letter == "f" else bits
            ends = float(floats.min), float(floats.max)
            digits, least = int(floats.nmant) + 1, float(floats.smallest_subnormal)
            with np.errstate(invalid="ignore"):
                far, zero = np.array([np.inf, -0.0]).astype(part).astype(float)
            beyond = "inf" if far == np.inf else "max" if far == far else "nan"
            zeros = "none" if zero != zero else "both" if np.signbit(zero) else "one"
            row = DType(name, "", kind, bits, *ends, name, digits, least, beyond, zeros)
            return row


def _sets(
    table: Mapping[str, Any], dtypes: Mapping[str, DType], where: str
) -> dict[str, tuple[str, ...]]:
    """The sets of dtypes, those of sets made flat."""
    found: dict[str, tuple[str, ...]] = {}
    for name, members in table.items():
        flat: list[str] = []
        for member in members:
            if member not in dtypes and member not in found:
                raise problem("table.lattice", f"{where}: set.{name}", str(member))
            flat += found.get(member, (member,))
        found[name] = tuple(dict.fromkeys(flat))
    return found


def _weak(name: str, row: RowReader) -> Weak:
    found = Weak(
        name,
        row.one_of("kind", ("integer", "floating", "complex")),
        row.text("x64"),
        row.text("x32"),
    )
    row.done()
    return found


def _face(
    row: RowReader, rank: Mapping[str, int], narrow: set[str], checked: bool
) -> Face:
    """A face's lattice; refused if two nodes have more than one least upper bound, or
    none, unless one of them is `narrow`: these meet numbers alone."""
    edges = {a: tuple(b) for a, b in row.get("edges", Mapping).items()}
    weak = row.one_of("weak", ("nodes", "kinds"))
    for name in {*edges, *(b for targets in edges.values() for b in targets)}:
        if name not in rank or name not in edges:
            raise problem("table.lattice", f"{row.where}: edges", name)
    reach = above(edges, f"{row.where}: edges")
    for pair in () if checked else combinations(reach, 2):
        least = least_bounds(pair, reach, rank)
        if len(least) > 1 or (not least and narrow.isdisjoint(pair)):
            got = f"{' and '.join(pair)} meet in {' and '.join(least) or 'nothing'}"
            raise problem("table.lattice", f"{row.where}: edges", got)
    return Face(row.text("id"), row.text("name"), weak, reach, rank, row.says())


def above(
    edges: Mapping[str, Iterable[str]], where: str = "edges"
) -> dict[str, frozenset[str]]:
    """The nodes that the edges reach from each node, itself included.

    >>> sorted(above({"a": ["b"], "b": ["c"], "c": []})["a"])
    ['a', 'b', 'c']
    """
    found: dict[str, frozenset[str]] = {}

    def reach(node: str, path: tuple[str, ...]) -> frozenset[str]:
        if node in path:
            raise problem("table.lattice", where, " -> ".join((*path, node)))
        if node not in found:
            targets = edges.get(node, ())
            parts = (reach(t, (*path, node)) for t in targets)
            found[node] = frozenset({node}).union(*parts)
        return found[node]

    for node in edges:
        reach(node, ())
    return found


def least_bounds(
    nodes: Iterable[str], reach: Mapping[str, frozenset[str]], rank: Mapping[str, int]
) -> list[str]:
    """The least nodes that all of these reach, of the lowest kind among them.

    >>> reach = above({"a": ["c"], "b": ["c"], "c": ["d"], "d": []})
    >>> least_bounds(["a", "b"], reach, dict.fromkeys("abcd", 0))
    ['c']
    """
    common = frozenset.intersection(*(reach[n] for n in nodes))
    least = [n for n in common if not any(n in reach[m] for m in common - {n})]
    low = min((rank[n] for n in least), default=0)
    return sorted(n for n in least if rank[n] == low)
