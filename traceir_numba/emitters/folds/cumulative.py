"""Prefix sums, products and extrema.

A line is cut into strips, which are folded side by side and then each joined to what is
before it. Its cuts depend on its length alone. Serves: class.cumulative,
choice.sum-order
"""

from __future__ import annotations

from itertools import pairwise
from textwrap import indent

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import ClosedJaxpr, Eqn
from traceir_numba import cost_model
from traceir_numba.device_functions import (
    TEMPLATES,
    DeviceFunction,
    device_function,
    scalar,
    short,
    template,
)
from traceir_numba.emitters.folds.reductions import combined, least
from traceir_numba.emitters.kinds import (
    ExpressionContext,
    PrefixScan,
    Reduce,
    register,
)

# What joins sums of powers, which no primitive does.
POWERS = "logaddexp"

register("cumsum", PrefixScan("reduce_sum"))
register("cumprod", PrefixScan("reduce_prod"))
register("cummax", PrefixScan("reduce_max"))
register("cummin", PrefixScan("reduce_min"))


@dataclass(frozen=True, slots=True)
class _FoldFunction:
    """The lines of a function that folds in place, from the first on or the last."""

    primitive: str
    back: bool
    e: ExpressionContext

    def join(self, x: str, y: str) -> str:
        return combined(self.primitive, self.e, x, y)

    def place(self, strip: str, k: str) -> str:
        return f"y[{strip} {'-' if self.back else '+'} {k}]"

    def one_by_one(self, strip: str, so_far: str, count: str) -> list[str]:
        """Fold a stretch of elements, with the prefix at each of them."""
        place = self.place(strip, "k")
        return [
            f"for k in range({count}):",
            f"    x = {place}",
            f"    {so_far} = {self.join(so_far, 'x')}",
            f"    {place} = {so_far}",
        ]

    def side_by_side(self) -> list[str]:
        """Fold all strips at once: none waits for another."""
        sign = "-" if self.back else "+"
        lines = [f"s0 = {self.origin()}"]
        strips = range(cost_model.SCAN_STRIPS)
        lines += [f"s{j} = s{i} {sign} strip" for i, j in pairwise(strips)]
        lines += [f"t{j} = y[s{j}]" for j in strips]
        lines.append("for k in range(1, strip):")
        for j in range(cost_model.SCAN_STRIPS):
            place = self.place(f"s{j}", "k")
            lines.append(f"    x{j} = {place}")
            lines.append(f"    t{j} = {self.join(f't{j}', f'x{j}')}")
            lines.append(f"    {place} = t{j}")
        last = cost_model.SCAN_STRIPS - 1
        return lines + self.one_by_one(f"s{last}", f"t{last}", "strip, rest")

    def joined(self) -> list[str]:
        """Join each strip to its prefix."""
        lines = []
        for j in range(cost_model.SCAN_STRIPS):
            count, place = (
                "rest" if j == cost_model.SCAN_STRIPS - 1 else "strip",
                f"s{j}",
            )
            lines += [
                f"for k in range({count}):",
                f"    x = {self.place(place, 'k')}",
                f"    {self.place(place, 'k')} = {self.join('before', 'x')}",
                f"before = {self.join('before', f't{j}')}",
            ]
        return lines

    def origin(self) -> str:
        return "at + n - 1" if self.back else "at"

    def lines(self) -> list[str]:
        """The function's body; gives the last element's value."""
        few = [f"s0 = {self.origin()}", *self.one_by_one("s0", "before", "n")]
        return [
            f"strip = n // {cost_model.SCAN_STRIPS}",
            f"if strip < {cost_model.SCAN_STRIPS}:",
            *(f"    {line}" for line in (*few, "return before")),
            f"rest = n - {cost_model.SCAN_STRIPS - 1} * strip",
            *self.side_by_side(),
            *self.joined(),
            "return before",
        ]


