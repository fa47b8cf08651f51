"""Expectations of errors by their rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from traceir.errors import TraceirError


@contextmanager
def raises_rule(
    rule: str, kind: type[Exception] = Exception, pattern: str = ""
) -> Iterator[None]:
    """Expect the error of this rule, of this class, with text that has the pattern.

    Every error is short: under ten lines.
    """
    with pytest.raises(kind) as caught:
        yield
    error = caught.value
    assert isinstance(error, TraceirError), repr(error)
    assert error.rule == rule, error
    assert re.search(pattern, str(error)), error
    assert len(str(error).splitlines()) < 10, error
