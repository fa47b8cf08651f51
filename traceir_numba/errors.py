"""Errors of the backend, each with a rule and the user's line. Serves: backend.*"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from traceir import rules
from traceir.errors import TraceirError
from traceir.ir.jaxpr import Eqn


def unsupported(eqn: Eqn, what: str) -> TraceirError:
    """The error for an equation that the backend has no code for."""
    where = str(eqn.source) if eqn.source else None
    return rules.error("backend.unsupported", got=what, where=where)


def wrong_threads(number: object) -> TraceirError:
    """The error for a number of threads that is none."""
    return rules.error("backend.threads", got=repr(number))


@contextmanager
def wrapped(rule: str, what: str) -> Iterator[None]:
    """Turn any failure inside into the error of `rule`, without Numba's traceback.

    The original error stays reachable as its cause.
    """
    try:
        yield
    except TraceirError:
        raise
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        got = f"{what}: {type(error).__name__}: {' '.join(lines[:2])}"[:300]
        # What LLVM made is freed now, in order: among garbage its parts would be freed
        # in any order, which ends the process.
        traceback.clear_frames(error.__traceback__)
        raise rules.error(rule, got=got, where="") from error
