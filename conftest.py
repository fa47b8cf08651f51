"""What pytest leaves alone, and where it compiles: the user's own store is not touched.

Where JAX is not installed the modules that are its own are left alone.
"""

import gc
import os
from importlib.util import find_spec
from tempfile import TemporaryDirectory

import pytest

# As long as this module, which is as long as the process.
_store = TemporaryDirectory(prefix="traceir-tests-")
os.environ["TRACEIR_CACHE_DIR"] = _store.name

# Whatever is made while tests are collected stays: there is no garbage to look for.
gc.disable()

collect_ignore = []
if find_spec("jax") is None:
    collect_ignore = [
        f"traceir/conform/{name}.py"
        for name in ("jax", "jaxes", "jaxkeys", "jaxsystem")
    ]


def pytest_collection_finish() -> None:
    """Let collections of garbage, which some tests ask for, pass over the tests."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a docstring's names be looked at, where its example asks who holds what."""
    if isinstance(item, pytest.DoctestItem) and item.dtest is not None:
        item.dtest.globs = dict(item.dtest.globs)
