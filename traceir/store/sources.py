"""Texts of modules, for the keys of whatever they decide."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import glob
from importlib.util import find_spec


def texts_of(package: str, patterns: Sequence[str]) -> list[bytes | str]:
    """Names and texts of some of a package's files, which is not imported for it.

    >>> [str(part) for part in texts_of("traceir", ["store/__i*.py"])][:2]
    ['traceir', 'store/__init__.py']
    """
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    found: list[bytes | str] = [package]
    if not folders:
        return found
    for pattern in patterns:
        for path in sorted(glob(pattern, root_dir=folders[0], recursive=True)):
            with open(os.path.join(folders[0], path), "rb") as file:
                found += [path, file.read()]
    return found
