"""The Python form: the same bits as the compiled function, with NumPy alone."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import bits, cases, load, run

import traceir
import traceir_numba
from traceir import pytree

CASES = cases()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one module of all functions."""
    path = tmp_path_factory.mktemp("python")
    functions = {name: (f, *args) for name, (f, args) in CASES.items()}
    written = traceir_numba.export(functions, path=path / "net.py")
    assert sorted(p.name for p in written) == ["net.py", "net_code.so"]
    assert sorted(p.name for p in path.iterdir()) == ["net.py", "net_code.so"]
    return path


@pytest.mark.parametrize("name", CASES)
def test_it_gives_what_the_compiled_function_gives(name: str, folder: Path) -> None:
    function, args = CASES[name]
    found = getattr(load(folder / "net.py"), name)(*args)
    wanted = function(*args)
    assert pytree.structure(found) is pytree.structure(wanted)
    assert bits(found) == bits(wanted)


def test_it_needs_numpy_alone(folder: Path, tmp_path: Path) -> None:
    site = Path(np.__file__).parents[1]
    for part in site.glob("numpy*"):
        (tmp_path / part.name).symlink_to(part)
    layers, x, target = CASES["mlp_grad"][1]
    (tmp_path / "given").write_bytes(pickle.dumps((layers, x, target)))
    code = """
import pickle, sys
from pathlib import Path
import net
given = pickle.loads(Path(sys.argv[1], "given").read_bytes())
Path(sys.argv[1], "made").write_bytes(pickle.dumps(net.mlp_grad(*given)))
from importlib.util import find_spec
others = "numba", "llvmlite", "traceir", "ml_dtypes"
print([name for name in others if find_spec(name)])
"""
    done = run(code, tmp_path, folder, given=[str(tmp_path)])
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
    found = pickle.loads((tmp_path / "made").read_bytes())
    function, args = CASES["mlp_grad"]
    assert bits(found) == bits(function(*args))


def test_it_takes_arguments_by_name_scalars_and_views(folder: Path) -> None:
    net = load(folder / "net.py")
    x = np.random.default_rng(0).normal(size=(70, 30)).astype("float32").T
    assert bits(net.softmax(x=x)) == bits(net.softmax(x.copy()))
    y = CASES["chosen"][1][1]
    assert bits(net.chosen(3, y)) == bits(net.chosen(np.int32(3), y))


@pytest.mark.parametrize(
    "x, got",
    [
        (np.zeros(999, "float32"), "float32[999]"),
        (np.zeros(1000), "float64[1000]"),
        (1.0, "float64[]"),
    ],
)
def test_it_refuses_other_types(x: Any, got: str, folder: Path) -> None:
    message = f"x is {got}, the function was made for float32[1000]"
    with pytest.raises(TypeError, match="x is") as caught:
        load(folder / "net.py").selu(x)
    assert str(caught.value) == message


def test_functions_say_what_they_take_and_what_they_are(folder: Path) -> None:
    text = load(folder / "net.py").mlp_grad.__doc__
    assert "layers[0][1]: float32[128]" in text and "result[1][1][0]: float32" in text
    function, args = CASES["mlp_grad"]
    assert str(function.trace(*args).jaxpr).splitlines()[1] in text


def test_a_function_of_numpy_is_traced_as_the_decorator_does(tmp_path: Path) -> None:
    def smooth(x: Any) -> Any:
        y = np.zeros_like(x)
        y[1:-1] = (x[2:] + x[:-2]) / 2
        return y

    x = np.array([1.0, 5.0, 3.0, 9.0])
    spec = traceir.ShapeDtypeStruct((4,), "float64")
    traceir_numba.export(smooth, spec, path=tmp_path / "smooth.py")
    assert load(tmp_path / "smooth.py").smooth(x).tolist() == [0, 2, 7, 0]


def test_parameters_keep_clear_of_the_module(tmp_path: Path) -> None:
    def f(np: Any, made_0: Any, given_1: Any, *rest: Any, k: int = 3) -> Any:
        return (np - made_0) * given_1 + rest[0] * k

    jitted = traceir.jit(f, static_argnames="k", backend="numba")
    args = [np.float32(v) for v in (7, 3, 2, 5)]
    traceir_numba.export({"f": (jitted, *args)}, path=tmp_path / "names.py")
    assert load(tmp_path / "names.py").f(*args) == 23
