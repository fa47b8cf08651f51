"""The namespaces of NumPy that a traced function sees. Serves: face.reach

The function runs with a view of its own globals, in which NumPy's functions that make
arrays make arrays of the trace. Nothing is changed for anybody else: neither NumPy's
module nor the function's.

What is a view and what is a copy, where writes go and which NumPy functions draw or
leave the program is told by the modules beside this one; `make against-numpy` compares
drawn programs with NumPy.
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.base.config import local
from traceir.base.source_info import is_users_code
from traceir.face import classes, external
from traceir.face.arrays.unwrapping import unwrapped, wrapped
from traceir.face.arrays.values import taking_lists
from traceir.face.callers import named
from traceir.face.control_flow import iteration, runtime
from traceir.face.control_flow.rewriting import code_objects, syntax
from traceir.face.external import MODULES, RandomModule, of_external
from traceir.face.functions.captured import captured, uncaptured
from traceir.face.functions.creation import standing_in
from traceir.face.objects import Objects, SeenSuper, has_generator, has_methods
from traceir.face.python import stand_ins
from traceir.jit.cache.captured_state import sets
from traceir.jit.cache.fingerprints import attribute

Function = Callable[..., Any]
_INDEXED = ("r_", "c_", "mgrid", "ogrid")
# The modules that a traced function sees otherwise.
_MODULES = (
    MODULES
    | {"math", "cmath", "numba", "heapq", "bisect", "operator"}
    | {
        "numpy",
        "numpy.random",
        "numpy.linalg",
        "numpy.fft",
        "numpy.lib",
        "numpy.lib.stride_tricks",
    }
)

# Libraries that a traced function sees as they are, whatever they take from NumPy: most
# of what they do is not done in Python.
_LEFT_ALONE = (
    *("numpy", "scipy", "numba", "llvmlite", "jax", "jaxlib", "torch", "tensorflow"),
    *("cupy", "pandas", "xarray", "dask", "sklearn", "sympy", "h5py", "PIL"),
    *("matplotlib", "IPython", "pytest", "_pytest", "hypothesis"),
)


@functools.cache
def _functions() -> dict[Function, Function]:
    silent = {f: _silent(f) for f in (np.seterr, np.errstate)}
    own = {**stand_ins.FUNCTIONS, **iteration.FUNCTIONS} | classes.ASKING
    return {**dict(standing_in()), **classes.scalars(), **silent, **own}


def _is_number_class(value: Any) -> bool:
    return isinstance(value, type) and value in classes.scalars()


def _silent(function: Function) -> Function:
    """A function such as `np.errstate`: no program raises faults of floats."""

    @functools.wraps(function, updated=())
    def called(*args: Any, **kwargs: Any) -> Any:
        values = (*args, *kwargs.values())
        asked = [v for v in values if v not in (None, "ignore", "warn")]
        if asked:
            got = f"{function.__name__} with {asked[0]!r}"
            raise rules.error("face.meaning", got=got)
        return function(*args, **kwargs)

    return called


class _Module(ModuleType):
    """A module of NumPy's as a traced function sees it."""

    def __init__(self, module: ModuleType, plain: bool = False) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__.update(_seen=module, _plain=plain)

    def __getattr__(self, name: str) -> Any:
        found = named(self.__dict__["_seen"], name)
        if self.__dict__["_plain"] and _is_number_class(found):
            return found
        indexed = name in _INDEXED
        found = _Indexed(name) if indexed else taking_lists(of_numpy(found))
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_seen"])


class _UsersModule(ModuleType):
    """A user's module as a traced function sees it."""

    def __init__(self, module: ModuleType, view: NamespaceView) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__.update(_seen=module, _view=view)

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["_view"].of(getattr(self.__dict__["_seen"], name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["_seen"], name, uncaptured(value))

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["_seen"], name)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_seen"])


