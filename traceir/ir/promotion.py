"""Type promotion: the dtype in which operands meet.

Serves: promote.*, aval.python.*, aval.canonical.*
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from traceir.base import config
from traceir.base.caches import cleared
from traceir.base.lazy_exports import imported
from traceir.dtypes import as_dtype
from traceir.errors import shown
from traceir.ir.avals import ShapedArray
from traceir.rules import Rules, default
from traceir.rules.formulas.table_errors import problem
from traceir.rules.lattice import RANK, least_bounds

# A dtype's name, and whether the operand is weak.
Operand = tuple[str, bool]
Promoted = tuple[np.dtype, bool]
_MEMO_SIZE = 4096
_memo: dict[tuple[Any, ...], Promoted] = {}
cleared(_memo.clear)


def promote(
    *avals: ShapedArray,
    face: str = "jax",
    x64: bool | None = None,
    rules: Rules | None = None,
) -> Promoted:
    """The dtype and the weakness in which operands meet (promote.jax, promote.numpy).

    `x64` is that of the context unless it is given. At least one operand. Raises
    ValueError (promote.apart) where they do not meet, and (promote.strict) where the
    context wants the same dtype of all.

    >>> weak = ShapedArray((), "float32", weak_type=True)
    >>> promote(ShapedArray((3,), "int32"), weak)
    (dtype('float32'), True)
    >>> promote(ShapedArray((3,), "int8"), ShapedArray((), "uint8"))
    (dtype('int16'), False)
    """
    if x64 is None:
        x64 = config.local.context.x64
    key = avals, face, x64, rules
    found = _memo.get(key)
    if found is None:
        operands = [(a.dtype.name, a.weak_type) for a in avals]
        name, weak = promote_names(operands, face, x64, rules)
        if len(_memo) >= _MEMO_SIZE:
            _memo.clear()
        found = _memo[key] = as_dtype(name), weak
    if config.local.context.numpy_dtype_promotion == "strict" and len(avals) > 1:
        check_strict(avals, found[0], x64, rules)
    return found


def check_strict(
    avals: tuple[ShapedArray, ...], joined: np.dtype, x64: bool, rules: Rules | None
) -> None:
    """Raise ValueError (promote.strict) if a strong operand would be converted."""
    for aval in avals:
        if not aval.weak_type and canonical_dtype(aval.dtype, x64, rules) != joined:
            got = " and ".join(a.str_short() for a in avals)
            raise (rules or default()).error("promote.strict", got=got)


def promote_names(
    operands: Iterable[Operand], face: str, x64: bool, rules: Rules | None = None
) -> Operand:
    """As `promote`, on names of dtypes, so also on those that NumPy does not store.

    >>> promote_names([("bfloat16", False), ("float16", False)], "jax", False)
    ('float32', False)
    """
    rules = rules or default()
    lattice, pairs = rules.lattice, tuple(operands)
    row = lattice.faces[face]
    names = {name for name, _ in pairs}
    if any(lattice.dtypes[n].kind == "key" for n in names):
        if len(names) > 1:
            raise rules.error("promote.key", got=" and ".join(n for n, _ in pairs))
        return pairs[0]
    if len(pairs) == 1 or all(weak for _, weak in pairs):
        name = canonical_name(join((n for n, _ in pairs), face, rules), x64, rules)
        # A dtype that has no weak node, as bool, meets another as a strong one.
        strong = len(pairs) > 1 and _node(rules, name) == name
        return name, pairs[0][1] and not strong
    if row.weak == "nodes":
        nodes = [_node(rules, n) if weak else n for n, weak in pairs]
    else:
        nodes = list(_by_kind(pairs, x64, rules))
    found = join(nodes, face, rules)
    if found in lattice.weak:
        return _usual(rules, found, x64), True
    return canonical_name(found, x64, rules), False


def _node(rules: Rules, name: str) -> str:
    """The node of a weak number of this dtype."""
    rank = RANK[rules.lattice.dtypes[name].kind]
    nodes = (w.node for w in rules.lattice.weak.values() if RANK[w.kind] == rank)
    return next(nodes, name)


def _usual(rules: Rules, node: str, x64: bool) -> str:
    """The dtype that a weak node shows."""
    weak = rules.lattice.weak[node]
    return weak.x64 if x64 else weak.x32


def _by_kind(pairs: tuple[Operand, ...], x64: bool, rules: Rules) -> Iterable[str]:
    """The strong operands, and those weak ones that no strong one is a match for."""
    dtypes = rules.lattice.dtypes
    top = max(RANK[dtypes[n].kind] for n, weak in pairs if not weak)
    for name, weak in pairs:
        if not weak:
            yield name
        elif RANK[dtypes[name].kind] > top:
            # Beside floating numbers a complex one asks for parts, not for precision.
            parts = top == RANK["floating"]
            yield _usual(rules, _node(rules, name), x64 and not parts)


def join(nodes: Iterable[str], face: str, rules: Rules) -> str:
    """The least node that all of these reach, of the lowest kind if there are several.

    Raises ValueError (promote.apart) where there is none, and RuleTableError
    (table.lattice) where there is more than one.
    """
    row, given = rules.lattice.faces[face], tuple(nodes)
    if len({*given}) == 1:
        return given[0]
    known = all(node in row.reach for node in given)
    least = least_bounds(given, row.reach, row.rank) if known else []
    if not least:
        got = " and ".join(node.strip("*") for node in given)
        raise rules.error("promote.apart", got=got)
    if len(least) != 1:
        got = f"{' and '.join(given)} meet in {' and '.join(least) or 'nothing'}"
        raise problem("table.lattice", f"face {face}", got)
    return least[0]


def canonical_name(name: str, x64: bool, rules: Rules) -> str:
    """The name of a dtype, narrowed while 64-bit types are off (aval.canonical.*)."""
    return name if x64 else rules.lattice.canonical.get(name, name)


@lru_cache(maxsize=256)
def canonical_dtype(dtype: np.dtype, x64: bool, rules: Rules | None = None) -> np.dtype:
    """The dtype, narrowed while 64-bit types are off (aval.canonical.*).

    >>> canonical_dtype(np.dtype("float64"), x64=False)
    dtype('float32')
    """
    return as_dtype(canonical_name(dtype.name, x64, rules or default()))


def python_aval(
    value: Any, x64: bool | None = None, rules: Rules | None = None
) -> ShapedArray:
    """The type of a Python number, a NumPy scalar or a NumPy array, canonical.

    Raises TypeError (jit.argument) for anything else and (jit.dtype) for other dtypes,
    ValueError (jit.masked), OverflowError (jit.overflow) for an int that does not fit.

    >>> python_aval(2, x64=True), python_aval(np.ones(3))
    (ShapedArray(int64[], weak_type=True), ShapedArray(float32[3]))
    """
    if x64 is None:
        x64 = config.local.context.x64
    kind = type(value)
    if kind is float or kind is bool:
        return _scalar_aval(kind.__name__, x64, rules)
    if kind is int:
        return _fitting(value, _scalar_aval("int", x64, rules))
    if isinstance(value, (np.ndarray, np.generic)):
        check_unmasked(value)
        return ShapedArray(value.shape, _array_dtype(value.dtype, x64, rules))
    if isinstance(value, int):
        return _fitting(value, _scalar_aval("int", x64, rules))
    if isinstance(value, float):
        return _scalar_aval("float", x64, rules)
    if isinstance(value, complex):
        return _scalar_aval("complex", x64, rules)
    raise no_array(value)


_NAMES = (
    "pass columns of numbers, such as `df['price']`; the values of one of text are "
    "numbered by `np.unique(x, return_inverse=True)[1]`"
)


def is_reference(value: Any) -> bool:
    """True for a reference, whose class is not on the way of an import."""
    return getattr(type(value), "is_reference", False) is True


def no_array(value: object) -> Exception:
    """The error of a value that is no array where one is asked for (jit.argument)."""
    hint = None
    if hasattr(value, "__dataclass_fields__"):
        hint = "register its class with `traceir.tree_util.register_dataclass`"
    elif is_reference(value):
        hint = "read the array of the reference: `ref[...]`"
    elif hasattr(value, "to_numpy"):
        hint = "pass the array in it: `x.to_numpy()`"
    elif hasattr(value, "__array__"):
        hint = "pass the array that it stands for: `numpy.asarray(x)`"
    got = f"{shown(value)} of type {type(value).__name__}"
    return default().error("jit.argument", got=got, hint=hint)


@lru_cache(maxsize=256)
def _array_dtype(dtype: np.dtype, x64: bool, rules: Rules | None) -> np.dtype:
    """The canonical dtype of a NumPy array; `dtype.name` is too slow for each call."""
    if dtype.name not in default().dtypes:
        got = f"a NumPy array of dtype {dtype.name}"
        hint = _NAMES if dtype.kind in "OSTU" else None
        raise default().error("jit.dtype", got=got, hint=hint)
    return canonical_dtype(dtype, x64, rules)


def check_unmasked(value: object) -> None:
    """Raise ValueError (jit.masked) for a NumPy array with a mask, which would be lost.

    >>> check_unmasked(np.ones(2))
    """
    # To import the module of masked arrays takes as long as to trace a small function.
    masked = imported("numpy.ma", "MaskedArray")
    if masked and type(value) is not np.ndarray and isinstance(value, masked):
        raise default().error("jit.masked", got=f"{type(value).__name__} {value}")
    if config.local.context.face == "numpy":
        check_plain(value)


# Classes of arrays whose operations are those of `np.ndarray`.
PLAIN_ARRAYS: set[type] = {np.ndarray, np.memmap}


def check_plain(value: Any) -> None:
    """Raise TypeError (jit.subclass) for an array of a class of its own."""
    kind = type(value)
    if isinstance(value, np.ndarray) and kind not in PLAIN_ARRAYS:
        got = f"a {kind.__module__}.{kind.__name__}"
        raise default().error("jit.subclass", got=got)


def _fitting(value: int, aval: ShapedArray) -> ShapedArray:
    low, high = _range(aval.dtype)
    if low <= value <= high:
        return aval
    raise default().error("jit.overflow", got=f"{value} for {aval.dtype.name}")


@lru_cache(maxsize=8)
def _range(dtype: np.dtype) -> tuple[float, float]:
    row = default().dtypes[dtype.name]
    return row.min, row.max


@lru_cache(maxsize=64)
def _scalar_aval(kind: str, x64: bool, rules: Rules | None) -> ShapedArray:
    rules = rules or default()
    node = rules.lattice.python[kind]
    if node in rules.lattice.weak:
        return ShapedArray((), _usual(rules, node, x64), weak_type=True)
    return ShapedArray((), node)
