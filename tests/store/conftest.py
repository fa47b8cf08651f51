"""Helpers of all tests of the store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from traceir.store import place


@pytest.fixture(autouse=True)
def first_warnings() -> Iterator[None]:
    """Each test may be warned again of what others were warned of."""
    place._warned.clear()
    yield
    place._warned.clear()
