"""Eight devices of the host, for the tests of a module that imports the fixture."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import traceir


@pytest.fixture(autouse=True)
def eight_devices() -> Iterator[None]:
    """The tests of the module have eight devices."""
    before = traceir.config.num_cpu_devices
    traceir.config.update("jax_num_cpu_devices", 8)
    yield
    traceir.config.update("num_cpu_devices", before)
