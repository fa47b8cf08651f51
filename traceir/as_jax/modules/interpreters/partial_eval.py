"""Programs of functions of which some arguments are known."""

from __future__ import annotations

from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray

__all__ = ["PartialVal"]


@dataclass(frozen=True, eq=False)
class PartialVal:
    """An argument whose value is known, or of which the type alone is.

    >>> PartialVal.known(3).is_known(), PartialVal.unknown(None).is_known()
    (True, False)
    """

    aval: ShapedArray | None
    value: Any = None

    @staticmethod
    def known(value: Any) -> PartialVal:
        """One whose value is known."""
        return PartialVal(None, value)

    @staticmethod
    def unknown(aval: Any) -> PartialVal:
        """One whose type alone is known."""
        return PartialVal(aval)

    def is_known(self) -> bool:
        """True if its value is known."""
        return self.value is not None