def _in_place(primitive: str, back: bool) -> None:
    """Register the function that goes on from the prefix of the first element."""

    def make(name: str, dtype: str) -> DeviceFunction:
        e = ExpressionContext(dtype, dtype, operands=(dtype, dtype))
        body = "\n".join(_FoldFunction(primitive, back, e).lines())
        text = f"def {name}(y, at, n, before):\n{indent(body, '    ')}"
        args = dtype + "*", "int64", "int64", dtype
        return device_function(name, args, dtype, text, *e.calls)

    TEMPLATES[f"running_{'back_' if back else ''}{primitive}"] = make


def _after(primitive: str) -> None:
    """Register the function that joins elements to the prefix of them all."""

    def make(name: str, dtype: str) -> DeviceFunction:
        e = ExpressionContext(dtype, dtype, operands=(dtype, dtype))
        text = f"""
        def {name}(y, at, n, before):
            for k in range(at, at + n):
                x = y[k]
                y[k] = {combined(primitive, e, "before", "x")}
        """
        args = dtype + "*", "int64", "int64", dtype
        return device_function(name, args, None, text, *e.calls)

    TEMPLATES[f"after_{primitive}"] = make


for _primitive in ("add", "mul", "max", "min"):
    _in_place(_primitive, back=False)
    _in_place(_primitive, back=True)
    _after(_primitive)


# -- sums of powers -------------------------------------------------------------------


@template
def logaddexp(name: str, dtype: str) -> DeviceFunction:
    """The logarithm of two powers' sum: the greater, and the lesser's contribution."""
    t = short(dtype)
    text = f"""
    def {name}(x, y):
        most = x if x > y else y
        apart = x - y
        less = apart if apart < {t}(0.0) else -apart
        both = most + log1p_{t}(exp_{t}(less))
        return x + y if apart != apart else both
    """
    return scalar(name, dtype, 2, text, f"exp_{t}", f"log1p_{t}")


def _enter(
    e: ExpressionContext, old: tuple[str, ...], x: str, _at: str
) -> tuple[str, ...]:
    return (combined(POWERS, e, old[0], x),)


def cumlogsumexp(eqn: Eqn) -> ClosedJaxpr:
    """Row after row: the greater, and the lesser's contribution."""
    x, axis = eqn.inputs[0].aval, int(eqn.param("axis"))
    order = (axis, *(d for d in range(x.ndim) if d != axis))
    back = tuple(order.index(d) for d in range(x.ndim))
    t = short(x.dtype.name)
    whole, rows, row = (
        f"{t}[{','.join(map(str, shape))}]"
        for shape in (
            x.shape,
            tuple(x.shape[d] for d in order),
            tuple(x.shape[d] for d in order[1:]),
        )
    )
    truths = row.replace(t, "bool", 1)
    from traceir.text import parse  # not on the way of other programs

    return parse(f"""{{ lambda ; x:{whole}. let
        rows:{rows} = transpose[permutation={order}] x
        none:{row} = broadcast_in_dim[
          broadcast_dimensions=() shape={tuple(x.shape[d] for d in order[1:])}
          sharding=None
        ] -inf:{t}[]
        all:{row} found:{rows} = scan[
          jaxpr={{ lambda ; a:{row} b:{row}. let
              most:{row} = max a b
              apart:{row} = sub a b
              alike:{truths} = ne apart apart
              special:{row} = add a b
              size:{row} = abs apart
              less:{row} = neg size
              part:{row} = exp less
              more:{row} = log1p part
              both:{row} = add most more
              c:{row} = select_n alike both special
            in (c, c) }}
          length={x.shape[axis]} num_carry=1 num_consts=0
          reverse={eqn.param("reverse")} unroll=1
        ] none rows
        y:{whole} = transpose[permutation={back}] found
      in (y,) }}""")


register(
    "cumlogsumexp",
    PrefixScan(
        "cumlogsumexp",
        Reduce(lambda t: (t,), lambda t: (least(t),), _enter, f"fold_{POWERS}"),
        cumlogsumexp,
    ),
)
