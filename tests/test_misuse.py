"""Useless arguments are refused in words. Serves: jit.*, text.*"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import traceir


@pytest.mark.parametrize(
    "misuse, text",
    [
        (lambda: traceir.jit(abs, max_traces="2"), "max_traces is an int or None"),
        (lambda: traceir.jit(abs, max_traces=2.0), "max_traces is an int or None"),
        (lambda: traceir.parse(3), "the text of a program is a str, got int"),
        (lambda: traceir.parse(b"{}"), "the text of a program is a str, got bytes"),
        (lambda: traceir.check("{ }"), "what is checked is a program, got str"),
        (lambda: traceir.check(abs), "what is checked is a program, got builtin"),
    ],
)
def test_a_wrong_type_is_named(misuse: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        misuse()
