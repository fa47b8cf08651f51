"""Refusals of exports and of loading: said in a sentence, nothing is run."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from exported import load as load_module
from exported import run, selu

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir.errors import TraceirError
from traceir_numba.aot import instructions, linker

X86 = instructions.is_known()
Point = namedtuple("Point", ["x", "y"])
X = np.ones(5, "float32")


def squared(x: Any) -> Any:
    """It has a product that needs memory of its own."""
    return x @ x


def printed(x: Any) -> Any:
    """It calls the host."""
    traceir.debug.print("{}", x)
    return x


def solved(x: Any) -> Any:
    """It calls LAPACK."""
    return jnp.linalg.cholesky(x)


def looped(x: Any) -> Any:
    """It calls LAPACK in a loop."""
    return traceir.lax.fori_loop(0, 3, lambda _, y: jnp.linalg.cholesky(y), x)


def raising(x: Any) -> Any:
    """It raises what a value decides on."""
    if x[0] > 3:
        raise ValueError("no")
    return x * 2


@pytest.mark.parametrize(
    "function, x, rule, word",
    [
        (traceir_numba.jit(raising), X, "artefact.contents", "may raise an exception"),
        (printed, X, "artefact.contents", "`debug_print`"),
        (solved, np.eye(3), "artefact.contents", "`cholesky`"),
        (looped, np.eye(3), "artefact.contents", "`cholesky`"),
        (lambda x: Point(x, x), X, "artefact.tree", "Point"),
        (lambda p: p.x, Point(X, X), "artefact.tree", "Point"),
        (lambda x: {2.5: x}, X, "artefact.tree", "2.5"),
        (traceir.random.split, traceir.random.key(0), "artefact.tree", "key_data"),
    ],
)
@pytest.mark.parametrize("form", ["object", "python"])
def test_what_cannot_be_in_files_is_refused_by_name(
    function: Callable[..., Any],
    x: Any,
    rule: str,
    word: str,
    form: str,
    tmp_path: Path,
) -> None:
    path = tmp_path / ("f.o" if form == "object" else "f.py")
    with pytest.raises(TypeError) as caught:
        traceir_numba.export(function, x, path=path, form=form)
    assert isinstance(caught.value, TraceirError) and caught.value.rule == rule
    assert word in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "names, path, form",
    [
        ({"while": (selu, X)}, "net.py", "python"),
        ({"not a name": (selu, X)}, "net.py", "python"),
        ({"np": (selu, X)}, "net.py", "python"),
        # What modules call, what an object has, and what the C library has.
        ({"type": (selu, X)}, "net.py", "python"),
        ({"empty": (selu, X)}, "net.py", "source"),
        ({"missing": (selu, X)}, "net.o", "object"),
        ({"tanh": (selu, X)}, "tanh.o", "object"),
        ({}, "net.py", "python"),
        ({"selu": (selu, X)}, "my-net.py", "python"),
        # The header's name, and names that no module and no object has.
        ({"selu": (selu, X)}, "net.h", "object"),
        ({"selu": (selu, X)}, "net.py.txt", "python"),
        ({"selu": (selu, X)}, "net.o", "source"),
    ],
)
def test_names_are_names(names: Any, path: str, form: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as caught:
        traceir_numba.export(names, path=tmp_path / path, form=form)
    assert getattr(caught.value, "rule", None) == "artefact.name"
    assert list(tmp_path.iterdir()) == []


def test_files_are_written_to_folders_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"No such folder: .*models'"):
        traceir_numba.export(selu, X, path=tmp_path / "models" / "selu.py")


def test_what_has_its_own_arguments_takes_no_others(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    for given in (traceir.jit(selu).trace(X), {"selu": (selu, X)}):
        with pytest.raises(TypeError, match="specs beside") as caught:
            traceir_numba.export(given, X, path=path)
        assert getattr(caught.value, "rule", None) == "jit.signature"
    with pytest.raises(TypeError, match="argument: 'x'") as caught:
        traceir_numba.export({"selu": selu}, path=path)
    assert getattr(caught.value, "rule", None) == "jit.signature"


def test_a_suffix_may_be_left_out(tmp_path: Path) -> None:
    found = traceir_numba.export(selu, X, path=tmp_path / "selu")
    assert [path.name for path in found] == ["selu_code.so", "selu.py"]
    found = traceir_numba.export(selu, X, path=tmp_path / "net", form="object")
    assert found[0].name == "net.o"


@pytest.mark.parametrize("form", ["python", "source"])
def test_a_function_is_called_as_its_module_which_is_told(
    form: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.py"
    told = "the function selu is called net in net.py, as the file is"
    for given in ((selu, X), (traceir.jit(selu), X), (traceir.jit(selu).trace(X),)):
        with pytest.warns(UserWarning, match=told) as caught:
            traceir_numba.export(*given, path=path, form=form)
        assert [warning.filename for warning in caught] == [__file__]
    traceir_numba.export(lambda x: x + 1, X, path=path, form=form)
    traceir_numba.export({"selu": (selu, X)}, path=path, form=form)


def test_there_are_three_forms(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="wheel") as caught:
        traceir_numba.export(selu, X, path=tmp_path / "selu", form="wheel")
    assert getattr(caught.value, "rule", None) == "artefact.form"


def test_processors_are_those_of_this_machine_or_of_a_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(cpu: str) -> str:
        with pytest.raises(ValueError, match=f"'{cpu}'") as caught:
            traceir_numba.export(selu, X, path=tmp_path / "selu.py", cpu=cpu)
        assert getattr(caught.value, "rule", None) == "artefact.cpu"
        return str(caught.value)

    assert "there are native" in said("pentium")
    monkeypatch.setattr("platform.machine", lambda: "vax")
    assert "there are native\n" in said("x86-64")
    assert list(tmp_path.iterdir()) == []


def test_without_a_linker_there_is_an_object_and_no_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(linker, "PACKAGE", "no_such_package")
    with pytest.raises(RuntimeError, match="no_such_package") as caught:
        traceir_numba.export(selu, X, path=tmp_path / "selu.py")
    assert getattr(caught.value, "rule", None) == "artefact.linker"
    found = traceir_numba.export(selu, X, path=tmp_path / "selu.o", form="object")
    assert "libselu.so" not in [path.name for path in found]
    assert [path.name for path in found][:2] == ["selu.o", "selu.h"]


def test_a_linker_that_fails_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for compiler in ("false", str(tmp_path / "none")):
        monkeypatch.setenv("CC", compiler)
        with pytest.raises(RuntimeError, match=f"`{compiler} -shared`") as caught:
            linker.shared_library(b"")
        assert getattr(caught.value, "rule", None) == "artefact.linker"


@pytest.mark.parametrize("number", range(len(list(linker.commands()))))
def test_whatever_links_makes_a_library_that_loads(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = list(linker.commands())[number]
    monkeypatch.setattr(linker, "commands", lambda: iter([command]))
    x = np.linspace(0, 1, 64 * 64, dtype="float32").reshape(64, 64)
    # On all processors it calls the C library's multiply-adds.
    cpu = "x86-64" if X86 else "native"
    traceir_numba.export(squared, x, path=tmp_path / "squared.py", cpu=cpu)
    found = load_module(tmp_path / "squared.py").squared(x)
    np.testing.assert_array_equal(found, traceir_numba.jit(squared)(x))


# -- loading --------------------------------------------------------------------------


def load(folder: Path) -> str:
    """The message of importing the module `selu` of a folder."""
    done = run(
        "import selu; print(selu.__name__)", folder, Path(np.__file__).parents[1]
    )
    if done.returncode == 0:
        return str(done.stdout.strip())
    return str(done.stderr.strip().splitlines()[-1])


def test_a_module_in_an_archive_is_refused(tmp_path: Path) -> None:
    traceir_numba.export(selu, X, path=tmp_path / "selu.py")
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(tmp_path / "selu.py", "selu.py")
    said = load(tmp_path / "all.zip")
    assert said == "ImportError: selu.py: it must be a file in a folder"


def test_files_of_another_machine_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("platform.machine", lambda: "vax")
        traceir_numba.export(selu, X, path=tmp_path / "selu.py")
    assert load(tmp_path).startswith(
        "ImportError: selu.py: it was made for ('linux', 'vax'), and this is ('linux', "
    )


@pytest.mark.skipif(not X86, reason="elsewhere every processor runs what is exported")
def test_instructions_that_the_processor_lacks_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No processor has the last bit of this register: it is reserved.
    lacking = instructions.Instruction(instructions.EXTENDED, 2, 31)
    monkeypatch.setitem(instructions.INSTRUCTIONS, "avx10.2", lacking)
    monkeypatch.setattr(instructions, "own", lambda: ("sse3", "avx10.2"))
    traceir_numba.export(selu, X, path=tmp_path / "selu.py")
    said = load(tmp_path)
    assert said.startswith("ImportError: selu.py: this processor lacks avx10.2; ")


def test_a_library_that_the_system_does_not_load_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linker, "shared_library", lambda code: b"no library")
    traceir_numba.export(selu, X, path=tmp_path / "selu.py")
    sentence = "ImportError: selu.py: the system does not load selu_code.so: "
    assert load(tmp_path).startswith(sentence)
