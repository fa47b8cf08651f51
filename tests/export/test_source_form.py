"""The source form: the same bits as the compiled function, with Numba and NumPy."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from exported import bits, cases, load

import traceir_numba
from traceir import pytree

# Each takes seconds to compile with Numba.
NAMES = "selu", "chosen", "products"
CASES = {name: case for name, case in cases().items() if name in NAMES}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module of all functions."""
    path = tmp_path_factory.mktemp("source") / "net.py"
    functions = {name: (f, *args) for name, (f, args) in CASES.items()}
    assert traceir_numba.export(functions, path=path, form="source") == (path,)
    return path


def test_it_gives_what_the_compiled_functions_give(file: Path) -> None:
    module = load(file)
    for name, (function, args) in CASES.items():
        found, wanted = getattr(module, name)(*args), function(*args)
        assert pytree.structure(found) is pytree.structure(wanted), name
        assert bits(found) == bits(wanted), name
    with pytest.raises(TypeError, match=r"x is float32\[3\], the function was made"):
        module.selu(np.ones(3, "float32"))


def test_it_imports_numba_numpy_and_the_standard_library(file: Path) -> None:
    nodes = ast.walk(ast.parse(file.read_text()))
    found = {
        name.partition(".")[0]
        for node in nodes
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    assert found - {"math"} == {"base64", "ctypes", "numba", "numpy"}


def test_it_is_documented_and_lists_what_it_has(file: Path) -> None:
    tree = ast.parse(file.read_text())
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    for name, (function, args) in CASES.items():
        text = ast.get_docstring(functions[name])
        assert text and str(function.trace(*args).jaxpr).splitlines()[1] in text
    assert f"__all__ = [{', '.join(f'{chr(34)}{n}{chr(34)}' for n in CASES)}]" in (
        file.read_text()
    )
    assert "matmul" not in file.read_text() and "constant(" not in file.read_text()
