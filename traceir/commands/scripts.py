"""Programs of the user, as modules, and their own tracebacks."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any


class Unusable(Exception):
    """A command cannot do as it is asked; the text says why."""


def load(name: str) -> ModuleType:
    """A module by its name, or the one that a file is; the file's folder is searched.

    Raises Unusable where there is neither.
    """
    is_file = name.endswith(".py") or os.sep in name
    folder = os.path.dirname(os.path.abspath(name)) if is_file else os.getcwd()
    sys.path.insert(0, folder)
    if not is_file:
        if importlib.util.find_spec(name.partition(".")[0]) is None:
            raise Unusable(f"there is no module {name}; files end with .py")
        return importlib.import_module(name)
    if not os.path.isfile(name):
        raise Unusable(f"there is no file {name}")
    stem = os.path.splitext(os.path.basename(name))[0]
    spec = importlib.util.spec_from_file_location(stem, os.path.abspath(name))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(stem, module)
    spec.loader.exec_module(module)
    return module


def function(target: str) -> Callable[..., Any]:
    """The function of `FILE:FUNCTION`, or of `MODULE:FUNCTION`.

    Raises Unusable, with the names that there are, where there is none.
    """
    name, _, path = target.rpartition(":")
    if not name or not path:
        raise Unusable(f"{target!r} is not FILE:FUNCTION, as in program.py:smooth")
    found: Any = load(name)
    for part in path.split("."):
        if not hasattr(found, part):
            known = [key for key, value in vars(found).items() if callable(value)]
            known = [key for key in known if not key.startswith("_")]
            near = difflib.get_close_matches(part, known, 1) or known
            raise Unusable(f"{name} has no {part!r}; it has {', '.join(near)}")
        found = getattr(found, part)
    if not callable(found):
        raise Unusable(f"{target} is no function but {found!r}")
    return found  # type: ignore[no-any-return]


def tell(error: BaseException, file: str) -> None:
    """Print an error's traceback, from the user's file on."""
    own: TracebackType | None = error.__traceback__
    while own is not None and own.tb_frame.f_code.co_filename != file:
        own = own.tb_next
    traceback.print_exception(error.with_traceback(own or error.__traceback__))
