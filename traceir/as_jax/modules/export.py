"""Programs that leave the process, by the names of `jax.export`.

The same as of `traceir.export`: a program is for no platform in particular, and there
are no checks of XLA's to switch off.
"""

from __future__ import annotations

from typing import NamedTuple

from traceir.base.tracebacks import entry_point
from traceir.exports import Exported
from traceir.exports import export as _spelling
from traceir.lax.checks.attribute_hints import missing

__all__ = [
    "DisabledSafetyCheck",
    "Exported",
    "default_export_platform",
    "deserialize",
    "export",
    "is_symbolic_dim",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
]

export = _spelling.export
deserialize = _spelling.deserialize
register_namedtuple_serialization = _spelling.register_namedtuple_serialization
register_pytree_node_serialization = _spelling.register_pytree_node_serialization


@entry_point
def __getattr__(name: str) -> object:
    raise missing(name, __all__, "traceir.export")


class DisabledSafetyCheck(NamedTuple):
    """A check of XLA's that a program was exported without; here there is none."""

    name: str

    @classmethod
    def platform(cls) -> DisabledSafetyCheck:
        """That of the platform for which a program was exported."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name: str) -> DisabledSafetyCheck:
        """That of calls of one foreign function."""
        return cls(f"custom_call:{target_name}")

    def is_custom_call(self) -> str | None:
        """The foreign function's name; None for the other check."""
        kind, _, target = self.name.partition(":")
        return target if kind == "custom_call" else None


def default_export_platform() -> str:
    """The platform that programs are exported for where none is named.

    >>> default_export_platform()
    'cpu'
    """
    return "cpu"


def is_symbolic_dim(p: object) -> bool:
    """False: dimensions are numbers.

    >>> is_symbolic_dim(3)
    False
    """
    return False
