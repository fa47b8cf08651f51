"""Tests that the `code` of an ask in `levels.toml` asks what its `action` says."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from traceir.conform.systems.traced import ModelTracer, TraceLevel
from traceir.rules import Rules


class Asked(BaseException):
    """Raised in place of an answer, past whatever would handle an exception."""


def asked(code: str) -> str:
    """The action that some code asks of `x`, "nothing" if it asks none.

    >>> asked("len(x)"), asked("x.item()"), asked("x")
    ('host_len', 'host_item', 'nothing')
    """

    def answer(_: ModelTracer, action: str) -> Any:
        raise Asked(action)

    x = ModelTracer(np.zeros(2), TraceLevel("eager", "memory"), "memory", answer)
    try:
        exec(code, {"numpy": np, "operator": operator, "x": x})
    except Asked as found:
        return str(found)
    return "nothing"


def mistaken(rules: Rules) -> list[str]:
    """The asks whose code asks another action than theirs."""
    asks = rules.levels.asks.values()
    return [ask.id for ask in asks if asked(ask.code) != ask.action]
