"""Reductions: their accumulators, and a fixed tree that joins them.

Serves: choice.sum-order
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traceir_numba import cost_model
from traceir_numba.device_functions import (
    TEMPLATES,
    DeviceFunction,
    device_function,
    limits,
    short,
)
from traceir_numba.emitters.folds.searches import by_extremes
from traceir_numba.emitters.kinds import (
    EMITTERS,
    Elementwise,
    ExpressionContext,
    Reduce,
    register,
)


def least(dtype: str) -> str:
    """Less than or equal to everything."""
    return _end(dtype, "-inf", 0)


def greatest(dtype: str) -> str:
    """Greater than or equal to everything."""
    return _end(dtype, "inf", 1)


def _end(dtype: str, infinity: str, end: int) -> str:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return str(bool(end))
    return f"{short(dtype)}({infinity if kind == 'f' else limits(dtype)[end]})"


def number(dtype: str, value: int) -> str:
    """A small constant."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return str(bool(value))
    return f"{short(dtype)}({float(value) if kind == 'f' else value})"


def ones(dtype: str) -> str:
    """All bits."""
    return number(dtype, -1) if np.dtype(dtype).kind == "i" else greatest(dtype)


# -- folds by a scalar primitive ------------------------------------------------------


def reduction(primitive: str, combine: str, initial: object) -> None:
    """A reduction by `combine`, from its identity."""
    assert callable(initial)

    def update(
        e: ExpressionContext, old: tuple[str, ...], x: str, _at: str
    ) -> tuple[str]:
        return (combined(combine, e, old[0], x),)

    def fold(name: str, dtype: str) -> DeviceFunction:
        """The fold of accumulators in one line, as a tree fixed by their number."""
        e = ExpressionContext(dtype, dtype, operands=(dtype, dtype))
        known = "".join(
            f"""
            if left == {2 * half}:
                for k in range({half}):
                    x = acc[k]
                    y = acc[k + {half}]
                    acc[k] = {combined(combine, e, "x", "y")}
                left = {half}"""
            for half in _halves(cost_model.ROW_ACCUMULATORS)
        )
        # The usual numbers are halved by loops of known lengths, which are unrolled.
        text = f"""
        def {name}(acc, n, total):
            few = total <= {cost_model.SEQUENTIAL_ROW}
            left = 1 if few else n{known}
            while left > 1:
                half = (left + 1) // 2
                for k in range(left - half):
                    x = acc[k]
                    y = acc[k + half]
                    acc[k] = {combined(combine, e, "x", "y")}
                left = half
            x = acc[0]
            many = n if n < total else total
            for k in range(1, many if few else 1):
                y = acc[k]
                x = {combined(combine, e, "x", "y")}
            acc[0] = x
            return x
        """
        args = dtype + "*", "int64", "int64"
        return device_function(name, args, dtype, text, *e.calls)

    def fold_columns(name: str, dtype: str) -> DeviceFunction:
        """The fold of accumulators of several columns that lie side by side."""
        e = ExpressionContext(dtype, dtype, operands=(dtype, dtype))
        text = f"""
        def {name}(acc, n, columns):
            while n > 1:
                half = (n + 1) // 2
                for k in range((n - half) * columns):
                    x = acc[k]
                    y = acc[k + half * columns]
                    acc[k] = {combined(combine, e, "x", "y")}
                n = half
        """
        args = dtype + "*", "int64", "int64"
        return device_function(name, args, None, text, *e.calls)

    TEMPLATES[f"fold_{combine}"] = fold
    TEMPLATES[f"fold_columns_{combine}"] = fold_columns
    register(
        primitive,
        Reduce(lambda t: (t,), lambda t: (initial(t),), update, f"fold_{combine}"),
    )


def _halves(n: int) -> Iterator[int]:
    """Half of a power of two, half of that, and so on."""
    while n > 1:
        n //= 2
        yield n


def combined(primitive: str, e: ExpressionContext, x: str, y: str) -> str:
    """Two values by a scalar primitive, or by a function of that name."""
    entry = EMITTERS.get(primitive)
    if isinstance(entry, Elementwise):
        return entry.emit(e, x, y)
    return e.call(f"{primitive}_{short(e.dtype)}", x, y)


reduction("reduce_sum", "add", lambda t: number(t, 0))
reduction("reduce_prod", "mul", lambda t: number(t, 1))
reduction("reduce_max", "max", least)
reduction("reduce_min", "min", greatest)
reduction("reduce_and", "and", ones)
reduction("reduce_or", "or", lambda t: number(t, 0))
reduction("reduce_xor", "xor", lambda t: number(t, 0))


# -- the index of the first extreme element -------------------------------------------


def search(primitive: str, sign: str) -> None:
    """The first element that no other beats; the first NaN beats all numbers.

    The second accumulator is the index found, -1 as long as there is none.
    """

    def test(e: ExpressionContext, old: tuple[str, ...], x: str) -> str:
        return e.call(f"{primitive}_beats_{_suffix(e.operand)}", x, *old)

    def update(
        e: ExpressionContext, old: tuple[str, ...], x: str, at: str
    ) -> tuple[str, ...]:
        return f"{x} if better else {old[0]}", f"{at} if better else {old[1]}"

    def beats(name: str, dtype: str) -> DeviceFunction:
        nan = " | ((x != x) & (best == best))" if np.dtype(dtype).kind == "f" else ""
        text = f"""
        def {name}(x, best, at):
            return (at < 0) | (x {sign} best){nan}
        """
        args = dtype, dtype, "int64"
        return device_function(name, args, "bool", text)

    def fold(name: str, dtype: str, columns: str = "") -> DeviceFunction:
        """The fold of extremes with their indices; of equals the first stays."""
        both = " | ((x != x) & (y != y))" if np.dtype(dtype).kind == "f" else ""
        beater = f"{primitive}_beats_{_suffix(dtype)}"
        across = f" * {columns}" if columns else ""
        text = f"""
        def {name}(acc, at, n{columns and ", "}{columns}):
            while n > 1:
                half = (n + 1) // 2
                for k in range({f"(n - half){across}" if across else "n - half"}):
                    x = acc[k]
                    y = acc[k + half{across}]
                    i = at[k]
                    j = at[k + half{across}]
                    tie = ((x == y){both}) & (j < i)
                    if (j >= 0) & ({beater}(y, x, i) | tie):
                        acc[k] = y
                        at[k] = j
                n = half
            {"" if columns else "return at[0]"}
        """
        args = dtype + "*", "int64*", "int64", *(["int64"] if columns else [])
        result = None if columns else "int64"
        return device_function(name, args, result, text, beater)

    def fold_columns(name: str, dtype: str) -> DeviceFunction:
        return fold(name, dtype, "columns")

    TEMPLATES[f"{primitive}_beats"] = beats
    TEMPLATES[f"fold_{primitive}"] = fold
    TEMPLATES[f"fold_columns_{primitive}"] = fold_columns
    register(
        primitive,
        Reduce(
            accumulators=lambda t: (t, "int64"),
            initial=lambda t: (number(t, 0), "-1"),
            update=update,
            fold=f"fold_{primitive}",
            test=test,
            program=by_extremes,
        ),
    )


def _suffix(dtype: str) -> str:
    return short(dtype).rstrip("_")


search("argmax", ">")
search("argmin", "<")
