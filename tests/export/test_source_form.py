"""The source form: the same bits as the compiled function, with Numba and NumPy."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import bits, cases, load

import traceir_numba
from traceir.pytrees import flatten

# Each takes seconds to compile with Numba.
NAMES = "selu", "chosen", "products"
CASES = {name: case for name, case in cases().items() if name in NAMES}


def touched(x: Any) -> Any:
    """It writes to its argument."""
    x[0] += 1
    return x.sum()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module of all functions."""
    path = tmp_path_factory.mktemp("source") / "net.py"
    functions = {name: (f, *args) for name, (f, args) in CASES.items()}
    functions["touched"] = (touched, np.zeros(3))
    assert traceir_numba.export(functions, path=path, form="source") == (path,)
    return path


def test_it_gives_what_the_compiled_functions_give(file: Path) -> None:
    module = load(file)
    for name, (function, args) in CASES.items():
        found, wanted = getattr(module, name)(*args), function(*args)
        assert flatten.structure(found) is flatten.structure(wanted), name
        assert bits(found) == bits(wanted), name
    x = np.zeros(6)
    assert (module.touched(x[::2]), x.tolist()) == (1, [1, 0, 0, 0, 0, 0])
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
    assert found - {"math"} == {
        "base64",
        "ctypes",
        "hashlib",
        "numba",
        "numpy",
        "pathlib",
        "sys",
    }


def test_it_is_documented_and_lists_what_it_has(file: Path) -> None:
    tree = ast.parse(file.read_text())
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    for name, (function, args) in CASES.items():
        text = ast.get_docstring(functions[name])
        assert text and str(function.trace(*args).jaxpr).splitlines()[1] in text
    names = ", ".join(f'"{name}"' for name in (*CASES, "touched"))
    assert f"__all__ = [{names}]" in file.read_text()
    assert "matmul" not in file.read_text() and "constant(" not in file.read_text()
