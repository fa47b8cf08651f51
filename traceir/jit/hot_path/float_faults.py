"""The caller's `np.errstate`, which machine code cannot obey. Serves: jit.raising"""

from __future__ import annotations

from contextvars import ContextVar
from importlib import import_module
from typing import Any

import numpy as np

from traceir import rules
from traceir.errors import TraceirError

# Where NumPy keeps what `np.errstate` and `np.seterr` have set. A call of `np.geterr`
# takes as long as one of a short function.
_errstate = getattr(import_module("numpy._core.umath"), "_extobj_contextvar", None)
is_set = (
    _errstate.get if isinstance(_errstate, ContextVar) else lambda default: np.geterr
)
_accepted: Any = None


def fault_error() -> TraceirError | None:
    """The error (jit.raising) where faults of floats are to be errors, else None.

    >>> fault_error()
    """
    global _accepted
    state = is_set(None)
    if state is _accepted:
        return None
    asked = [f"{k}='raise'" for k, v in np.geterr().items() if v == "raise"]
    if asked:
        return rules.error("jit.raising", got=f"np.errstate({', '.join(asked)})")
    _accepted = state if _errstate is not None else None
    return None


def check_not_raising() -> None:
    """Raise ValueError (jit.raising) where faults of floats are to be errors."""
    error = fault_error() if is_set(None) is not None else None
    if error is not None:
        raise error
