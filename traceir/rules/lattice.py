"""`lattice.toml`: dtypes, sets and promotion. Serves: aval.*, promote.*"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from traceir.rules.formulas.table_errors import problem
from traceir.rules.row_reader import RowReader
from traceir.rules.rows import LATER, Clause, DType, Face, Lattice, Weak

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
    for row in table.rows("face"):
        face = _face(row, rank, checked)
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
    )
    row.done()
    if not checked:
        _check_stored(found, row.where)
    return found


def _check_stored(dtype: DType, where: str) -> None:
    """Raises table.lattice if a dtype is not the one that NumPy has by its name."""
    said = dtype.kind, dtype.bits, dtype.min, dtype.max
    if dtype.bits % 8 or (dtype.kind in INEXACT and dtype.min != -dtype.max):
        got = f"{dtype.bits} bits from {dtype.min} to {dtype.max}"
        raise problem("table.lattice", where, got)
    own = dtype.stored and dtype.stored not in LATER and dtype.kind != "key"
    if own and said != (stored := _stored(np.dtype(dtype.stored))):
        raise problem("table.lattice", where, f"{said}, NumPy has {stored}")


def _stored(dtype: np.dtype[Any]) -> tuple[str, int, int | float, int | float]:
    """Kind, bits, least and greatest element of a dtype of NumPy's."""
    bits = 8 * dtype.itemsize
    match dtype.kind:
        case "b":
            return "boolean", bits, 0, 1
        case "i" | "u":
            integers = np.iinfo(dtype)
            kind = "signed" if dtype.kind == "i" else "unsigned"
            return kind, bits, integers.min, integers.max
        case _:
            floats = np.finfo(dtype)
            kind = "floating" if dtype.kind == "f" else "complex"
            return kind, bits, float(floats.min), float(floats.max)


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


def _face(row: RowReader, rank: Mapping[str, int], checked: bool) -> Face:
    """A face's lattice; refused unless each two nodes have one least upper bound."""
    edges = {a: tuple(b) for a, b in row.get("edges", Mapping).items()}
    weak = row.one_of("weak", ("nodes", "kinds"))
    for name in {*edges, *(b for targets in edges.values() for b in targets)}:
        if name not in rank or name not in edges:
            raise problem("table.lattice", f"{row.where}: edges", name)
    reach = above(edges, f"{row.where}: edges")
    for pair in () if checked else combinations(reach, 2):
        if len(least := least_bounds(pair, reach, rank)) != 1:
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
