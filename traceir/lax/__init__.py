"""Primitives as functions, named as in `jax.lax`: no promotion, no broadcasting.

Takes values, binds a primitive. Start reading at `elementwise.arithmetic.add`.

- `checks`: checks and conversions of operands, before a primitive sees them
- `control`: control flow on traced values: choices, loops and scans
- `elementwise`: elementwise primitives under their `jax.lax` names
- `linalg`: factorizations and triangular systems, named as in `jax.lax.linalg`
- `reductions`: reductions, contractions, windows and collectives
- `structural`: primitives that move, read and order elements
- `bit_generators`: random bits by a counter: Philox and Threefry, as XLA lays them out
- `composites`: functions of `lax` that take several primitives, or none
- `derived`: functions of `jax.lax` that are made of others
- `seldom`: functions of `jax.lax` that few programs ask for
- `later`: names of `lax` that few programs ask for, imported when they do
"""

from functools import partial as _partial

from traceir.base import lazy_exports as _lazy
from traceir.base.tracebacks import published as _published
from traceir.lax.later import later as _later

_places = _lazy.places(__file__)
__all__ = sorted(_places)


def __getattr__(name: str) -> object:
    if name in _places:
        shown = _partial(_published, __name__, name)
        return _lazy.load(globals(), _places[name], name, shown)
    return _later(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
