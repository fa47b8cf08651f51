"""Names of JAX's private modules that libraries import, as a published list.

The list is `private.toml`: under each module its names, what answers for each here, and
the libraries that need it. Besides, private modules have the names of public ones that
JAX keeps there (`mirrored`). No other private name is there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from traceir.as_jax.mirrored import is_mirrored, public_modules
from traceir.lax.checks.attribute_hints import absent

WHERE = "https://github.com/traceir/traceir/issues"


@cache
def listed() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """The list: module, name, and a row with `is` and `for`.

    >>> listed()["jax._src.core"]["Primitive"]["is"]
    'traceir.as_jax.modules.core.Primitive'
    """
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def is_private(module: str) -> bool:
    """True if a module is on the list, or holds one that is.

    >>> is_private("jax._src"), is_private("jax._src.core"), is_private("jax.numpy")
    (True, True, False)
    """
    known = any(f"{name}.".startswith(f"{module}.") for name in listed())
    return known or is_mirrored(module)


class PrivateModule(ModuleType):
    """A private module of JAX's: names on the list, and public ones, and no others."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "Names on the published list of the stand-in.")
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> object:
        if is_private(f"{self.__name__}.{name}"):
            return import_module(f"{self.__name__}.{name}")
        row = listed().get(self.__name__, {}).get(name)
        value = _public(self.__name__, name) if row is None else found(row["is"])
        if value is None:
            raise AttributeError(missing(f"{self.__name__}.{name}"))
        setattr(self, name, value)
        return value


def _public(module: str, name: str) -> object | None:
    """A name's object in the public modules that a private one mirrors; or None."""
    if not name.startswith("_"):
        for public in public_modules(module):
            value: object | None = getattr(import_module(public), name, None)
            if value is not None:
                return value
    return None


def found(dotted: str) -> object:
    """The module, or the attribute of one, that a dotted name names.

    >>> found("traceir.numpy.sin").__name__, found("traceir.lax").__name__
    ('sin', 'traceir.lax')
    """
    module, _, name = dotted.rpartition(".")
    try:
        return import_module(dotted)
    except ModuleNotFoundError as error:
        if error.name != dotted:
            raise
    holder: Any = found(module) if module.count(".") else import_module(module)
    return getattr(holder, name)


def missing(name: str) -> str:
    """The text of the error for a name that is not here.

    >>> missing("jax.ffi.ffi_call")[:78]
    'traceir stands in for JAX and has no jax.ffi.ffi_call: Foreign functions are X'
    """
    private = any(part.startswith("_") for part in name.split("."))
    kind = "private names" if private else "names"
    reason = _reason(name)
    if reason is not None:
        return f"traceir stands in for JAX and has no {name}: {reason}"
    return (
        f"traceir stands in for JAX and has no {name}; a page of its documentation "
        f"lists the {kind} that it has.\n"
        f"  A program or a library needs it? Tell us: {WHERE}"
    )


def _reason(name: str) -> str | None:
    """The reason why a public name is left out, as the table of coverage has it."""
    module, _, last = name.rpartition(".")
    reason = absent(module.removeprefix("jax.")).get(last)
    return reason if reason is not None or not module else _reason(module)
