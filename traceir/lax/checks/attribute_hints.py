"""Names of public packages, and errors for others. Serves: face.missing"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from traceir import rules
from traceir.base import lazy_exports
from traceir.base.tracebacks import entry_point
from traceir.eager import dispatch


@cache
def coverage() -> Mapping[str, Any]:
    """The table of the names that NumPy and jax.numpy share.

    >>> "sin" in coverage()["shared"]
    True
    """
    import tomllib  # not on the way of an import

    path = rules.spec_path() / "coverage.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def missing(
    name: str, present: Collection[str], module: str = "traceir.numpy"
) -> AttributeError:
    """The error for a name that a module does not have (face.missing).

    Names that begin with an underscore are asked for by tools, and get a short one.

    >>> str(missing("_hidden", []))
    "module 'traceir.numpy' has no attribute '_hidden'"
    >>> "did you mean sin" in str(missing("sine", ["sin", "cos"]))
    True
    """
    if name.startswith("_"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    import difflib  # not on the way of an import

    reason = _reason(name, module)
    near = difflib.get_close_matches(name, present, 3)
    hint = "see the page on coverage in the documentation"
    if reason is not None:
        hint = reason
    elif near:
        hint = f"did you mean {', '.join(near)}?"
    error = rules.error("face.missing", got=f"{module}.{name}", hint=hint)
    assert isinstance(error, AttributeError)
    return error


def _reason(name: str, module: str) -> Any:
    """The reason why a name is left out, as the table has it."""
    own = coverage()["absent"] | coverage()["extensions"]
    if module == "traceir.numpy" and name in own:
        return own[name]
    part = "jax" if module == "traceir" else module.removeprefix("traceir.")
    return absent(part).get(name)


def absent(module: str, kind: str = "absent") -> dict[str, str]:
    """The reasons why names of one of JAX's modules are not there, by name; with
    "parameters", why functions have other ones.

    >>> absent("nn")["scaled_matmul"].split()[:3]
    ['It', 'is', 'about']
    """
    found = coverage()["jax"].get(module, {}).get(kind, {})
    return {name: why for why, names in found.items() for name in names}


def lazy_names(
    package: dict[str, Any],
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a package whose modules are imported on
    first use: its names are those of the stub beside it. Takes its globals.

    >>> import traceir.nn
    >>> names, load, _ = lazy_names(vars(traceir.nn))
    >>> "relu" in names, load("relu") is traceir.nn.relu
    (True, True)
    """
    places = lazy_exports.places(package["__file__"])
    names = sorted(places)

    def load(name: str) -> object:
        if name in places:
            return lazy_exports.load(package, places[name], name, dispatch.public)
        raise missing(name, names, package["__name__"])

    return names, entry_point(load, makes=False), lambda: names
