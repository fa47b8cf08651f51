"""What pytest leaves alone, and where it compiles: the user's own store is not touched.

Where JAX is not installed the modules that are its own are left alone.
"""

import gc
import os
from importlib.util import find_spec
from tempfile import TemporaryDirectory

import pytest

# As long as this module, which is as long as the process; workers have that of the
# process that started them, so that none compiles what another has.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _shared = TemporaryDirectory(prefix="traceir-tests-")
    os.environ["TRACEIR_CACHE_DIR"] = os.path.join(_shared.name, "store")

# Whatever is made while tests are collected stays: there is no garbage to look for.
gc.disable()

collect_ignore = []
if find_spec("jax") is None:
    collect_ignore = [
        f"traceir/conform/jax/{name}.py"
        for name in ("adapter", "keys", "programs", "system")
    ]


def pytest_collection_finish() -> None:
    """Let collections of garbage, which some tests ask for, pass over the tests."""
    set_aside()
    gc.enable()
    # Hypothesis has Python code run at each collection, and most are of little.
    gc.set_threshold(10_000, 10, 10)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Let them pass over what the files of tests before have left, too."""
    if nextitem is not None and nextitem.path != item.path:
        set_aside()


def set_aside() -> None:
    """Collect garbage, and look for none in what there is now."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a docstring's names be looked at, where its example asks who holds what."""
    if isinstance(item, pytest.DoctestItem) and item.dtest is not None:
        item.dtest.globs = dict(item.dtest.globs)
