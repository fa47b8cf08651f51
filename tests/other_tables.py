"""Transforms by other tables than the specification's, for a while. Serves: derive.*"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from traceir import rules
from traceir.rules import Rules
from traceir.transforms.batching import batching_rules, placed
from traceir.transforms.rules import derivative_templates

# What is kept of the rows that were read.
KEPT = (
    derivative_templates.derivative_of,
    derivative_templates._plan,
    derivative_templates.is_identity,
    batching_rules._axis_params,
    placed._formulas,
    placed._template,
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
