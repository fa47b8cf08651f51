"""The functions as data: source, signatures and what they call.

Serves: the accuracy of the real functions' rows.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from textwrap import fill, indent
from types import ModuleType
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.base.python_parser import parse_module
from traceir.store.prepared import prepared
from traceir.store.sources import digest_of, files_of
from traceir_numba.vecmath import (
    area,
    basics,
    cube_root,
    exponential,
    hyperbolic,
    inverse_trigonometric,
    logarithm,
    power,
    trigonometric,
)
from traceir_numba.vecmath.special import (
    bessel,
    beta,
    gamma,
    gaussian,
    incomplete,
    power_sums,
)

MODULES = (
    basics,
    exponential,
    logarithm,
    trigonometric,
    hyperbolic,
    power,
    area,
    cube_root,
    inverse_trigonometric,
    gaussian,
    gamma,
    bessel,
    incomplete,
    beta,
    power_sums,
)
DTYPES = {"f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64"}


@dataclass(frozen=True, slots=True)
class MathFunction:
    """A function of scalars: `text` is its source, `args` and `result` its dtypes.

    `needs` are the functions that it calls, `constants` the module's names that it
    reads, `fma` among them. A source module has `f32`, `f64`, `i32`, `i64`, `np`,
    `math` and Numba's `intrinsic` as well.
    """

    name: str
    args: tuple[str, ...]
    result: str
    text: str
    needs: tuple[str, ...]
    constants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MathStatement:
    """A statement that defines constants, or a plain function that makes a table."""

    names: tuple[str, ...]
    text: str
    needs: tuple[str, ...]


# How Numba is to compile them where it is used directly.
JIT_OPTIONS: dict[str, Any] = {"error_model": "numpy", "forceinline": True}

FUNCTIONS: dict[str, MathFunction] = {}
STATEMENTS: dict[str, MathStatement] = {}  # by each of the names that it defines
VALUES: dict[str, Any] = {}  # numbers, one-dimensional arrays and `fma`, by name
PLACES: dict[str, int] = {}  # where a name is defined, in the order of the source


def closure(names: Iterable[str]) -> list[MathFunction | MathStatement]:
    """Functions and all that they need, in an order in which they can be defined.

    >>> [f.name for f in closure(["sin_f32"]) if isinstance(f, MathFunction)]
    ['as_bits_f32', 'as_bits_f64', 'as_float_f64', 'sin_plus_f32', 'sin_f32']
    """
    found: dict[int, MathFunction | MathStatement] = {}

    def visit(name: str) -> None:
        if PLACES[name] not in found:
            entry = FUNCTIONS.get(name) or STATEMENTS[name]
            found[PLACES[name]] = entry
            further = entry.constants if isinstance(entry, MathFunction) else ()
            for needed in entry.needs + further:
                visit(needed)

    for name in names:
        visit(name)
    return [found[place] for place in sorted(found)]


def source(names: Iterable[str], decorator: str = "@function") -> str:
    """The text of some functions and all that they need, each function decorated.

    >>> print(source(["as_bits_f32"]))
    @function
    def as_bits_f32(x: f32) -> i32:
        \"\"\"The bits of a number.\"\"\"
        return np.float32(x).view(np.int32)
    """
    parts = []
    for entry in closure(names):
        if isinstance(entry, MathFunction):
            parts.append(f"\n\n{decorator}\n{entry.text}\n\n")
        elif "def " in entry.text:
            parts.append(f"\n\n{entry.text}\n\n")
        else:
            parts.append(f"{entry.text}\n")
    return re.sub("\n{3,}", "\n\n\n", "".join(parts)).strip("\n")


# -- reading the modules --------------------------------------------------------------


def _enter(listed: Mapping[str, Any]) -> None:
    """Enter what is listed of the modules: functions, statements and values."""
    for module in MODULES:
        names = listed["values"][module.__name__]
        VALUES.update((name, getattr(module, name)) for name in names)
    for place, (names, text, signature, needs) in enumerate(listed["definitions"]):
        PLACES.update(dict.fromkeys(names, place))
        # An array that was made of other modules' has no text: it is its elements.
        text = text or "\n".join(_in_figures(name, VALUES[name]) for name in names)
        if signature:
            *args, result = signature
            called, read = map(tuple, needs)
            found = MathFunction(names[0], tuple(args), result, text, called, read)
            FUNCTIONS[names[0]] = found
        else:
            statement = MathStatement(tuple(names), text, tuple(needs))
            STATEMENTS.update(dict.fromkeys(names, statement))


def _listed() -> dict[str, Any]:
    """The definitions that the sources of the modules have, as JSON has them.

    Of each definition its names, text, signature and needs; by module the names of
    values.
    """
    values: dict[str, list[str]] = {module.__name__: [] for module in MODULES}
    found = [
        (names, node, text)
        for module in MODULES
        for names, node, text in _statements(module, values[module.__name__])
    ]
    known = {name for names, _, _ in found for name in names}
    constants = {name for names in values.values() for name in names}
    definitions: list[Any] = []
    for names, node, text in found:
        reads = dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        needs = [n for n in reads if n in known - {*names}]
        if isinstance(node, ast.FunctionDef) and names[0][-4:] in ("_f32", "_f64"):
            calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
            called = {f.id for f in calls if isinstance(f, ast.Name)} - constants
            parts = (
                [n for n in needs if n in called],
                [n for n in needs if n not in called],
            )
            definitions.append((names, text, _signature(node), parts))
        else:
            definitions.append((names, text, (), needs))
    return {"definitions": definitions, "values": values}


def _statements(
    module: ModuleType, values: list[str]
) -> Iterator[tuple[tuple[str, ...], ast.stmt, str]]:
    """The definitions of a module: names, tree, and text with the comments above it.

    The names of values are appended to a list.
    """
    lines = inspect.getsource(module).splitlines()
    for node in parse_module("\n".join(lines)).body:
        match node:
            case ast.FunctionDef(name=name):
                names: tuple[str, ...] = (name,)
                if node.decorator_list:
                    values.append(name)
            case ast.Assign(targets=[target]):
                names = tuple(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
                values += names
            case _:
                continue
        first = _first_line(node) - 1
        while lines[first - 1].startswith("#"):
            first -= 1
        text = "\n".join(lines[first : node.end_lineno])
        if isinstance(node, ast.Assign) and _reads_ours(module, node):
            text = ""
        yield names, node, re.sub("  # type: ignore.*", "", text)


def _reads_ours(module: ModuleType, node: ast.stmt) -> bool:
    """True if a statement reads another module of the project: a reader has none."""
    names = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    read = (vars(module).get(name) for name in names)
    return any(isinstance(m, ModuleType) and m.__name__[:7] == "traceir" for m in read)


def _in_figures(name: str, value: Any) -> str:
    """The definition of an array by all of its elements."""
    figures = fill(", ".join(map(repr, value.ravel().tolist())), 84)
    shape = "" if value.ndim == 1 else f".reshape({value.shape})"
    return f"{name} = np.array([\n{indent(figures, '    ')}\n]){shape}"


def _first_line(node: ast.stmt) -> int:
    """The line at which a statement begins, with its decorators."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(d.lineno for d in decorators)])


def _signature(node: ast.FunctionDef) -> list[str]:
    """The dtypes of a function's operands and its result, by its annotations."""
    types = [a.annotation for a in node.args.args] + [node.returns]
    return [DTYPES[t.id] for t in types if isinstance(t, ast.Name)]


_KEY = digest_of(files_of("traceir_numba", ("vecmath/**/*.py",)))
_enter(json.loads(prepared("functions", _KEY, lambda: json.dumps(_listed()).encode())))
