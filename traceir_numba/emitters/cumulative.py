"""Running sums, products and extrema: the folds of reductions, at each element.

A line is cut into strips, which are folded side by side and then each joined to what is
before it. Where it is cut depends on its length alone. Serves: class.cumulative,
choice.sum-order
"""

from __future__ import annotations

from textwrap import dedent, indent

from traceir_numba.emitters.entry import (
    EMITTERS,
    Expression,
    Running,
    Scalar,
    register,
)
from traceir_numba.functions import TEMPLATES, Function, short

# The elements of a line that are in the fastest cache while they are folded.
CHUNK = 4096
STRIPS = 8

register("cumsum", Running("reduce_sum"))
register("cumprod", Running("reduce_prod"))
register("cummax", Running("reduce_max"))
register("cummin", Running("reduce_min"))


def combined(primitive: str, e: Expression, x: str, y: str) -> str:
    """Two values by a scalar primitive."""
    entry = EMITTERS[primitive]
    assert isinstance(entry, Scalar)
    return entry.emit(e, x, y)


def _running(primitive: str, back: bool) -> None:
    """The function that folds elements in place, from the first on or the last."""

    def make(name: str, dtype: str) -> Function:
        e = Expression(dtype, dtype, operands=(dtype, dtype))

        def join(x: str, y: str) -> str:
            return combined(primitive, e, x, y)

        sign = "-" if back else "+"

        def place(first: str, k: str) -> str:
            return f"y[{first} {sign} {k}]"

        starts = [f"s{j}" for j in range(STRIPS)]
        origin = "at + n - 1" if back else "at"
        begins = [f"s0 = {origin}"]
        begins += [
            f"{s} = {before} {sign} strip" for before, s in zip(starts, starts[1:])
        ]
        firsts = [f"t{j} = y[{s}]" for j, s in enumerate(starts)]
        steps = [
            line
            for j, s in enumerate(starts)
            for line in (
                f"x{j} = {place(s, 'k')}",
                f"t{j} = {join(f't{j}', f'x{j}')}",
                f"{place(s, 'k')} = t{j}",
            )
        ]
        ends = [
            line
            for j, s in enumerate(starts)
            for line in (
                f"for k in range({'strip' if j < STRIPS - 1 else 'rest'}):",
                f"    x = {place(s, 'k')}",
                f"    {place(s, 'k')} = {join('before', 'x')}",
                f"before = {join('before', f't{j}')}",
            )
        ]
        last = STRIPS - 1
        text = f"""\
def {name}(y, at, n, before):
    strip = n // {STRIPS}
    if strip < {STRIPS}:
        first = {origin}
        for k in range(n):
            x = {place("first", "k")}
            before = {join("before", "x")}
            {place("first", "k")} = before
        return before
    rest = n - {last} * strip
{_lines(begins)}
{_lines(firsts)}
    for k in range(1, strip):
{_lines(steps, 8)}
    for k in range(strip, rest):
        x = {place(starts[last], "k")}
        t{last} = {join(f"t{last}", "x")}
        {place(starts[last], "k")} = t{last}
{_lines(ends)}
    return before"""
        args = dtype + "*", "int64", "int64", dtype
        return Function(name, args, dtype, text, tuple(e.calls))

    TEMPLATES[f"running_{'back_' if back else ''}{primitive}"] = make


def _lines(lines: list[str], depth: int = 4) -> str:
    return indent("\n".join(lines), " " * depth)


def _after(primitive: str) -> None:
    """The function that joins elements to what is before them all."""

    def make(name: str, dtype: str) -> Function:
        e = Expression(dtype, dtype, operands=(dtype, dtype))
        text = f"""
        def {name}(y, at, n, before):
            for k in range(at, at + n):
                x = y[k]
                y[k] = {combined(primitive, e, "before", "x")}
        """
        args = dtype + "*", "int64", "int64", dtype
        return Function(name, args, None, dedent(text).strip(), tuple(e.calls))

    TEMPLATES[f"after_{primitive}"] = make


for _primitive in ("add", "mul", "max", "min"):
    _running(_primitive, False)
    _running(_primitive, True)
    _after(_primitive)
