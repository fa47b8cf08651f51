"""Exception classes and the one shape of an error's text.

Every error is a clause that failed: its text is the clause's `says`, what was got,
the user's line and a hint, and it carries the clause's id as `rule`.
"""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

# An error shows so much of a value.
WIDTH = 80


class TraceirError(Exception):
    """Root of all errors raised on purpose; `rule` is the id of the failed clause."""

    rule: str = ""
    got: str = ""
    hint: str = ""
    where: str = ""


class ConcretizationTypeError(TraceirError, TypeError):
    """A concrete value was asked of a traced one."""


class TracerBoolConversionError(ConcretizationTypeError):
    """The truth of a traced value was asked, as in `if x > 0`."""


class TracerArrayConversionError(ConcretizationTypeError):
    """A traced value was handed to NumPy as an array."""


class TracerIntegerConversionError(ConcretizationTypeError):
    """A traced value was used as an index or a length."""


class UnexpectedTracerError(TraceirError, TypeError):
    """A tracer was used after the trace that made it had ended."""


class NonConcreteBooleanIndexError(TraceirError, IndexError):
    """A traced boolean mask was used as an index."""


class JaxprTypeError(TraceirError, TypeError):
    """A program breaks a typing or program rule."""


class JaxprSyntaxError(TraceirError, ValueError):
    """Malformed program text; `line` and `column` count from 1."""

    line: int = 0
    column: int = 0


class RuleTableError(TraceirError, ValueError):
    """A table of the specification is malformed."""


class RetraceError(TraceirError, RuntimeError):
    """A function was traced more often than `max_traces` allows."""


class StaleCaptureError(TraceirError, RuntimeError):
    """A value that a strict trace captured has changed since."""


class KeyReuseError(TraceirError, TypeError):
    """A key of random numbers was used twice."""


class TypePromotionError(TraceirError, ValueError):
    """Operands have no dtype in which they meet."""


class JaxRuntimeError(RuntimeError):
    """JAX's error of a program whose callback raises: see `traceir.as_jax`."""


class RuleTypeError(TraceirError, TypeError):
    """A rule about arguments failed, as a `TypeError`."""


class RuleValueError(TraceirError, ValueError):
    """A rule about values failed, as a `ValueError`."""


class RuleIndexError(TraceirError, IndexError):
    """A rule about indices failed, as an `IndexError`."""


class RuleRuntimeError(TraceirError, RuntimeError):
    """A rule about the state of the system failed, as a `RuntimeError`."""


class RuleRecursionError(TraceirError, RecursionError):
    """A trace asked for itself, as a `RecursionError`."""


class RuleOverflowError(RuleValueError, OverflowError):
    """A Python number does not fit its dtype; NaN is a `ValueError` in Python."""


class RuleZeroDivisionError(TraceirError, ZeroDivisionError):
    """A rule about divisors."""


class RuleNameError(TraceirError, NameError):
    """A name of an axis that nothing around binds, as a `NameError`."""


class RuleFloatingPointError(TraceirError, FloatingPointError):
    """A result that a flag does not allow, as a `FloatingPointError`."""


class RuleAttributeError(TraceirError, AttributeError):
    """An attribute that a traced value cannot have, as an `AttributeError`."""


class RuleBufferError(TraceirError, BufferError):
    """A `BufferError` that a rule explains."""


class RuleMemoryError(TraceirError, MemoryError):
    """There is not enough memory, as a `MemoryError` that a rule explains."""


class RuleNotImplementedError(TraceirError, NotImplementedError):
    """Something that has no meaning here yet, as a `NotImplementedError`."""


class RuleLinAlgError(TraceirError, np.linalg.LinAlgError):
    """Something that is no matrix, or none of the right kind, as NumPy's error."""


class RuleAssertionError(TraceirError, AssertionError):
    """A check of the test utilities failed, as an `AssertionError`."""


class RuleTypeValueError(RuleTypeError, RuleValueError):
    """A rule that some functions of JAX take for one of types, others of values."""


