"""The place of JAX's language for kernels: its names raise.

Nothing of it is here. Libraries import it, and its part `triton`, beside what they
compute without it.

>>> from traceir.experimental import pallas
>>> pallas.pallas_call
Traceback (most recent call last):
    ...
AttributeError: Pallas, JAX's language for kernels, is not here: no pallas_call
  hint: have the library compute without it, or write a loop
"""

from __future__ import annotations

import sys

__all__: list[str] = []


def __getattr__(name: str) -> object:
    if name == "triton":
        return sys.modules[__name__]
    raise AttributeError(
        f"Pallas, JAX's language for kernels, is not here: no {name}\n"
        "  hint: have the library compute without it, or write a loop"
    )
