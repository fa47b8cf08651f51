"""Transforms by other tables than the specification's, for a while. Serves: derive.*"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from traceir import rules
from traceir.rules import Rules
from traceir.transforms import classes, templates

# What is kept of the rows that were read.
KEPT = (
    templates.derivative_of,
    templates._plan,
    templates.is_identity,
    classes._axis_params,
    classes._formulas,
)


def _forget() -> None:
    for function in KEPT:
        function.cache_clear()


@contextmanager
def transforming_by(tables: Rules) -> Iterator[None]:
    """Within this, derivatives and batches are those of the given tables."""
    _forget()
    try:
        with mock.patch.object(rules, "default", lambda: tables):
            yield
    finally:
        _forget()
