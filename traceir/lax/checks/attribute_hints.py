"""Errors for names that a public module does not have. Serves: face.missing"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from traceir import rules


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
    if module != "traceir.numpy":
        part = module.removeprefix("traceir.")
        return coverage()["neighbours"].get(part, {}).get("absent", {}).get(name)
    return coverage()["absent"].get(name) or coverage()["extensions"].get(name)
