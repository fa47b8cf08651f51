"""The Python form: the same bits as the compiled function, with NumPy alone."""

from __future__ import annotations

import pickle
import subprocess
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from exported import bits, cases, load, plain_cases

import traceir
import traceir_numba
from traceir.pytrees import flatten
from traceir_numba.aot import instructions

CASES = cases()
X86 = instructions.is_known()
# What this processor runs: the others' vectors are shorter, or it has their length.
LEVELS = [
    name
    for name in ("x86-64", "x86-64-v3")
    if set(instructions.LEVELS[name]) <= set(instructions.own())
]


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
    assert flatten.structure(found) is flatten.structure(wanted)
    assert bits(found) == bits(wanted)


# What a process of another environment runs: it reads arguments, and writes results.
SHIPPED = """
import pickle, sys
from importlib.util import find_spec
from pathlib import Path
assert sys.prefix != sys.base_prefix
others = "traceir", "traceir_numba", "numba", "llvmlite", "scipy", "ml_dtypes"
assert not [name for name in others if find_spec(name)]
folder = Path(sys.argv[1])
sys.path.append(str(folder))
import net
given = pickle.loads((folder / "given").read_bytes())
made = [getattr(net, name)(*args) for name, args in given.items()]
(folder / "made").write_bytes(pickle.dumps(made))
modules = {name.partition(".")[0] for name in sys.modules}
print(sorted(modules - set(sys.stdlib_module_names) - {"__main__", "__mp_main__"}))
"""


def test_a_new_environment_needs_numpy_alone(folder: Path, tmp_path: Path) -> None:
    home, site = tmp_path / "home", tmp_path / "site"
    venv.create(home, symlinks=True)
    site.mkdir()
    for part in Path(np.__file__).parents[1].glob("numpy*"):
        (site / part.name).symlink_to(part)
    (packages,) = home.glob("[lL]ib/**/site-packages")
    assert not list(packages.iterdir())
    (packages / "numpy.pth").write_text(f"{site}\n")
    given = {name: CASES[name][1] for name in ("selu", "softmax", "mlp_grad")}
    (folder / "given").write_bytes(pickle.dumps(given))
    (program,) = (p for p in home.glob("*/python*") if p.stem == "python")
    done = subprocess.run(
        [program, "-I", "-W", "error", "-c", SHIPPED, folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "['net', 'numpy']\n"
    made = pickle.loads((folder / "made").read_bytes())
    for found, (name, args) in zip(made, given.items(), strict=True):
        assert bits(found) == bits(CASES[name][0](*args)), name


@pytest.mark.skipif(not X86, reason="elsewhere every processor runs what is exported")
@pytest.mark.parametrize("cpu", LEVELS)
def test_code_for_other_processors_gives_the_same(cpu: str, tmp_path: Path) -> None:
    names = "selu", "mlp_grad", "sums", "products", "mixed"
    functions = {name: (CASES[name][0], *CASES[name][1]) for name in names}
    traceir_numba.export(functions, path=tmp_path / "net.py", cpu=cpu)
    net = load(tmp_path / "net.py")
    assert instructions.LEVELS[cpu] == net.INSTRUCTIONS
    for name in names:
        function, args = CASES[name]
        assert bits(getattr(net, name)(*args)) == bits(function(*args)), name


def test_several_threads_call_it_at_once(folder: Path) -> None:
    net, (a, x) = load(folder / "net.py"), CASES["power"][1]
    given = [(a, x + k) for k in range(8)]
    wanted = [bits(net.power(*args)) for args in given]
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(net.power, *given[k % 8]) for k in range(200)]
        for k, future in enumerate(futures):
            assert bits(future.result()) == wanted[k % 8]


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
        (None, "object[]"),
    ],
)
def test_it_refuses_other_types(x: Any, got: str, folder: Path) -> None:
    message = f"x is {got}, the function was made for float32[1000]"
    with pytest.raises(TypeError, match="x is") as caught:
        load(folder / "net.py").selu(x)
    assert str(caught.value) == message
    with pytest.raises(TypeError, match="x has a mask"):
        load(folder / "net.py").selu(np.ma.masked_array(np.zeros(1000, "float32")))


