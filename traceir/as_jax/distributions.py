"""The metadata of JAX's packages, as `importlib.metadata` tells it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution
from os import PathLike
from typing import Any

from traceir.base.version import JAX_VERSION

NAMES = ("jax", "jaxlib")


class StandInDistribution(Distribution):
    """The package that this library stands in for: a name and a version, no files.

    >>> StandInDistribution("jax").version == JAX_VERSION
    True
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def read_text(self, filename: str) -> str | None:
        """The text of METADATA; None for any other file."""
        if filename != "METADATA":
            return None
        return (
            f"Metadata-Version: 2.1\nName: {self._name}\nVersion: {JAX_VERSION}\n"
            "Summary: Answered by traceir\n"
        )

    def locate_file(self, path: str | PathLike[str]) -> Any:
        """Raise FileNotFoundError: there are no files."""
        raise FileNotFoundError(f"traceir stands in for {self._name}: no file {path}")


def distributions(name: str | None) -> Iterator[Distribution]:
    """Those of a name, or all that this library stands in for.

    >>> [d.metadata["Name"] for d in distributions("JAX")]
    ['jax']
    """
    asked = NAMES if name is None else (name.lower().replace("_", "-"),)
    for one in asked:
        if one in NAMES:
            yield StandInDistribution(one)