class RuleTypeIndexError(RuleTypeError, RuleIndexError):
    """A rule about places that JAX takes for one of types, NumPy of indices."""


class RuleValueIndexError(RuleValueError, RuleIndexError):
    """A rule about axes and places, both errors at once, as NumPy's `AxisError`."""


class RuleValueNotImplementedError(RuleValueError, RuleNotImplementedError):
    """An option or a derivative that there is none of; JAX says either of it."""


class RuleAxisError(RuleTypeValueError, RuleIndexError):
    """A rule about axes, in all three classes that errors about axes have in JAX."""


class RuleChoiceError(RuleTypeValueError, RuleNotImplementedError):
    """An option that there is none of; which of three classes it has, JAX varies."""


class RuleLinAlgTypeError(RuleLinAlgError, RuleTypeError):
    """A rule about matrices that some functions of JAX take for one of types."""


CLASSES: dict[str, type[TraceirError]] = {
    cls.__name__: cls
    for cls in (
        ConcretizationTypeError,
        TracerBoolConversionError,
        TracerArrayConversionError,
        TracerIntegerConversionError,
        UnexpectedTracerError,
        NonConcreteBooleanIndexError,
        JaxprTypeError,
        JaxprSyntaxError,
        RuleTableError,
        RetraceError,
        StaleCaptureError,
        KeyReuseError,
        TypePromotionError,
    )
}
CLASSES |= {
    "TypeError": RuleTypeError,
    "ValueError": RuleValueError,
    "TypeError, ValueError": RuleTypeValueError,
    "TypeError, IndexError": RuleTypeIndexError,
    "ValueError, IndexError": RuleValueIndexError,
    "TypeError, ValueError, IndexError": RuleAxisError,
    "TypeError, ValueError, NotImplementedError": RuleChoiceError,
    "ValueError, NotImplementedError": RuleValueNotImplementedError,
    "LinAlgError, TypeError": RuleLinAlgTypeError,
    "IndexError": RuleIndexError,
    "RuntimeError": RuleRuntimeError,
    "RecursionError": RuleRecursionError,
    "OverflowError, ValueError": RuleOverflowError,
    "ZeroDivisionError": RuleZeroDivisionError,
    "FloatingPointError": RuleFloatingPointError,
    "AttributeError": RuleAttributeError,
    "AssertionError": RuleAssertionError,
    "LinAlgError": RuleLinAlgError,
    "NameError": RuleNameError,
    "NotImplementedError": RuleNotImplementedError,
    "BufferError": RuleBufferError,
    "MemoryError": RuleMemoryError,
}


def make(
    cls_name: str, rule: str, says: str, got: str = "", hint: str = "", where: str = ""
) -> TraceirError:
    """Build the error of clause `rule`, with the error text; raises nothing itself.

    >>> print(make("TypeError", "add.numeric", "Operands must be numeric.", "bool[3]"))
    Operands must be numeric.
      got: bool[3]
      [add.numeric]
    """
    lines = [says]
    if got:
        lines.append(f"  got: {got}")
    if where:
        lines.append(f"  at {where}")
    if hint:
        lines.append(f"  hint: {hint}")
    lines.append(f"  [{rule}]")
    error = CLASSES[cls_name]("\n".join(lines))
    error.rule = rule
    error.got = got
    error.hint = hint
    error.where = where
    return error


def shown(value: Any) -> str:
    """A value in an error: its `repr` on one line, cut.

    >>> shown(list(range(100)))
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    return " ".join(_texts.repr(value).split())


class _Texts(reprlib.Repr):
    """Texts of values, cut; of a traced one its type."""

    def repr1(self, x: Any, level: int) -> str:
        """A value inside of others."""
        if getattr(type(x), "is_traced", False) is True:
            return str(x.aval.str_short())
        return super().repr1(x, level)


_texts = _Texts()
_texts.maxother = _texts.maxstring = _texts.maxlong = WIDTH
