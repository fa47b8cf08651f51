"""The functions of `lax` over named axes, as applications.

Serves: axis.unbound
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from traceir.dtypes import kind_of
from traceir.oracle.transforms.builder import Beyond
from traceir.rules import Rules

Names = str | tuple[str, ...]
# A primitive applied to values, with params.
Bind = Callable[..., Any]


class NamedAxes:
    """Applications over axes of these sizes."""

    def __init__(self, bind: Bind, sizes: Mapping[str, int], rules: Rules) -> None:
        self.bind = bind
        self.sizes = sizes
        self.rules = rules

    def known(self, names: Names) -> tuple[str, ...]:
        """The names of axes, all of which are open."""
        found = names if isinstance(names, tuple) else (names,)
        if not all(name in self.sizes for name in found):
            raise self.rules.error("axis.unbound")
        return found

    def axis_size(self, axis_name: Names) -> int:
        """The number of examples."""
        return prod(self.sizes[name] for name in self.known(axis_name))

    def axis_index(self, axis_name: str) -> Any:
        """The number of the example."""
        self.known(axis_name)
        return self.bind("axis_index", axis_name=axis_name)

    def psum(self, x: Any, axis_name: Names) -> Any:
        """The sum over all examples; of a number, as often as there are any."""
        if isinstance(x, int | float):
            return x * self.axis_size(axis_name)
        return self.bind("psum", x, axes=self.known(axis_name))

    def pmax(self, x: Any, axis_name: Names) -> Any:
        """The largest of all examples."""
        return self.bind("pmax", x, axes=self.known(axis_name))

    def pmin(self, x: Any, axis_name: Names) -> Any:
        """The smallest of all examples."""
        return self.bind("pmin", x, axes=self.known(axis_name))

    def pmean(self, x: Any, axis_name: Names) -> Any:
        """The sum, divided by the number of examples."""
        if kind_of(x.aval.dtype) != "f":
            raise Beyond("the mean of what is not floating")
        total = self.psum(x, axis_name)
        return self.bind("div", total, float(self.axis_size(axis_name)))

    def all_gather(
        self, x: Any, axis_name: str, axis: int = 0, tiled: bool = False
    ) -> Any:
        """All examples, along a dimension."""
        return self.bind(
            *("all_gather", x),
            all_gather_dimension=axis,
            axis_name=self.known(axis_name),
            axis_size=self.axis_size(axis_name),
            tiled=tiled,
        )

    def psum_scatter(
        self, x: Any, axis_name: str, scatter_dimension: int = 0, tiled: bool = False
    ) -> Any:
        """A part of the sum for each example."""
        return self.bind(
            *("reduce_scatter", x),
            axis_name=self.known(axis_name),
            axis_size=self.axis_size(axis_name),
            scatter_dimension=scatter_dimension,
            tiled=tiled,
        )

    def all_to_all(
        self,
        x: Any,
        axis_name: str,
        split_axis: int,
        concat_axis: int,
        tiled: bool = False,
    ) -> Any:
        """Of each example a part to each other one."""
        size = self.axis_size(axis_name)
        if x.aval.shape[split_axis] % size:
            raise self.rules.error("axis.split")
        if not tiled and split_axis != concat_axis:
            raise Beyond("parts that are joined along a new dimension")
        if not tiled and x.aval.shape[split_axis] != size:
            raise Beyond("as many parts as there are no examples")
        return self.bind(
            *("all_to_all", x),
            axis_name=axis_name,
            axis_size=size,
            concat_axis=concat_axis,
            split_axis=split_axis,
            tiled=True,
        )

    def ppermute(self, x: Any, axis_name: str, perm: Sequence[tuple[int, int]]) -> Any:
        """The operand of the example that sends to this one."""
        pairs = tuple(map(tuple, perm))
        ends = list(zip(*pairs, strict=True))
        examples = range(self.axis_size(axis_name))
        if any(len({*e}) < len(e) or not {*e} <= {*examples} for e in ends):
            raise self.rules.error("axis.permutation")
        return self.bind("ppermute", x, axis_name=self.known(axis_name), perm=pairs)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    f"lax.{name}": method
    for name, method in vars(NamedAxes).items()
    if name.startswith(("p", "a"))
}
