"""Settings of a run of pytest: its store, its garbage, its slowest files.

The user's own store is not touched. Where JAX is not installed, the modules that import
it are not collected.
"""

import gc
import os
from collections import Counter
from collections.abc import Generator
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
    clock.note("collection")
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


class Clock:
    """Processor time of this process and its children, by what it was spent on."""

    def __init__(self) -> None:
        self.before = 0.0
        self.spent: Counter[str] = Counter()

    def note(self, what: str) -> None:
        """Charge all time since the last note."""
        now = sum(os.times()[:4])
        self.spent[what] += now - self.before
        self.before = now


clock = Clock()
total: Counter[str] = Counter()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send with a test's last report what was spent since the test before."""
    report = yield
    if call.when == "teardown":
        clock.note(item.nodeid.partition("::")[0])
        report.spent, clock.spent = dict(clock.spent), Counter()
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up, also where the test ran in another process."""
    total.update(getattr(report, "spent", ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the files that took the most processor time."""
    if len(total) > 10:
        title = f"slowest files, of {sum(total.values()):.0f} s of processor time"
        terminalreporter.section(title)
        for name, seconds in total.most_common(10):
            terminalreporter.write_line(f"{seconds:7.1f} s  {name}")
