"""Profiles of Hypothesis (`HYPOTHESIS_PROFILE`: ci, soak, fuzz) and common fixtures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

from traceir import config
from traceir.config import FLAGS

settings.register_profile(
    "ci",
    derandomize=True,
    max_examples=20,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("soak", settings.get_profile("ci"), max_examples=100)
settings.register_profile(
    "fuzz",
    max_examples=2000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Who looks for the holders of an object looks at every object: these run first."""
    items.sort(key=lambda item: item.path.name != "test_leaks.py")


@pytest.fixture
def fresh_config() -> Iterator[ModuleType]:
    """The flags at their defaults, and as they were afterwards."""
    before = {flag: getattr(config, f"jax_{flag}") for flag in FLAGS}
    for flag, row in FLAGS.items():
        config.update(flag, row.default)
    yield config
    for flag, value in before.items():
        config.update(flag, value)