class _Indexed:
    """An object that NumPy indexes to make an array: `np.r_` and its like."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, index: Any) -> Any:
        try:
            return wrapped(getattr(np, self.name)[unwrapped(index)])
        except KeyError:
            return getattr(jnp, self.name)[index]


@functools.cache
def _module(module: ModuleType, plain: bool = False) -> ModuleType:
    if module.__name__ == "numpy.random":
        return RandomModule("numpy.random")
    return _Module(module, plain)


def of_numpy(value: Any) -> Any:
    """The stand-in for NumPy's modules and functions in a traced function.

    So of the modules, and for the generators and clocks, that are outside of it.
    """
    if isinstance(value, ModuleType):
        return _module(value) if value.__name__ in _MODULES else value
    try:
        found = _functions().get(value) if callable(value) else None
    except TypeError:  # it has no hash, so it is no function
        found = None
    return of_external(value) if found is None else found


class Globals(dict[str, Any]):
    """A module's globals, with NumPy as a traced function sees it.

    Assignments to globals are kept here and handed on by `flush`.
    """

    def __init__(self, real: dict[str, Any], view: NamespaceView) -> None:
        # Python looks the builtins up without asking `__getitem__`.
        super().__init__(__builtins__=view.builtins)
        self.real = real
        self.view = view
        # Whether it tells NumPy's classes of numbers apart: it sees these themselves.
        self.plain = False

    def __getitem__(self, name: str) -> Any:
        if name in self and name != "__builtins__":
            return super().__getitem__(name)
        return self.seen(self.real[name])

    def seen(self, value: Any) -> Any:
        """The stand-in for a global's value in the functions of the module."""
        if self.plain and isinstance(value, ModuleType) and value.__name__ in _MODULES:
            return _module(value, True)
        if self.plain and _is_number_class(value):
            return value
        return self.view.of(value)

    def flush(self) -> None:
        """Give the module the names that the function has set."""
        for name in [n for n in self if n != "__builtins__"]:
            self.real[name] = uncaptured(self.pop(name))


_BUILTINS = {
    **vars(builtins),
    **{name: of_external(vars(builtins)[name]) for name in ("input", "open")},
    **classes.BUILTINS,
    **stand_ins.BUILTINS,
    "range": iteration.range_of,
    "enumerate": iteration.enumerate_of,
    "zip": iteration.zip_of,
    "reversed": iteration.reversed_of,
    syntax.RUNTIME: runtime,
    syntax.LOCALS: locals,
}


