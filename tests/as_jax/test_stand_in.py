"""The stand-in: `import jax` leads here, and says so where it cannot."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from recorded import Record

import traceir
from traceir import as_jax
from traceir.__main__ import main
from traceir.as_jax import mirrored, private
from traceir.as_jax.callback_errors import runtime_error
from traceir.base.version import JAX_VERSION
from traceir.errors import JaxRuntimeError, RuleValueError
from traceir.tracing import callbacks

ROOT = Path(__file__).parents[2]
PROGRAM = """
import jax
import jax.numpy as jnp
from jax import lax
from jax.tree_util import tree_map
print(jax.__version__, jax.grad(lambda x: lax.sin(x) * jnp.cos(x))(0.0))
"""


@pytest.fixture
def without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    """No module of JAX itself, which other tests may have imported."""
    for name in [n for n in sys.modules if n.partition(".")[0] in ("jax", "jaxlib")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def standing_in(without_jax: None) -> Iterator[None]:
    """`import jax` leads here while a test runs."""
    with as_jax.standing_in():
        yield


@pytest.mark.usefixtures("standing_in")
def test_modules_are_the_same_objects() -> None:
    jax = importlib.import_module("jax")
    for name in ("numpy", "lax", "random", "nn", "tree_util", "scipy.special"):
        ours = importlib.import_module(f"traceir.{name}")
        before = ours.__spec__
        assert importlib.import_module(f"jax.{name}") is ours
        assert ours.__spec__ is before, "the import system has written over it"
    assert jax.jit is traceir.jit
    assert jax.numpy is traceir.numpy
    assert {"jit", "numpy", "grad"} <= set(dir(jax))
    assert "rules" not in dir(jax)


@pytest.mark.usefixtures("standing_in")
def test_versions_are_those_of_the_jax_that_is_followed() -> None:
    jax = importlib.import_module("jax")
    assert jax.__version__ == JAX_VERSION
    assert ".".join(map(str, jax.__version_info__)) == JAX_VERSION
    assert importlib.import_module("jax.version").__version__ == JAX_VERSION
    assert importlib.import_module("jaxlib").__version__ == JAX_VERSION
    for name in ("jax", "jaxlib"):
        assert metadata.version(name) == JAX_VERSION
        assert metadata.metadata(name)["Name"] == name
    assert f"jax=={JAX_VERSION}" in (ROOT / "setup.cfg").read_text()


@pytest.mark.usefixtures("standing_in")
@pytest.mark.parametrize(
    "name", ["jax.no_such_module", "jax.rules", "jax._src.cudnn", "jax.numpy._src"]
)
def test_a_missing_module_says_so(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match="stands in for JAX") as raised:
        importlib.import_module(name)
    assert private.WHERE in str(raised.value)
    assert raised.value.name == name


# Modules of JAX's of which nothing is here; those that are classes have no module.
WITHOUT_MODULES = {"ffi"}
CLASSES = ("Array", "stages.")


@pytest.mark.usefixtures("standing_in")
def test_each_public_module_of_jax_is_imported_by_its_name() -> None:
    missing = set()
    for module in json.loads(Record("names.json.xz").read_text()):
        if module != "jax" and not module.startswith(CLASSES):
            try:
                importlib.import_module(f"jax.{module}")
            except ModuleNotFoundError:
                missing.add(module)
    assert missing == WITHOUT_MODULES


@pytest.mark.usefixtures("standing_in")
def test_programs_are_exported_by_the_names_of_jax() -> None:
    jax = importlib.import_module("jax")
    export = importlib.import_module("jax.export")
    check = export.DisabledSafetyCheck.custom_call("sin")
    assert check.is_custom_call() == "sin"
    assert export.DisabledSafetyCheck.platform().is_custom_call() is None
    made = export.export(jax.jit(jax.numpy.sin), disabled_checks=[check])
    read = export.deserialize(made(jax.numpy.zeros(2)).serialize())
    assert read.call(jax.numpy.zeros(2)).tolist() == [0.0, 0.0]
    assert export.default_export_platform() in read.platforms
    assert read.nr_devices == 1
    assert not any(map(export.is_symbolic_dim, read.in_avals[0].shape))


@pytest.mark.usefixtures("standing_in")
def test_a_missing_name_says_so() -> None:
    jax = importlib.import_module("jax")
    core = importlib.import_module("jax._src.core")
    for holder, name in ((jax, "no_such"), (jax, "rules"), (core, "no_such")):
        with pytest.raises(AttributeError, match=rf"no {holder.__name__}\.{name}"):
            getattr(holder, name)


@pytest.mark.usefixtures("standing_in")
def test_each_private_name_leads_to_what_the_list_says() -> None:
    for module, names in private.listed().items():
        held = importlib.import_module(module)
        for name, row in names.items():
            assert row.keys() == {"is", "for"} and row["for"], (module, name)
            assert getattr(held, name) is private.found(row["is"]), (module, name)


@pytest.mark.usefixtures("standing_in")
def test_private_modules_have_the_names_of_public_ones() -> None:
    jax = importlib.import_module("jax")
    for module, name, same in [
        ("api", "vmap", jax.vmap),
        ("nn.initializers", "orthogonal", jax.nn.initializers.orthogonal),
        ("numpy.ufuncs", "isfinite", jax.numpy.isfinite),
        ("numpy.linalg", "norm", jax.numpy.linalg.norm),
        ("lax.control_flow.loops", "scan", jax.lax.scan),
        ("scipy.stats.norm", "logpdf", jax.scipy.stats.norm.logpdf),
        ("scipy.optimize.minimize", "minimize", jax.scipy.optimize.minimize),
        ("ad_checkpoint", "checkpoint", jax.checkpoint),
        ("config", "config", jax.config),
        ("typing", "ArrayLike", jax.typing.ArrayLike),
    ]:
        held = importlib.import_module(f"jax._src.{module}")
        assert getattr(held, name) is same, (module, name)
        assert not hasattr(held, "no_such") and not hasattr(held, "_no_such")
    with pytest.raises(ModuleNotFoundError, match=r"no jax\._src\.nothing"):
        importlib.import_module("jax._src.nothing")


@pytest.mark.usefixtures("standing_in")
def test_each_mirrored_module_has_a_public_one() -> None:
    for module in mirrored.PUBLIC:
        assert importlib.import_module(f"jax._src.{module}")
        for public in mirrored.public_modules(f"jax._src.{module}"):
            assert importlib.import_module(public)


INTERNAL = "INTERNAL: a callback raised"


class Odd(Exception):
    """An exception whose constructor takes other arguments than it keeps."""

    def __init__(self, number: int) -> None:
        super().__init__(f"number {number}")
        self.number = number


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("error", [ValueError("bad"), KeyError(3), OSError(2, "no")])
@pytest.mark.usefixtures("standing_in")
def test_what_a_callback_raises_is_an_error_of_jax(
    error: Exception, staged: bool
) -> None:
    def fail(x: object) -> object:
        raise error

    jax = importlib.import_module("jax")

    def f(x: object) -> object:
        return traceir.pure_callback(fail, x, x)

    text = re.escape(f"{type(error).__name__}: {error}")
    with pytest.raises(jax.errors.JaxRuntimeError, match=text) as caught:
        (traceir.jit(f) if staged else f)(traceir.numpy.ones(2))
    assert isinstance(caught.value, type(error)) and caught.value.args == error.args
    assert caught.value.__cause__ is error


class Made(Exception):
    """An exception that is made of two arguments, and keeps one."""

    def __new__(cls, number: int, other: int) -> Made:
        return super().__new__(cls, number)

    def __init__(self, number: int, other: int) -> None:
        super().__init__(number)


def test_errors_of_callbacks_keep_what_they_have() -> None:
    found = runtime_error(Odd(7))
    assert isinstance(found, Odd) and found.number == 7
    assert str(found) == f"{INTERNAL} Odd: number 7"
    plain = runtime_error(Made(1, 2))
    assert (type(plain), str(plain)) == (JaxRuntimeError, f"{INTERNAL} Made: 1")
    own = RuleValueError("as it is")
    assert runtime_error(own) is own and runtime_error(found) is found
    assert callbacks.RAISED == []


@pytest.mark.usefixtures("without_jax")
def test_nothing_is_left_after_it() -> None:
    before = list(sys.meta_path)
    with as_jax.standing_in(), as_jax.standing_in():
        importlib.import_module("jax.numpy")
        assert as_jax.installed()
    assert sys.meta_path == before and not as_jax.installed()
    assert not [name for name in sys.modules if name.partition(".")[0] == "jax"]


def test_install_is_for_the_whole_process() -> None:
    code = (
        f"import traceir; traceir.as_jax.install(); traceir.as_jax.install(){PROGRAM}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{JAX_VERSION} 1.0\n"


def test_install_comes_before_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", sys)
    with pytest.raises(ImportError, match="JAX itself has been imported"):
        as_jax.install()


@pytest.mark.usefixtures("without_jax")
def test_programs_and_modules_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", ["traceir"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "users_stand_in.py").write_text(PROGRAM)
    for words in (["users_stand_in.py"], ["-m", "users_stand_in"]):
        assert main(["run", "--quiet", *words]) == 0
        assert capsys.readouterr().out == f"{JAX_VERSION} 1.0\n"
    assert not as_jax.installed()
