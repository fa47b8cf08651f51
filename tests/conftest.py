"""Profiles of Hypothesis (`HYPOTHESIS_PROFILE`: ci, soak, fuzz) and common fixtures.

In `ci` and `soak` nothing is drawn anew: neither examples, nor seeds of hashes, nor
numbers of generators, whichever tests ran before in the same process.
"""

from __future__ import annotations

import os
import random
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import told_hints
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from traceir.base import config
from traceir.base.config import FLAGS

ROOT = Path(__file__).parents[1]
# `make test` draws the same examples in every clone. Only `fuzz` draws at random.
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
    # What failed is tried first the next time; `make clean` leaves it.
    database=DirectoryBasedExampleDatabase(ROOT / ".failures"),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
if settings().derandomize:
    import_module("drawing")
    os.environ.setdefault("PYTHONHASHSEED", "0")  # of workers, and of other processes


# Files that run first: who looks for the holders of an object looks at all that there
# are, which become more; the site takes longest, and is made by one process alone.
FIRST = ("test_leaks.py", "test_site.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that run first, in that order, and then the others in theirs."""
    places = {name: place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path.name, len(FIRST)))


GENERATORS: dict[ModuleType, list[np.random.BitGenerator]] = {}
STATES: dict[np.random.BitGenerator, object] = {}


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note the generators of each module, and their states before any test."""
    for module in {getattr(item, "module", None) for item in session.items} - {None}:
        found = [v for v in vars(module).values() if type(v) is np.random.Generator]
        GENERATORS[module] = [generator.bit_generator for generator in found]
        STATES.update((bits, bits.state) for bits in GENERATORS[module])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a test draw the same, whichever ran before it."""
    random.seed(0)
    np.random.seed(0)
    for bits in GENERATORS.get(getattr(item, "module", None), ()):
        bits.state = STATES[bits]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Let a test get the hints for which it is named."""
    with told_hints.expected(item.nodeid.partition("[")[0]):
        return (yield)


@pytest.fixture
def fresh_config() -> Iterator[ModuleType]:
    """The flags at their defaults, and as they were afterwards."""
    before = {flag: getattr(config, f"jax_{flag}") for flag in FLAGS}
    for flag, row in FLAGS.items():
        config.update(flag, row.default)
    yield config
    for flag, value in before.items():
        config.update(flag, value)
