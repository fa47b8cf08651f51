"""Expectations of errors by their rules."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import traceir
from traceir.errors import TraceirError

PACKAGES = (f"{Path(traceir.__file__).parents[1]}/traceir", "<traceir")


def check_users_alone(error: BaseException) -> None:
    """Check that no frame of the packages is printed of an exception, and no exception
    that they have handled."""
    shown = error
    while shown is not None:
        for frame in traceback.extract_tb(shown.__traceback__):
            assert not frame.filename.startswith(PACKAGES), frame
        assert shown.__suppress_context__ or shown.__context__ is None, (
            shown.__context__
        )
        shown = shown.__cause__


@contextmanager
def raises_rule(
    rule: str,
    kind: type[Exception] = Exception,
    pattern: str = "",
    inside: bool = False,
) -> Iterator[None]:
    """Expect the error of this rule, of this class, with text that has the pattern.

    Every error is short: under ten lines. Unless what is called is `inside` of the
    packages, it shows the user's frames alone.
    """
    with pytest.raises(kind) as caught:
        yield
    error = caught.value
    assert isinstance(error, TraceirError), repr(error)
    assert error.rule == rule, error
    assert re.search(pattern, str(error)), error
    assert len(str(error).splitlines()) < 10, error
    if not inside:
        check_users_alone(error)
