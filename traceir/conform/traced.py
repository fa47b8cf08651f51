"""Values of traces as the oracle has them: they answer what the rows permit.

Serves: level.*
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from traceir.array import Array
from traceir.avals import ShapedArray
from traceir.conform.systems import as_array, as_value
from traceir.trace import typeof

if TYPE_CHECKING:
    from traceir.conform.model import Model

Home = tuple[str, int]
EAGER: Home = ("eager", 0)


class Traced:
    """A value of some trace: what is asked of it is answered by the level rows."""

    def __init__(self, model: Model, value: Any, home: tuple[str, int]) -> None:
        self.model = model
        self.value = value
        self.home = home

    def __bool__(self) -> bool:
        return bool(self.model.ask(self, "host_bool"))

    def __float__(self) -> float:
        return float(self.model.ask(self, "host_number"))

    def __index__(self) -> int:
        return int(self.model.ask(self, "host_index"))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.model.ask(self, "host_array").__array__()

    def __repr__(self) -> str:
        return repr(self.model.ask(self, "host_print"))

    def __format__(self, spec: str) -> str:
        return format(self.model.ask(self, "host_format"), spec)

    def __len__(self) -> int:
        return len(self.model.ask(self, "host_len"))

    def __iter__(self) -> Iterator[Any]:
        self.model.ask(self, "host_iter")
        return iter(self.model.apply(tuple, self))

    def __hash__(self) -> int:
        return hash(self.model.ask(self, "host_hash"))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.model.ask(self, "host_setitem")[index] = value

    def item(self) -> Any:
        """The element, where it may be known."""
        return self.model.ask(self, "host_item").item()

    @property
    def aval(self) -> ShapedArray:
        """The type of the value that it stands for."""
        return typeof(self.value)

    @property
    def shape(self) -> Any:
        """The shape, where it may be known."""
        return self.model.ask(self, "host_shape").shape

    @property
    def sharding(self) -> Any:
        """An attribute of concrete arrays alone."""
        return self.model.ask(self, "host_attribute").sharding


def concrete(value: Any) -> Any:
    """What a value of a trace stands for; any other value as it is."""
    return value.value if isinstance(value, Traced) else value


def known(value: Any) -> Any:
    """A value of no trace as what it stands for; any other value as it is."""
    return concrete(value) if getattr(value, "home", None) == EAGER else value


def element(value: Any) -> Any:
    """As `concrete`, a number of a trace being an array."""
    if not isinstance(value, Traced) or isinstance(value.value, Array):
        return concrete(value)
    return as_array(as_value(value.value))
