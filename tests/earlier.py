"""A function that the pickles of tests/data/earlier-pickles.json name."""

from typing import Any

import traceir


@traceir.jit(backend="reference")
def doubled(x: Any) -> Any:
    return x * 2
