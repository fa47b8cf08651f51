"""The tour: the pay-off first, a screenful a step, no colours where it is piped."""

from __future__ import annotations

import re
import sys

import pytest

from traceir.commands import tour

SCREEN = 48


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it take a moment."""
    monkeypatch.setattr(tour, "SIZE", 2000)
    monkeypatch.setattr(tour, "ROUNDS", 3)


def steps(text: str) -> dict[str, list[str]]:
    """The lines below each heading."""
    _, *found = re.split(r"^(\d\. .+)\n-+\n", text, flags=re.MULTILINE)
    return dict(zip(found[::2], (part.splitlines() for part in found[1::2])))


@pytest.mark.usefixtures("small")
def test_a_step_is_a_screenful_and_the_first_one_shows_what_is_won(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tour.tour()
    text = capsys.readouterr().out
    found = steps(text)
    assert len(found) == 7
    assert {
        step: len(lines) for step, lines in found.items() if len(lines) > SCREEN
    } == {}
    first = "\n".join(found[min(found)])
    assert "def smooth(x, alpha):" in first and "█" in first
    assert re.search(r"\d times faster, the same bits", first)
    assert "\033[" not in text
    assert "Numba by hand is a loop of one thread" in text


def test_verbose_has_the_whole_module(capsys: pytest.CaptureFixture[str]) -> None:
    x = tour.jnp.zeros(9)
    tour._source(x, verbose=False)
    short = capsys.readouterr().out
    tour._source(x, verbose=True)
    whole = capsys.readouterr().out
    assert short.startswith("@kernel(") and "--verbose" in short
    assert whole.startswith('"""selu, generated') and len(whole) > 2 * len(short)


def test_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert tour._styled("x", tour.BOLD) == "\033[1mx\033[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert tour._styled("x", tour.BOLD) == "x"
