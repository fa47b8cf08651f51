"""The shape of the source: contracts, sizes, docstrings, nothing left about.

Who may import whom stands in `.importlinter`; `make lint` checks it.
"""

from __future__ import annotations

import ast
import configparser
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LIBRARIES = ("traceir", "traceir_numba")
FILES = sorted(
    path
    for folder in (*LIBRARIES, "tools", "docs/_ext", "tests")
    for path in (ROOT / folder).rglob("*.py")
    if path.is_file()
)
MODULES = [
    path for path in FILES if path.relative_to(ROOT).parts[0] in (*LIBRARIES, "tools")
]
# Lines of a file; modules of a package, and of the top of a library.
LIMIT, MOST, TOP = 400, 15, 12
# A module for each distribution, as users import them: `scipy.stats.norm`.
LARGE = ("traceir.scipy.stats",)
# Imports that contracts leave out, each with its reason.
EXCEPTIONS = 5


def name_of(path: Path) -> str:
    """The path below the root."""
    return str(path.relative_to(ROOT))


def dotted(path: Path) -> str:
    """The name of a module: ``traceir.jit`` for traceir/jit/__init__.py."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] == "docs" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.Module, known: Collection[str]) -> set[str]:
    """The modules that a module imports: in functions and for type checkers, too."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module), level=0):
                names = [f"{module}.{alias.name}" for alias in node.names]
                found |= {name if name in known else module for name in names}
    return found.intersection(known)


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Modules that import one another in a circle; none if there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def packages() -> dict[str, list[str]]:
    """The modules of each package, without itself and the packages in it."""
    found = {dotted(path): [] for path in MODULES if path.stem == "__init__"}
    for path in MODULES:
        if path.stem != "__init__":
            found[dotted(path).rpartition(".")[0]].append(path.stem)
    return found


def contracts() -> configparser.ConfigParser:
    """The contracts that `make lint` checks."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / ".importlinter")
    return settings


def test_no_modules_import_each_other_in_a_circle() -> None:
    # Siblings are the linter's; a circle through a package's own names is not.
    files = [path for path in FILES if path.relative_to(ROOT).parts[0] != "tests"]
    trees = {dotted(path): ast.parse(path.read_text()) for path in files}
    graph = {name: imports(tree, trees) - {name} for name, tree in trees.items()}
    assert circle(graph) == []


def test_every_module_is_in_a_contract() -> None:
    found = contracts()
    every = [found[name] for name in found.sections() if "type" in found[name]]
    (siblings,) = (one for one in every if one["type"] == "acyclic_siblings")
    roots = found["importlinter"]["root_packages"].split()
    assert roots == siblings["ancestors"].split() == [*LIBRARIES, "tools"]
    layered = {
        one["containers"]
        for one in every
        if one["type"] == "layers" and one.getboolean("exhaustive")
    }
    parents = {name.rpartition(".")[0] for name in packages() if name.count(".")}
    assert layered == {name for name in parents if name.split(".")[0] in LIBRARIES}
    assert not found["importlinter"].getboolean("exclude_type_checking_imports")


def test_exceptions_are_few_and_have_reasons() -> None:
    lines = (ROOT / ".importlinter").read_text().splitlines()
    found = [n for n, line in enumerate(lines) if " -> " in line]
    assert len(found) <= EXCEPTIONS
    for n in found:
        above = next(line for line in reversed(lines[:n]) if " -> " not in line)
        assert above.startswith("    # "), lines[n]


def test_packages_are_small() -> None:
    sizes = {name: len(modules) for name, modules in packages().items()}
    assert {n: size for n, size in sizes.items() if size > MOST} == {
        name: sizes[name] for name in LARGE
    }
    tops = {name: sizes[name] + 1 for name in LIBRARIES}
    assert {name: size for name, size in tops.items() if size > TOP} == {}


def test_relative_imports_are_not_used() -> None:
    relative = re.compile(r"^\s*from \.", re.MULTILINE)
    assert [name_of(p) for p in MODULES if relative.search(p.read_text())] == []


def test_files_are_short() -> None:
    lengths = {name_of(path): len(path.read_text().splitlines()) for path in FILES}
    assert {path: n for path, n in lengths.items() if n > LIMIT} == {}


def undocumented(node: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[str]:
    """Public functions, classes and methods of a module that have no docstring."""
    for child in node.body:
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if child.name.startswith("_"):
            continue
        if ast.get_docstring(child) is None and not is_variant(child):
            yield f"{prefix}{child.name}:{child.lineno}"
        if isinstance(child, ast.ClassDef):
            yield from undocumented(child, f"{child.name}.")


def is_variant(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """True if a definition only completes another: an overload, a property's setter."""
    texts = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(text == "overload" or text.endswith(".setter") for text in texts)


