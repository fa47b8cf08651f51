"""Einstein sums: `einsum` and `einsum_path`. Serves: einsum.*

A sum over many operands is made of sums over one or two, in an order that NumPy's
`einsum_path` finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from string import ascii_letters
from typing import Any, NamedTuple

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base import cost_model
from traceir.lax.checks.operands import (
    BOOL,
    DTypeLike,
    Operand,
    convert,
    default_dtype,
    dtype_of,
    promoted,
    shape_of,
    typed,
)
from traceir.lax.checks.precision import PrecisionLike, precisely
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.products.dot import contracted
from traceir.tracing.trace import typeof


class EinsumTerm(NamedTuple):
    """A value, and the letters of its dimensions."""

    letters: str
    value: Operand


Axes = tuple[tuple[int, ...], ...]
Contraction = Callable[[Operand, Operand, Axes, Axes], Array]


@takes_out_sharding
def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    optimize: Any = "auto",
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
    out_sharding: OutSharding = None,
    _dot_general: Callable[..., Array] = lax.dot_general,
) -> Array:
    """Sums of products over the dimensions whose letters the result does not have.

    `subscripts` are letters for each operand's dimensions, with commas between, and
    after an arrow those of the result; without one, these are the letters that occur
    once, in their order. `...` stands for further dimensions, which broadcast. Operands
    and lists of integers in turns mean the same. `optimize` is an order, or a way to
    find one, as `einsum_path` takes them. It is computed in the preferred dtype. Sums
    over two operands are by `_dot_general`, which libraries put in its place. Raises
    ValueError (einsum.subscripts, einsum.extents).

    >>> import traceir.numpy as jnp
    >>> einsum("ij,jk->ik", jnp.array([[1, 2]]), jnp.array([[3], [4]]))
    Array([[11]], dtype=int32)
    """
    terms, result = _read(subscripts, operands)
    values = promoted("einsum", *(term.value for term in terms))
    own, wanted = _dot_general is lax.dot_general, typeof(values[0]).dtype
    if preferred_element_type is not None:
        wanted = dtype_of(preferred_element_type, "einsum")
        values = [convert(v, wanted) for v in values] if own else values
    truths = typeof(values[0]).dtype == BOOL
    if truths:
        values = [convert(v, default_dtype(int)) for v in values]
    extents = _extents([EinsumTerm(t.letters, v) for t, v in zip(terms, values)])
    found = [
        _narrowed(EinsumTerm(t.letters, v), extents) for t, v in zip(terms, values)
    ]
    contract = contracted if own else _replaced(_dot_general, precision, wanted)
    for step in _order(found, result, optimize):
        chosen = [found[k] for k in step]
        found = [term for k, term in enumerate(found) if k not in step]
        needed = set(result).union(*(term.letters for term in found))
        last = result if not found else None
        with precisely(precision):
            found.append(_joined(chosen, needed, last, contract))
    value = _single(found[0], set(result), result).value
    # What is converted is an Array.
    return convert(value, BOOL) if truths else value


def _replaced(
    dot_general: Callable[..., Array], precision: PrecisionLike, dtype: np.dtype
) -> Contraction:
    """The contraction that a function in the place of `dot_general` makes."""

    def contract(x: Operand, y: Operand, axes: Axes, batch: Axes) -> Array:
        numbers = axes, batch
        return dot_general(x, y, numbers, precision, preferred_element_type=dtype)

    return contract


def einsum_path(
    subscripts: Any, /, *operands: Any, optimize: Any = "auto"
) -> tuple[list[Any], str]:
    """The order in which `einsum` takes operands, and a text about its cost.

    `optimize` is "optimal", "greedy", a list of tuples of operands' places, or False
    for all at once; "auto" is the best order of a few operands, a good one of more.
    Raises ValueError (einsum.subscripts).

    >>> import traceir.numpy as jnp
    >>> einsum_path("i,i->", jnp.ones(2), jnp.ones(2))[0]
    ['einsum_path', (0, 1)]
    """
    terms, result = _read(subscripts, operands)
    # The order depends on extents alone.
    shapes = [np.broadcast_to(np.float32(0), shape_of(t.value)) for t in terms]
    text = ",".join(t.letters for t in terms) + "->" + result
    few = len(terms) <= cost_model.OPTIMAL_EINSUM_OPERANDS
    way = ("optimal" if few else "greedy") if optimize in ("auto", True) else optimize
    path, shown = np.einsum_path(text, *shapes, optimize=way)
    return path, str(shown)


def _order(
    terms: Sequence[EinsumTerm], result: str, optimize: Any
) -> list[tuple[int, ...]]:
    """The order of contraction: which of the terms that are left are taken together."""
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    text = ",".join(t.letters for t in terms) + "->" + result
    path, _ = einsum_path(text, *(t.value for t in terms), optimize=optimize)
    return [tuple(step) for step in path[1:]]


def _read(subscripts: Any, operands: Sequence[Any]) -> tuple[list[EinsumTerm], str]:
    """The terms, all of whose dimensions have letters, and the result's letters."""
    if not isinstance(subscripts, str):
        subscripts, operands = _from_lists((subscripts, *operands))
    text = subscripts.replace(" ", "")
    given, arrow, result = text.partition("->")
    parts = given.split(",")
    values = promoted("einsum", *operands) if operands else []
    if len(parts) != len(values):
        raise _unread(f"{subscripts!r} for {len(values)} operands")
    used = set(text)
    free = [letter for letter in ascii_letters if letter not in used]
    widths = [
        len(shape_of(v)) - len(p) + 3 for p, v in zip(parts, values) if "..." in p
    ]
    more = "".join(free[: max(widths, default=0)])
    terms = [_term(p, v, more, subscripts) for p, v in zip(parts, values)]
    if not arrow:
        counts = Counter(given.replace("...", "").replace(",", ""))
        result = "..." + "".join(sorted(c for c, n in counts.items() if n == 1))
    result = result.replace("...", more, 1)
    known = set().union(*(t.letters for t in terms))
    if len(set(result)) < len(result) or not known.issuperset(result):
        raise _unread(repr(subscripts))
    return terms, result


