"""The difference of two outcomes: kind by kind, with tolerances by dtype."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from against_jax.outcomes import CATCHABLE, Leaf, Outcome

# An element may be off by so many units in the last place of the largest element, 1 at
# least: programs are short, and their numbers are small.
UNITS = {"float16": 16, "bfloat16": 8, "float32": 256, "float64": 256}
EPS = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}
# Of the classes of JAX's errors those that its callers may rely on: an assertion that
# fails, or a case that is not there yet, is an error here of whatever class.
RELIED_ON = frozenset(CATCHABLE) - {"NotImplementedError"}
# What an error says of a name that there is not; the first is the rule face.missing.
LACKS = (
    "A name of the module must be one that it has",
    "unexpected keyword argument",
    "module 'traceir",
    "'Array' object has no attribute",
)
PARTS = {"complex64": "float32", "complex128": "float64"}


@dataclass(frozen=True)
class Difference:
    """One kind of difference, and what there was on both sides."""

    kind: str
    detail: str


def compare(ours: Outcome, theirs: Outcome) -> Difference | None:
    """The first difference of kind that outcomes have, or None."""
    if ours.error or theirs.error:
        return _errors(ours, theirs)
    if ours.tree != theirs.tree:
        return Difference("tree", f"{ours.tree} for {theirs.tree}")
    pairs = list(zip(ours.leaves, theirs.leaves))
    for find in (_objects, _dtypes, _shapes, _weak, _values):
        for a, b in pairs:
            found = find(a, b)
            if found is not None:
                return found
    return None


def _errors(ours: Outcome, theirs: Outcome) -> Difference | None:
    wanted = theirs.catchable or "a result"
    if _missing(ours) and theirs.catchable not in ours.error:
        return Difference("missing", f"{ours.catchable} for {wanted}")
    if not theirs.error:
        return Difference("refused", f"{ours.catchable} for {wanted}")
    if not ours.error:
        return Difference("accepted", f"a result for {theirs.catchable}")
    if theirs.catchable in ours.error or theirs.catchable not in RELIED_ON:
        return None
    return Difference("class", f"{ours.catchable} for {wanted}")


def _missing(ours: Outcome) -> bool:
    """True if the program names what there is not: then it tells nothing else."""
    return any(text in ours.message for text in LACKS)


def _objects(a: Leaf, b: Leaf) -> Difference | None:
    if bool(a.dtype) != bool(b.dtype):
        return Difference("object", f"{_name(a)} for {_name(b)}")
    if a.dtype or _same_object(a.value, b.value):
        return None
    return Difference("object", f"{a.value!r} for {b.value!r}"[:80])


def _same_object(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, float | complex) and isinstance(b, float | complex):
        return bool(np.isclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True))
    return a == b


def _name(leaf: Leaf) -> str:
    return leaf.dtype or type(leaf.value).__name__


def _dtypes(a: Leaf, b: Leaf) -> Difference | None:
    if a.dtype == b.dtype:
        return None
    return Difference("dtype", f"{a.dtype} for {b.dtype}")


def _shapes(a: Leaf, b: Leaf) -> Difference | None:
    if a.shape == b.shape:
        return None
    return Difference("shape", f"{list(a.shape)} for {list(b.shape)}")


def _weak(a: Leaf, b: Leaf) -> Difference | None:
    if a.weak == b.weak:
        return None
    return Difference("weak", f"{a.weak} for {b.weak}")


def _values(a: Leaf, b: Leaf) -> Difference | None:
    if not a.dtype or a.value is None or b.value is None:
        return None  # no array, or of one side the type alone was asked for
    dtype = a.dtype.removeprefix("np.")
    if dtype in PARTS:
        x, y, part = a.value, b.value, PARTS[dtype]
        one, other = (_largest(v.real, v.imag) for v in (x, y))
        scale = max(one, other)
        found = _close(x.real, y.real, part, scale)
        return found or _close(x.imag, y.imag, part, scale)
    if dtype not in EPS:
        return (
            None if np.array_equal(a.value, b.value) else Difference("value", "exact")
        )
    return _close(a.value, b.value, dtype, _largest(a.value, b.value))


def _as_exact_as(worst: float, dtype: str) -> str:
    """The widest of the narrower dtypes whose tolerance would have been kept."""
    names = sorted(EPS, key=EPS.__getitem__)
    for name in names[names.index(dtype) + 1 :]:
        if worst <= UNITS[name] * EPS[name]:
            return f", within {name}"
    return ""


def _largest(*arrays: np.ndarray) -> float:
    """The greatest magnitude of finite elements; 1 at least."""
    wide = [np.abs(a.astype("float64")) for a in arrays]
    return max(float(np.max(a[np.isfinite(a)], initial=1.0)) for a in wide)


def _close(
    a: np.ndarray, b: np.ndarray, dtype: str, largest: float
) -> Difference | None:
    x, y = a.astype("float64"), b.astype("float64")
    if not np.array_equal(np.isnan(x), np.isnan(y)):
        return Difference("value", "nan")
    infinite = np.isinf(x) | np.isinf(y)
    if not np.array_equal(x[infinite], y[infinite]):
        return Difference("value", "infinite")
    usual = np.isfinite(x) & np.isfinite(y)
    worst = np.max(np.abs(x[usual] - y[usual]), initial=0.0) / largest
    if worst > UNITS[dtype] * EPS[dtype]:
        return Difference("value", f"number{_as_exact_as(worst, dtype)}")
    zeros = usual & (x == 0) & (y == 0)
    if not np.array_equal(np.signbit(x[zeros]), np.signbit(y[zeros])):
        return Difference("value", "zero")
    return None