@pytest.mark.parametrize(
    "number, said",
    [
        (3.5, "k is float64[], the function was made for int32[]"),
        (1j, "k is complex128[], the function was made for int32[]"),
        (1 << 31, "k is 2147483648, too large for int32"),
    ],
)
def test_numbers_of_python_keep_their_values(
    number: Any, said: str, folder: Path
) -> None:
    with pytest.raises((TypeError, OverflowError)) as caught:
        load(folder / "net.py").chosen(number, CASES["chosen"][1][1])
    assert str(caught.value) == said


@pytest.mark.parametrize(
    "got, wanted, change",
    [
        (" is list of 3", "list of 2", lambda layers: [*layers, layers[0]]),
        ("[0] is list of 2", "tuple of 2", lambda layers: [*map(list, layers)]),
        (" is dict of 0, 1", "list of 2", lambda layers: dict(enumerate(layers))),
        (" is NoneType", "list of 2", lambda layers: None),
    ],
)
def test_it_refuses_other_containers(
    got: str, wanted: str, change: Any, folder: Path
) -> None:
    layers, *others = CASES["mlp_grad"][1]
    with pytest.raises(TypeError) as caught:
        load(folder / "net.py").mlp_grad(change(layers), *others)
    assert str(caught.value) == f"layers{got}, the function was made for {wanted}"


def test_functions_say_what_they_take_and_what_they_are(folder: Path) -> None:
    text = load(folder / "net.py").mlp_grad.__doc__
    assert "layers[0][1]: float32[128]" in text and "result[1][1][0]: float32" in text
    function, args = CASES["mlp_grad"]
    assert str(function.trace(*args).jaxpr).splitlines()[1] in text


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """A module of functions that were written for NumPy."""
    path = tmp_path_factory.mktemp("plain") / "plain.py"
    functions = {
        name: function.trace(*args, **named)
        for name, (function, args, named) in plain_cases().items()
    }
    traceir_numba.export(functions, path=path)
    return load(path)


@pytest.mark.parametrize("name", plain_cases())
def test_functions_of_numpy_are_called_as_they_were(
    name: str, plain: ModuleType
) -> None:
    function, args, named = plain_cases()[name]
    _, again, _ = plain_cases()[name]
    # A static argument is in the code.
    shipped = [x for x in again if not isinstance(x, int)]
    found, wanted = getattr(plain, name)(*shipped, **named), function(*args, **named)
    kinds = [list(map(type, flatten.leaves(made))) for made in (found, wanted)]
    assert kinds[0] == kinds[1]
    assert flatten.structure(found) is flatten.structure(wanted)
    assert bits((found, again)) == bits((wanted, args))


def test_what_cannot_be_written_to_is_refused(plain: ModuleType) -> None:
    _, ((x, n), rate), _ = plain_cases()["relaxed"]
    fixed = x.copy()
    fixed.flags.writeable = False
    for other, error, word in (
        (x.tolist(), TypeError, "is a list"),
        (fixed, ValueError, "is read-only"),
    ):
        with pytest.raises(error, match=rf"grid\[0\] is written to, and {word}"):
            plain.relaxed([other, n], rate)
    with pytest.raises(ValueError, match="shares memory with an argument"):
        plain.relaxed([x, x[:3].view(n.dtype)], rate)
    wide = np.zeros(80)
    plain.relaxed([wide[::2], n], rate)
    assert wide[1::2].max() == 0


def test_parameters_keep_clear_of_the_module(tmp_path: Path) -> None:
    def f(np: Any, made_0: Any, given_1: Any, *rest: Any, k: int = 3) -> Any:
        return (np - made_0) * given_1 + rest[0] * k

    jitted = traceir.jit(f, static_argnames="k", backend="numba")
    args = [np.float32(v) for v in (7, 3, 2, 5)]
    traceir_numba.export({"f": (jitted, *args)}, path=tmp_path / "names.py")
    assert load(tmp_path / "names.py").f(*args) == 23
