"""The shape of the source: import order, sizes, docstrings, nothing left about."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A module imports only from groups to its left, or from its own group.
ORDER = {
    "traceir": """
        errors dtypes lazy version | forks records | caches syntax | store | config |
        scopes keys |
        nodes typed | treedef | registering | pytree | tree | tree_util | source |
        rules | avals promote | ir effects text report | typing | accept relations |
        oracle |
        kernels fresh evaluate | faults | marks | nans | reuse |
        methods devices sharding | array | host |
        concretize trace callbacks compile_time leaks | debug experimental |
        recording | planning | plans | direct reads | jit | transforms | test_util |
        exports | lax | numpy | random | scipy | image nn ops flatten_util | place |
        operators | face |
        __init__ | conform | tour | __main__
    """,
    "traceir_numba": """
        problems processors libraries redirected | engine | store | machine buffers pool
        | matmul vecmath | functions | nests | emitters | halves
        | pair_forms | pair_flows | physical
        | graph | jobs demand | share cuts puts | trim flows products
        | simplify reshapes | fuse | program | liveness specialise schedule | emit_lines
        | emit_forms | emit_columns emit_lengths emit_running | emit_rows | emit_cpu
        | steps | carries memory
        | blocks | places | build
        | routines | emit_flow | sources | quoted | driver | source | assemble
        | scalar_types | ssa callees | expressions | statements | safepoints | lower
        | tiles layouts spread | gemm | strided | call | kernels
        | speed | compiling hosted | backend | cuda api | ahead | __init__
    """,
}
# Programs show the backend where it is installed; the library never names it.
PROGRAMS = ("tour", "__main__")
RANK = {
    package: {
        name: rank
        for rank, group in enumerate(line.split("|"))
        for name in group.split()
    }
    for package, line in ORDER.items()
}
FILES = sorted(
    path
    for folder in (*ORDER, "tests")
    for path in (ROOT / folder).rglob("*.py")
    if path.is_file()
)
MODULES = [path for path in FILES if path.relative_to(ROOT).parts[0] in ORDER]
LIMIT = 400


def name_of(path: Path) -> str:
    """The path below the root."""
    return str(path.relative_to(ROOT))


def layer(path: Path) -> tuple[str, str]:
    """Package and layer of a file: ``("traceir", "jit")`` for traceir/jit/api.py."""
    package, first, *_ = path.relative_to(ROOT).parts
    return package, first.removesuffix(".py")


def imports(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The dotted names that a module imports, wherever; not those for typing only."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Import():
            yield from ((node.lineno, alias.name) for alias in node.names)
        case ast.ImportFrom(module=str(module), level=0):
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from imports(child)


def wrong_imports(path: Path) -> list[str]:
    """Imports of the packages' own modules that point to the right or across."""
    package, own = layer(path)
    rank = RANK[package]
    wrong = []
    for line, name in imports(ast.parse(path.read_text())):
        target, _, rest = name.partition(".")
        first = rest.partition(".")[0] or "__init__"
        if target == "traceir_numba" != package and own not in PROGRAMS:
            wrong.append(f"line {line}: traceir imports {name}")
        elif target == package and first not in rank:
            wrong.append(f"line {line}: {name} is in no layer")
        elif target == package and rank[first] > rank.get(own, 0):
            wrong.append(f"line {line}: {own} imports {first}")
    return wrong


def test_every_module_has_a_layer() -> None:
    layers = {layer(path) for path in MODULES}
    assert [one for one in sorted(layers) if one[1] not in RANK[one[0]]] == []


def test_imports_point_left() -> None:
    found = {name_of(path): wrong_imports(path) for path in MODULES}
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_relative_imports_are_not_used() -> None:
    relative = [
        name_of(path)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


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
    """Whether a definition only completes another: an overload, a property's setter."""
    texts = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(text == "overload" or text.endswith(".setter") for text in texts)


def test_public_names_are_documented() -> None:
    trees = {name_of(path): ast.parse(path.read_text()) for path in MODULES}
    assert [path for path, tree in trees.items() if not ast.get_docstring(tree)] == []
    found = {path: list(undocumented(tree)) for path, tree in trees.items()}
    assert {path: names for path, names in found.items() if names} == {}


def tracked() -> list[Path]:
    """The text files that git tracks."""
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
    # on devices; the next are extras, for which functions are tasks; the names of
    # instructions are those of one architecture, no Python package is a C compiler, and
    # the simulator's memory is the host's. Nothing else may be missing.
    "a test that does not run": r"pytest\.(mark\.)?(xfail|import"
    + r"orskip(?!\(.(jax|torch|cupy|cloudpickle|dask(\.array)?|distributed|joblib|"
    + r"ray)., reason=)|skip(?!if\(\s*not (?:X86|COMPILER|SIMULATED|DEVICE), reason=))",
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
        "import traceir.lax\nclass A:\n    def f(self): import traceir_numba\n"
        "if TYPE_CHECKING:\n    import traceir.jit\n"
    )
    assert list(imports(tree)) == [(1, "traceir.lax"), (3, "traceir_numba")]
    assert list(undocumented(tree)) == ["A:2", "A.f:3"]
    assert re.search(LEFTOVERS["a path of one machine"], "see /home" + "/me/x")
    assert re.search(LEFTOVERS["an unfinished place"], "# TO" + "DO: later")
