"""The accuracy that functions are asked for. Serves: accuracy.asked

A function has one implementation, whose bound is in its primitive's row; what a caller
asks for is compared with it.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_points
from traceir.dtypes import finfo
from traceir.lax.checks.operands import Operand
from traceir.tracing.trace import typeof


class AccuracyMode(Enum):
    """A kind of implementation of a function; there is one, which serves both.

    >>> from traceir import lax
    >>> lax.exp(0.0, accuracy=lax.AccuracyMode.HIGHEST)
    Array(1., dtype=float32, weak_type=True)
    """

    HIGHEST = 1
    DEFAULT = 2


@entry_points("__init__")
@dataclass(frozen=True, slots=True)
class Tolerance:
    """The error that is allowed: `atol`, plus `rtol` times the magnitude, or `ulps`.

    Units in the last place are those of the result. Raises ValueError (face.choice)
    where none is positive, or one is negative.

    >>> from traceir import lax
    >>> lax.tanh(1.0, accuracy=lax.Tolerance(rtol=1e-5))
    Array(0.7615942, dtype=float32, weak_type=True)
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def __post_init__(self) -> None:
        asked = self.atol, self.rtol, self.ulps
        if min(asked) < 0 or max(asked) == 0:
            hint = "at least one must be positive, and none negative"
            raise rules.error("face.choice", got=repr(self), hint=hint)


Accuracy: TypeAlias = AccuracyMode | Tolerance | None


def check_accuracy(primitive: str, x: Operand, asked: Accuracy) -> None:
    """Raise ValueError (accuracy.asked) for a tolerance that a function may exceed.

    Any other value but an `AccuracyMode` is refused (face.choice).

    >>> try:
    ...     check_accuracy("exp", 1.0, Tolerance(ulps=1))
    ... except ValueError as error:
    ...     print(error)
    A tolerance that is asked of a function must allow the bound of its row: ...
      got: Tolerance(atol=0.0, rtol=0.0, ulps=1) for exp of float32
      at ...
      hint: exp is within 4 units in the last place: ulps=4, or rtol=4.8e-07
      [accuracy.asked]
    """
    if isinstance(asked, AccuracyMode):
        return
    if not isinstance(asked, Tolerance):
        hint = "a lax.Tolerance, a lax.AccuracyMode, or None"
        raise rules.error("face.choice", got=f"accuracy={asked!r}", hint=hint)
    dtype = typeof(x).dtype
    if dtype.kind not in "fc":
        return  # the function itself refuses it
    units = rules.default().prims[primitive].ulp.get(dtype.name, 1)
    relative = units * float(finfo(dtype).eps)
    if asked.ulps < units and asked.rtol < relative:
        hint = (
            f"{primitive} is within {units:g} units in the last place: "
            f"ulps={units:g}, or rtol={relative:.1e}"
        )
        got = f"{asked!r} for {primitive} of {dtype.name}"
        raise rules.error("accuracy.asked", got=got, hint=hint)
