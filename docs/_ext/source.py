"""Links to the source of what pages document, in the repository."""

from __future__ import annotations

import inspect
from configparser import ConfigParser
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@cache
def home() -> str:
    """The address of the repository, as `setup.cfg` has it."""
    settings = ConfigParser(interpolation=None)
    settings.read(ROOT / "setup.cfg")
    return settings["metadata"]["url"]


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The address of the lines that define an object; None where no file does.

    >>> linkcode_resolve("py", {"module": "traceir.numpy", "fullname": "sin"})
    'https://.../blob/main/traceir/numpy/elementwise/arithmetic.py#L...'
    """
    if domain != "py" or not info["module"]:
        return None
    try:
        found: Any = import_module(info["module"])
        for name in info["fullname"].split("."):
            found = getattr(found, name)
        found = inspect.unwrap(getattr(found, "fget", found))
        path = Path(inspect.getsourcefile(found) or "").resolve()
        line = found.__code__.co_firstlineno if hasattr(found, "__code__") else 0
        file = path.relative_to(ROOT)
    except (ImportError, AttributeError, TypeError, ValueError):
        return None
    return f"{home()}/blob/main/{file}" + (f"#L{line}" if line else "")