def _term(part: str, value: Operand, more: str, subscripts: str) -> EinsumTerm:
    """A term; the letters of `...` are the last of `more`."""
    rank = len(shape_of(value))
    head, dots, tail = part.partition("...")
    letters = head + tail
    wide = rank - len(letters)
    if set(letters) & set(".,->") or wide < 0 or (wide and not dots):
        raise _unread(f"{subscripts!r}, {part!r} for {typeof(value).str_short()}")
    return EinsumTerm(head + (more[len(more) - wide :] if wide else "") + tail, value)


def _unread(got: str) -> Exception:
    return rules.error("einsum.subscripts", got=got)


def _from_lists(mixed: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Subscripts as text, from operands and lists of names in turns.

    A name is an integer, or any value that can be a key of a dict.
    """
    count = len(mixed) // 2
    named = [*mixed[1 : 2 * count : 2], *mixed[2 * count :]]
    try:
        names = {name: None for names in named for name in names if name is not ...}
    except TypeError:
        raise _unread(repr(named)) from None
    try:
        ordered = sorted(names)
    except TypeError:  # they have no order but that in which they come
        ordered = list(names)
    if len(ordered) > len(ascii_letters):
        raise _unread(f"{len(ordered)} names of dimensions")
    letters = {**dict(zip(ordered, sorted(ascii_letters))), ...: "..."}
    texts = ["".join(letters[name] for name in names) for names in named]
    text = ",".join(texts[:count]) + "".join("->" + out for out in texts[count:])
    return text, [mixed[2 * k] for k in range(count)]


def _extents(terms: Sequence[EinsumTerm]) -> dict[str, int]:
    """The extent of each letter; ValueError (einsum.extents) if it has two."""
    found: dict[str, int] = {}
    for term in terms:
        for letter, extent in zip(term.letters, shape_of(term.value), strict=True):
            before = found.get(letter, 1)
            if before != extent and 1 not in (before, extent):
                got = f"{letter!r} is {before} and {extent}"
                raise rules.error("einsum.extents", got=got)
            found[letter] = before if extent == 1 else extent
    return found


def _narrowed(term: EinsumTerm, extents: dict[str, int]) -> EinsumTerm:
    """A term without the dimensions of extent 1 that stand for longer ones."""
    shape = shape_of(term.value)
    pairs = list(zip(term.letters, shape, strict=True))
    gone = tuple(d for d, (c, n) in enumerate(pairs) if n != extents[c])
    if not gone:
        return term
    letters = "".join(c for d, c in enumerate(term.letters) if d not in gone)
    return EinsumTerm(letters, lax.squeeze(term.value, gone))


def _joined(
    terms: Sequence[EinsumTerm],
    needed: set[str],
    result: str | None,
    contract: Contraction,
) -> EinsumTerm:
    """The sum of products of terms, in the order of `result` if that is given."""
    if len(terms) == 1:
        return _single(terms[0], needed, result)
    first, *others = terms
    for other in others[:-1]:
        own = needed.union(*(t.letters for t in others[1:]))
        first = _pair(first, other, own, None, contract)
    return _pair(first, others[-1], needed, result, contract)


def _pair(
    x: EinsumTerm,
    y: EinsumTerm,
    needed: set[str],
    result: str | None,
    contract: Contraction,
) -> EinsumTerm:
    """The sum of products of two terms."""
    x = _single(x, needed.union(y.letters), None)
    y = _single(y, needed.union(x.letters), None)
    shared = [c for c in x.letters if c in y.letters]
    batch = "".join(c for c in shared if c in needed)
    summed = "".join(c for c in shared if c not in needed)
    # The later operand goes first, unless the other order is what is asked for.
    if result is None or _result(x, y, batch, summed) != result:
        turned = _result(y, x, batch, summed)
        x, y = (y, x) if result in (None, turned) else (x, y)
    axes, paired = (
        tuple(tuple(t.letters.index(c) for c in which) for t in (x, y))
        for which in (summed, batch)
    )
    letters = _result(x, y, batch, summed)
    return EinsumTerm(letters, contract(x.value, y.value, axes, paired))


def _result(x: EinsumTerm, y: EinsumTerm, batch: str, summed: str) -> str:
    """The letters of a contraction: batch dimensions, the left's, the right's."""
    rest = (c for t in (x, y) for c in t.letters if c not in batch + summed)
    return batch + "".join(rest)


def _single(term: EinsumTerm, needed: set[str], result: str | None) -> EinsumTerm:
    """One term with each needed letter once, in the order of `result` if given."""
    letters, value = term
    for letter, count in Counter(letters).items():
        if count > 1:
            value = _on_diagonal(
                value, [d for d, c in enumerate(letters) if c == letter]
            )
    gone = tuple(
        d
        for d, letter in enumerate(letters)
        if letter not in needed or letter in letters[d + 1 :]
    )
    if gone:
        value = lax.reduce_sum(value, gone)
        letters = "".join(c for d, c in enumerate(letters) if d not in gone)
    if result is not None and letters != result:
        order = tuple(map(letters.index, result))
        value, letters = lax.transpose(value, order), result
    return EinsumTerm(letters, value)


def _on_diagonal(value: Operand, axes: Sequence[int]) -> Array:
    """A value with zeros wherever the indices along these axes differ."""
    aval = typeof(value)
    first = lax.broadcasted_iota("uint32", aval.shape, axes[0])
    for axis in axes[1:]:
        on = lax.eq(first, lax.broadcasted_iota("uint32", aval.shape, axis))
        zero = typed(0, aval.dtype, aval.weak_type)
        zeros = lax.broadcast_in_dim(zero, aval.shape, ())
        value = lax.select_n(on, zeros, value)
    return value  # type: ignore[no-any-return]  # more than one axis was given