class NamespaceView:
    """The stand-ins of one call: one object for each function and module."""

    def __init__(self) -> None:
        self._functions: dict[FunctionType, FunctionType] = {}
        self._globals: dict[int, Globals] = {}
        self._arrays: dict[int, tuple[np.ndarray, Any]] = {}
        self._modules: dict[ModuleType, _UsersModule] = {}
        self.objects = Objects(self.method, self.of)
        parent = functools.partial(SeenSuper, self.method)
        self.builtins = {**_BUILTINS, "__import__": self._import, syntax.SUPER: parent}

    def _import(self, name: str, globals: Any = None, *args: Any) -> Any:
        found = builtins.__import__(name, globals, *args)
        return globals.seen(found) if type(globals) is Globals else self.of(found)

    def of(self, value: Any) -> Any:
        """The stand-in for the value of a name or an argument."""
        kind = type(value)
        if kind is FunctionType and _is_users(value):
            return self.function(value)
        found = of_numpy(value)
        if found is not value:
            return found
        if kind in (MethodType, functools.partial):
            return self.function(value)
        if external.is_of_numba(kind, "CPUDispatcher"):
            return self.function(value.py_func)
        if isinstance(value, ModuleType) and _is_users_module(value):
            return self._modules.setdefault(value, _UsersModule(value, self))
        if kind is tuple:
            parts = tuple(map(self.of, value))
            same = all(a is b for a, b in zip(parts, value, strict=True))
            return value if same else parts
        if kind in (dict, list):
            return self.objects.table(value)
        if kind in (np.ndarray, np.memmap):
            return self._arrays.setdefault(id(value), (value, captured(value)))[1]
        if isinstance(value, type):
            return self.objects.class_of(value)
        # An object of a library's may be of a kind of which there is to be no other.
        if has_methods(value) and (has_generator(value) or not _is_installed(kind)):
            return self.objects.of(value)
        return value

    def method(self, function: FunctionType) -> Any:
        """A method as the function sees it: a library's is as it is."""
        return self.function(function) if _is_users(function) else function

    def function(self, function: Any) -> Any:
        """A function that sees its globals and its closure by this view."""
        if isinstance(function, functools.partial):
            inner = self.function(function.func)
            args = map(self.of, function.args)
            options = {k: self.of(v) for k, v in function.keywords.items()}
            return functools.partial(inner, *args, **options)
        if isinstance(function, MethodType):
            inner = self.function(function.__func__)
            return MethodType(inner, self.of(function.__self__))
        called = attribute(type(function), "__call__")
        if type(called) is FunctionType and has_methods(function):
            return MethodType(self.function(called), self.of(function))
        if type(function) is not FunctionType:
            return function
        if isinstance(function.__globals__, Globals):
            return function
        found = self._functions.get(function)
        return self._rebuilt(function) if found is None else found

    def _rebuilt(self, function: FunctionType) -> FunctionType:
        closure = function.__closure__ or ()
        code = function.__code__
        if local.context.control_flow != "python":
            code = code_objects.code_of(code, bool(self._functions))
        held = dict(zip(function.__code__.co_freevars, closure, strict=True))
        closure = tuple(held[name] for name in code.co_freevars)
        names = zip(code.co_freevars, closure, strict=True)
        cells = tuple(self._cell(*one, function.__code__) for one in names)
        view = self._view(function.__globals__)
        view.plain |= classes.tells_classes_apart(function.__code__)
        made = FunctionType(
            code, view, function.__name__, self.of(function.__defaults__), cells or None
        )
        known = function.__kwdefaults__
        made.__kwdefaults__ = known and {k: self.of(v) for k, v in known.items()}
        made.__dict__ = function.__dict__
        made.__module__ = function.__module__
        made.__qualname__ = function.__qualname__
        self._functions[function] = made
        # Now functions can be seen whose closures have this one, such as itself.
        for cell, seen in zip(closure, cells, strict=True):
            if not _is_full(seen) and _is_full(cell):
                seen.cell_contents = self.function(cell.cell_contents)
        return made

    def _view(self, real: dict[str, Any]) -> Globals:
        return self._globals.setdefault(id(real), Globals(real, self))

    def _cell(self, name: str, cell: CellType, code: CodeType) -> CellType:
        """A cell, or a new one where its value is seen as another; empty for a user's
        function. One that the function sets stays."""
        if not _is_full(cell) or name == "__class__":
            return cell
        value = cell.cell_contents
        if type(value) is FunctionType and _is_users(value):
            return CellType()
        found = self.of(value)
        same = found is value or (type(value) is np.ndarray and sets(code, name))
        return cell if same else CellType(found)

    def end(self) -> None:
        """Hand on assignments to globals."""
        for one in self._globals.values():
            one.flush()
        self.objects.end()


def _is_full(cell: CellType) -> bool:
    """True if a cell has a value: that of a name before its definition has none."""
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _is_users(function: FunctionType) -> bool:
    """True if a function is looked into: no library's, and none of these packages."""
    return is_users_code(function.__code__.co_filename) and not _is_library(
        function.__module__ or ""
    )


def _is_users_module(module: ModuleType) -> bool:
    """True if a module is looked into: one of Python code that is a user's."""
    file = getattr(module, "__file__", None) or ""
    return (
        file.endswith(".py")
        and is_users_code(file)
        and not _is_library(module.__name__)
    )


def _is_library(name: str) -> bool:
    """True if a module belongs to a library that has nothing of NumPy's, or to one that
    is left alone.
    """
    root = name.partition(".")[0]
    if root in ("__main__", "builtins"):  # what `exec` makes may be of the latter
        return False
    if root in sys.stdlib_module_names or root in _LEFT_ALONE:
        return True
    return _in_site_packages(name) and not _has_numpy(root)


def _is_installed(kind: type) -> bool:
    """True if a class is a library's."""
    return _is_library(kind.__module__) or _in_site_packages(kind.__module__)


def _in_site_packages(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return name != "__main__" and "site-packages" in file


@functools.cache
def _has_numpy(root: str) -> bool:
    """True if a module of a package has values with stand-ins."""
    modules = [
        module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == root and isinstance(module, ModuleType)
    ]
    return any(of_numpy(v) is not v for m in modules for v in list(vars(m).values()))


class StagedView(NamespaceView):
    """The functions of one call with their loops and choices rewritten; all else is as
    it is."""

    def of(self, value: Any) -> Any:
        """A user's function as it is called; another value is itself."""
        kind = type(value)
        if kind is FunctionType and _is_users(value):
            return self.function(value)
        return (
            self.function(value) if kind in (MethodType, functools.partial) else value
        )
