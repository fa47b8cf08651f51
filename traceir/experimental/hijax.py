"""Classes that libraries derive types and primitives of their own from.

Programs here hold none of these: a library that defines them can be imported, and what
it does without them works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir import rules
from traceir.transforms.custom.custom_primitive import instantiate_zeros
from traceir.transforms.rules.registry import LinearOperand, Zero

__all__ = [
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "HiPrimitive",
    "HiType",
    "MutableArray",
    "MutableHiType",
    "Zero",
    "aval_method",
    "aval_property",
    "control_flow_allowed_effects",
    "instantiate_zeros",
    "is_undefined_primal",
    "register_hitype",
]


class AbstractValue:
    """The class that types of a library's own are derived from."""


class HiType(AbstractValue):
    """A type whose values are made of several arrays."""


class MutableHiType(HiType):
    """A type whose values change."""


class MutableArray:
    """The class of arrays that programs write to, of which there are none here."""


class AvalQDD:
    """A type of a value that changes, with what is known of it at a place."""

    def __init__(self, aval: Any, qdd: Any) -> None:
        self.aval, self.qdd = aval, qdd


class AvalMutableQDD(AvalQDD):
    """As `AvalQDD`, where that is written to."""


class HiPrimitive:
    """The class of primitives on such types.

    A call raises NotImplementedError (custom_primitive.rule).
    """

    multiple_results = False

    def __init__(self, name: str) -> None:
        self.name = name

    def bind(self, *args: Any, **params: Any) -> Any:
        """Raise NotImplementedError (custom_primitive.rule): no program holds one."""
        got = f"{self.name}, whose operands are of a type of a library's own"
        raise rules.error("custom_primitive.rule", got=got)


class aval_property:
    """A property of values that their type defines."""

    def __init__(self, fget: Callable[..., Any]) -> None:
        self.fget = fget


class aval_method:
    """A method of values that their type defines."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun


class EffectTypes:
    """The classes of effects that a library lets stand within control flow."""

    def __init__(self) -> None:
        self.types: list[type] = []

    def add_type(self, effect: type) -> None:
        """Add a class."""
        self.types.append(effect)


control_flow_allowed_effects = EffectTypes()
_registered: dict[type, Callable[[Any], Any]] = {}


def register_hitype(value_type: type, type_of: Callable[[Any], Any]) -> None:
    """Note the class of the values of such a type, and what tells their type."""
    _registered[value_type] = type_of


def is_undefined_primal(value: Any) -> bool:
    """True for an operand whose cotangent is asked for.

    >>> is_undefined_primal(1.0)
    False
    """
    return isinstance(value, LinearOperand)