def test_public_names_are_documented() -> None:
    trees = {name_of(path): ast.parse(path.read_text()) for path in MODULES}
    assert [path for path, tree in trees.items() if not ast.get_docstring(tree)] == []
    found = {path: list(undocumented(tree)) for path, tree in trees.items()}
    assert {path: names for path, names in found.items() if names} == {}


def tracked() -> list[Path]:
    """The text files that git tracks; in an sdist those that it came with."""
    if not (ROOT / ".git").exists():
        sources = ROOT / "traceir.egg-info" / "SOURCES.txt"
        return [ROOT / name for name in sources.read_text().splitlines()]
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.split("\0") if name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


# Written apart, so that this file does not contain what it looks for.
LEFTOVERS = {
    "a path of one machine": r"(?<![\w./])/(home|root|work|opt|Users)" + "/",
    "an unfinished place": r"\b(TO" + "DO|FIX" + "ME|XX" + r"X)\b",
    # JAX is what tests are compared with, where it is, and PyTorch and CuPy have arrays
    # on devices; the next are extras, for which functions are tasks, and MPI is the
    # system's; the names of instructions are those of one architecture, and so are
    # vectors of our own; no Python package is a C compiler, the simulator's memory is
    # the host's, type checkers are lint's, notebooks take a kernel, pages a browser,
    # TypeScript node, and a model checker Java. Nothing else may be missing.
    "a test that does not run": r"pytest\.(mark\.)?(xfail|import"
    + r"orskip(?!\(.(jax|torch|cupy|cloudpickle|dask(\.array)?|distributed|joblib|"
    + r"ray)., reason=)|skip(?!if\(\s*not (?:X86|AVX512|COMPILER|SIMULATED|DEVICE|"
    + r"MPI|MYPY|NBCLIENT|NODE|PYRIGHT|SHOWN|TLC), reason=))",
    "a merge's mark": "^(<<<<<<<|>>>>>>>) ",
}


@pytest.mark.parametrize("what", LEFTOVERS)
def test_nothing_is_left_lying_about(what: str) -> None:
    pattern = re.compile(LEFTOVERS[what], re.MULTILINE)
    found = [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
        for path in tracked()
        if (text := path.read_text(encoding="utf-8", errors="ignore"))
        for match in pattern.finditer(text)
    ]
    assert found == []


def test_the_checks_themselves_find_what_they_look_for() -> None:
    tree = ast.parse(
        "import traceir.lax\nclass A:\n    def f(self): from traceir import jit, x\n"
        "if TYPE_CHECKING:\n    import traceir.ir\n"
    )
    known = {"traceir", "traceir.lax", "traceir.jit", "traceir.ir", "traceir.ops"}
    assert imports(tree, known) == known - {"traceir.ops"}
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()})
    assert not circle({"a": {"b", "c"}, "b": {"c"}})
    assert list(undocumented(tree)) == ["A:2", "A.f:3"]
    assert re.search(LEFTOVERS["a path of one machine"], "see /home" + "/me/x")
    assert re.search(LEFTOVERS["an unfinished place"], "# TO" + "DO: later")
