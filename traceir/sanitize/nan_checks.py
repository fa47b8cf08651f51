"""NaN and infinity checks of results, for `debug_nans`. Serves: debug.nan, debug.inf

A program is run as compiled; only when a result is bad it is run again, equation by
equation, to find the first that gives such a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.config import Context
from traceir.dtypes import kind_of
from traceir.ir.effects import effects
from traceir.ir.jaxpr import ClosedJaxpr, Eqn
from traceir.reference.interpreter import ArrayDomain, InterpretedProgram
from traceir.reference.regions import REGIONS, Call, region

# The flags that ask for it: the row of the error, what is bad, and its name.
WATCHES: dict[str, tuple[str, Callable[[np.ndarray], Any], str]] = {
    "debug_nans": ("debug.nan", np.isnan, "nan"),
    "debug_infs": ("debug.inf", np.isinf, "inf"),
}


def watched(context: Context) -> bool:
    """True if a flag asks to look at results."""
    return bool(
        context.debug_nans
        or context.debug_infs
        or context.sanitize
        or context.debug_key_reuse
    )


def bad(arrays: Sequence[Any], context: Context) -> str:
    """The first flag that a result offends, or ""."""
    for flag, (_, test, _) in WATCHES.items():
        if getattr(context, flag) and any(np.any(test(_floats(a))) for a in arrays):
            return flag
    return ""


def _floats(array: Any) -> Any:
    found = np.asarray(array)
    return False if kind_of(found.dtype) != "f" else found


def check_results(
    primitive: str,
    params: Any,
    arrays: Sequence[Any],
    found: Sequence[Any],
    context: Context,
) -> None:
    """Raise FloatingPointError (debug.nan, debug.inf) for a bad result of an operation.

    >>> from traceir import config
    >>> with config.scope("debug_nans", True):
    ...     check_results("log", (), [-1.0], [np.log(2.0)], config.current())
    """
    flag = bad(found, context)
    if not flag:
        return
    if primitive in REGIONS:
        call = region(_NanCheckedDomain(context), primitive, dict(params))
        with np.errstate(all="ignore"):
            call(*arrays)
    raise _error(flag, primitive, arrays, None)


class NanCheckedExecutable:
    """An executable that looks at its results."""

    def __init__(self, inner: Any, closed: ClosedJaxpr, context: Context) -> None:
        from traceir.ir.located import located  # not on the way of an import

        self.inner = inner
        self.closed = closed = located(closed)
        self.context = context
        self.again = _NanCheckedProgram(closed, context)
        # What is called must not be called twice.
        twice = not effects(closed.jaxpr) or context.sanitize
        self.first = inner.run if twice else self.again.run

    def run(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """As the executable; FloatingPointError (debug.nan, debug.inf) for a bad
        result."""
        found: tuple[np.ndarray, ...] = self.first(*arrays)
        flag = bad(found, self.context)
        if flag:
            self.again.run(*arrays)
            name = self.closed.jaxpr.debug_name
            raise _error(flag, name, arrays, None)
        return found

    def as_text(self, form: str) -> str:
        """As the executable."""
        text: str = self.inner.as_text(form)
        return text


class _NanCheckedProgram(InterpretedProgram):
    """A program whose equations are looked at one by one."""

    __slots__ = ("context",)
    does_all = True

    def __init__(self, closed: ClosedJaxpr, context: Context) -> None:
        self.context = context
        super().__init__(closed.jaxpr, closed.consts)

    def call_of(self, eqn: Eqn) -> Callable[..., Any]:
        """The function of an equation, with a check of its results."""
        if eqn.primitive in REGIONS:
            arrays = _NanCheckedDomain(self.context)
            return region(arrays, eqn.primitive, eqn.stored())
        call, context = super().call_of(eqn), self.context

        def looked_at(*arrays: np.ndarray) -> Any:
            found = call(*arrays)
            several = found if isinstance(found, (list, tuple)) else (found,)
            flag = bad(several, context)
            if flag:
                raise _error(flag, eqn.primitive, arrays, eqn)
            return found

        return looked_at


class _NanCheckedDomain(ArrayDomain):
    """The domain of arrays whose programs are looked at."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def ready(self, closed: ClosedJaxpr) -> Call[np.ndarray]:
        """A program within another, whose equations are looked at."""
        return _NanCheckedProgram(closed, self._context).inner


def _error(flag: str, name: str, arrays: Sequence[Any], eqn: Eqn | None) -> Exception:
    """The error of a result, which tells if an operand was bad before."""
    row, test, what = WATCHES[flag]
    before = any(np.any(test(_floats(a))) for a in arrays)
    those = (
        f"which has an operand with {what}" if before else f"of operands without {what}"
    )
    where = str(eqn.source) if eqn is not None and eqn.source else None
    got = f"{what} in the result of `{name}`, {those}"
    return rules.error(row, got=got, where=where)
