"""The steps of loops, and sequences of which a loop knows the steps.

Serves: staged.loop
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.lax.checks.operands import default_dtype
from traceir.tracing.trace import Tracer


@dataclass(frozen=True, slots=True, eq=False)
class LoopSteps:
    """Numbers from `first` on, `step` apart, before `stop`, and the item of each; the
    user may say that the turns over them are `independent`."""

    first: Any
    stop: Any
    step: Any
    item: Callable[[Any], Any]
    independent: bool = False

    @property
    def count(self) -> int | None:
        """The number of steps, if it is known."""
        bounds = (self.first, self.stop, self.step)
        if any(isinstance(b, Tracer) for b in bounds):
            return None
        return len(builtins.range(*bounds))

    def span(self) -> tuple[int, int] | None:
        """The least and the greatest number, where they are known."""
        bounds = (self.first, self.stop, self.step)
        if any(isinstance(b, Tracer) for b in bounds):
            return None
        every = builtins.range(*bounds) or builtins.range(self.first, self.first + 1)
        return min(every[0], every[-1]), max(every[0], every[-1])


def index_type() -> ShapedArray:
    """The type of the numbers of a range: Python's integers."""
    return ShapedArray((), default_dtype(int), True)


class TracedSequence:
    """A sequence with a length that may be traced, of which a loop knows the steps."""

    __slots__ = ()

    def steps(self) -> LoopSteps:
        """The steps of a loop over it."""
        raise NotImplementedError  # each kind has its own


class TracedList(TracedSequence):
    """A list with a length that is traced."""

    __slots__ = ()

    @property
    def length(self) -> Any:
        """The number of elements."""
        raise NotImplementedError  # each kind has its own

    @property
    def of_tuples(self) -> tuple[np.dtype, ...]:
        """The dtypes of the numbers in tuples, if the elements are tuples."""
        raise NotImplementedError  # each kind has its own

    @property
    def of_pythons(self) -> bool:
        """True if the numbers are Python's."""
        raise NotImplementedError  # each kind has its own

    def array(self) -> Any:
        """The elements as an array in memory of its own."""
        raise NotImplementedError  # each kind has its own

    def _refuse(self, *args: Any) -> Any:
        raise rules.error("slice.length", got="a list whose length values decide")

    def like(self, array: Any) -> TracedList:
        """A list of other elements, of the same kind."""
        raise NotImplementedError  # each kind has its own

    # By these its length would be asked for, or it would be another one's elements.
    __len__ = __iter__ = __bool__ = __contains__ = __add__ = __mul__ = _refuse
    __radd__ = __rmul__ = __eq__ = __setitem__ = __delitem__ = _refuse
    __hash__ = None  # type: ignore[assignment]  # as a list has it


class TracedTable(TracedSequence):
    """A dict or a set with keys that may be traced."""

    __slots__ = ()

    @property
    def length(self) -> Any:
        """The number of keys, which may be traced."""
        raise NotImplementedError  # each kind has its own

    @property
    def is_known(self) -> bool:
        """True while it is one of Python's."""
        raise NotImplementedError  # each kind has its own

    def keys(self) -> Any:
        """The keys, or the elements."""
        raise NotImplementedError  # each kind has its own
