"""Names of a package whose modules are imported on first use.

The names, and their modules, are said once, in the stub beside the package: type
checkers and editors read it, and so does `places`.

No module of such a package has the name of a function, since importing it would hide
the function. What errors, logs and the reading of tables need of the standard library
is imported by the functions that need it; `tests/test_imports.py` counts what an import
brings.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from traceir.base.tracebacks import publish

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_keys, dict_values

V = TypeVar("V")
_LINE = re.compile(r"^from (\S+) import \(?\s*(\w+) as \2,?\s*\)?$", re.MULTILINE)


def places(file: str) -> dict[str, str]:
    """The module of each name of a package, by the stub beside its `__init__.py`.

    >>> import traceir.numpy
    >>> places(traceir.numpy.__file__)["sin"]
    'traceir.numpy.elementwise.arithmetic'
    """
    with open(file.removesuffix(".py") + ".pyi", encoding="utf-8") as stub:
        found = _LINE.findall(stub.read())
    return {name: module for module, name in found}


def imported(module: str, *names: str) -> tuple[Any, ...]:
    """The classes of a module that is imported by now, for `isinstance`.

    There are none while another thread is importing it.

    >>> isinstance(1, imported("builtins", "int", "float"))
    True
    >>> imported("no.such.module", "Class")
    ()
    """
    known = getattr(sys.modules.get(module), "__dict__", {})
    return tuple(known[name] for name in names if name in known)


def load(
    package: dict[str, object],
    module: str,
    name: str,
    shown: Callable[[object], object] = lambda value: value,
) -> object:
    """Import a module for one of its names, which becomes a global of the package.

    A module of the package's own is imported; anything else is a name of its module,
    as the package has it `shown`.

    >>> namespace = {"__name__": "traceir.numpy"}
    >>> load(namespace, "math", "tau") == namespace["tau"]
    True
    """
    if module == package["__name__"]:
        value: object = import_module(f"{module}.{name}")
        publish(vars(value))
    else:
        # As `from module import name` does: a name may be a module of a package.
        value = shown(getattr(__import__(module, fromlist=[name]), name))
    # What another thread has published is what this one gives, too.
    return package.setdefault(name, value)


class LazyTable(dict[str, V]):
    """A table into which modules enter things when they are imported: all of them are
    when somebody first looks for what is not there, or at the whole.

    >>> table = LazyTable("string", "math")
    >>> table["a"] = 1
    >>> table["a"], table.get("b"), list(table)
    (1, None, ['a'])
    """

    __slots__ = ("_modules",)

    def __init__(self, *modules: str) -> None:
        super().__init__()
        self._modules = modules

    def fill(self) -> None:
        """Import the modules that are not imported yet."""
        for module in self._modules:
            import_module(module)
        self._modules = ()  # not before: another thread would find none of theirs

    def __missing__(self, name: str) -> V:
        if not self._modules:
            raise KeyError(name)
        self.fill()
        return self[name]

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        self.fill()
        return super().__contains__(name)

    def get(self, name: str, default: V | None = None) -> V | None:  # type: ignore[override]  # of defaults of V alone
        """The thing of a name, or the default where there is none."""
        found = dict.get(self, name, default)
        if found is default and self._modules:
            self.fill()
            found = dict.get(self, name, default)
        return found

    def __iter__(self) -> Iterator[str]:
        self.fill()
        return super().__iter__()

    def __len__(self) -> int:
        self.fill()
        return super().__len__()

    def keys(self) -> dict_keys[str, V]:
        """All names."""
        self.fill()
        return super().keys()

    def values(self) -> dict_values[str, V]:
        """All things."""
        self.fill()
        return super().values()

    def items(self) -> dict_items[str, V]:
        """All names with their things."""
        self.fill()
        return super().items()
