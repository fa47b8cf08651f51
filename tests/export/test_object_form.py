"""The object form: C programs that call its header, and what its functions give."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import cases, selu

import traceir
import traceir_numba
from traceir.pytrees import flatten
from traceir_numba.aot import instructions, objects
from traceir_numba.aot.calls import roots_of
from traceir_numba.aot.entries import Artefact, entry_of
from traceir_numba.aot.symbols import MATHEMATICS, symbols_of

# Those that a program calls, and a loop of products.
NAMES = "selu", "softmax", "mlp_grad"
CASES = {name: case for name, case in cases().items() if name in (*NAMES, "power")}
COMPILER = shutil.which("cc")
FOLDER = Path(__file__).parent
STRICT = ["-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]

LANGUAGES: list[tuple[tuple[str, ...], list[str]]] = [
    (("cc", "-std=c99"), ["net.o"]),
    (("cc", "-std=c11"), ["libnet.a"]),
    (("cc", "-std=c99"), ["-L.", "-lnet", "-Wl,-rpath,."]),
]
if shutil.which("c++"):
    LANGUAGES += [(("c++", "-std=c++17", "-x", "c++"), ["-x", "none", "net.o"])]


def compiled(
    *arguments: Any, compiler: Sequence[str] = ("cc", "-std=c99")
) -> subprocess.CompletedProcess[str]:
    """The output of the C compiler."""
    given = [*compiler, *STRICT, *map(str, arguments)]
    return subprocess.run(given, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an object of all functions, and its header."""
    path = tmp_path_factory.mktemp("object")
    functions = {name: (f, *args) for name, (f, args) in CASES.items()}
    traceir_numba.export(functions, path=path / "net.o", form="object")
    return path


def flat(tree: Any) -> bytes:
    """The bytes of a tree's arrays."""
    return b"".join(np.asarray(leaf).tobytes() for leaf in flatten.leaves(tree))


@pytest.mark.skipif(not COMPILER, reason="there is no C compiler")
@pytest.mark.parametrize("compiler, link", LANGUAGES)
def test_a_c_program_gets_the_same_bits(
    compiler: Sequence[str], link: list[str], folder: Path
) -> None:
    program = folder / "program"
    # Two arguments belong to each other where one names no file.
    linked = [folder / arg if arg.startswith(("net", "lib")) else arg for arg in link]
    linked = [f"-L{folder}" if arg == "-L." else arg for arg in linked]
    given = f"-I{folder}", FOLDER / "program.c", *linked, "-o", program, "-lm"
    said = compiled(*given, compiler=compiler)
    assert (said.returncode, said.stderr) == (0, "")
    (folder / "given").write_bytes(flat([CASES[name][1] for name in NAMES]))
    done = subprocess.run([program, "given", "made"], cwd=folder, check=False)
    assert done.returncode == 0
    wanted = flat([CASES[name][0](*CASES[name][1]) for name in NAMES])
    assert (folder / "made").read_bytes() == wanted


@pytest.mark.skipif(not COMPILER, reason="there is no C compiler")
def test_memory_is_asked_for_once_and_its_lack_is_a_code(folder: Path) -> None:
    program = folder / "memory"
    files = FOLDER / "memory.c", folder / "net.o"
    # Or the compiler knows better what malloc does.
    said = compiled(f"-I{folder}", "-fno-builtin", *files, "-o", program, "-lm")
    assert (said.returncode, said.stderr) == (0, "")
    assert subprocess.run([program], check=False).returncode == 0


@pytest.mark.skipif(not COMPILER, reason="there is no C compiler")
def test_two_artefacts_are_in_one_program(folder: Path) -> None:
    function, args = CASES["selu"]
    traceir_numba.export(function, *args, path=folder / "other.o", form="object")
    program = folder / "pair"
    files = FOLDER / "pair.c", folder / "net.o", folder / "other.o"
    said = compiled(f"-I{folder}", *files, "-o", program, "-lm")
    assert (said.returncode, said.stderr) == (0, "")
    assert subprocess.run([program], check=False).returncode == 0


def test_an_object_has_no_other_names_and_needs_the_c_library_alone(
    folder: Path,
) -> None:
    code = (folder / "net.o").read_bytes()
    defined, needed = symbols_of(code)
    mark = re.findall(r'#define NET_MARK "(\w+)"', (folder / "net.h").read_text())
    own = {"net_missing", *mark, *(f"net_{name}" for name in CASES)}
    # Elsewhere nothing is known of the names.
    assert defined == (own if code.startswith(b"\x7fELF") else set())
    assert needed <= objects.LIBRARY | MATHEMATICS | {objects.SYSTEM}
    said = re.search(r"They call ([\w,\s*]+)\.", (folder / "net.h").read_text())
    called = set(re.findall(r"\w+", said[1])) if said else set()
    assert called == needed - {objects.SYSTEM} or not needed


@pytest.mark.skipif(not COMPILER, reason="there is no C compiler")
def test_the_object_of_another_header_does_not_link(tmp_path: Path) -> None:
    for count in (5, 6):
        x, path = np.ones(count, "float32"), tmp_path / str(count) / "selu.o"
        path.parent.mkdir()
        traceir_numba.export(selu, x, path=path, form="object")
    program = tmp_path / "program.c"
    program.write_text('#include "selu.h"\nint main(void) { return 0; }\n')
    for count, fits in ((5, True), (6, False)):
        code = tmp_path / str(count) / "selu.o"
        said = compiled(f"-I{tmp_path / '5'}", program, code, "-o", tmp_path / "out")
        assert (said.returncode == 0) is fits
    assert "undefined reference to `selu_" in said.stderr


def test_the_header_documents_each_function(folder: Path) -> None:
    text = (folder / "net.h").read_text()
    for name, (function, args) in CASES.items():
        program = str(function.trace(*args).jaxpr).splitlines()[1]
        comment = text.partition(f" * {name}(")[2].partition("*/")[0]
        assert program.rstrip() in comment
    assert "int net_selu(const float *x, float *result);" in text
    assert " * in   layers_0_1: layers[0][1], float32[128]\n" in text
    assert max(map(len, text.partition("extern const")[0].splitlines())) < 89


def test_a_comment_of_the_header_ends_where_it_should(tmp_path: Path) -> None:
    def star(x: Any) -> Any:
        return {"*/": x + 1}

    traceir_numba.export(star, np.float32(1), path=tmp_path / "star.o", form="object")
    text = (tmp_path / "star.h").read_text()
    assert "result['* /']" in text and text.count("/*") == text.count("*/")


def test_functions_return_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = np.full(5, 2, "float32"), np.zeros(5, "float32")
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, y)]

    def made(name: str) -> Any:
        path = tmp_path / f"{name}.o"
        found = traceir_numba.export(selu, x, path=path, form="object")
        return getattr(ctypes.CDLL(str(found[-1])), name)

    assert made("there")(*pointers) == 0
    np.testing.assert_array_equal(y, traceir_numba.jit(selu)(x))
    if instructions.is_known():
        # No processor has the last bit of this register: it is reserved.
        lacking = instructions.Instruction(instructions.EXTENDED, 2, 31)
        monkeypatch.setitem(instructions.INSTRUCTIONS, "avx10.2", lacking)
        monkeypatch.setattr(instructions, "own", lambda: ("sse3", "avx10.2"))
        y[:] = 7
        assert made("lacking")(*pointers) == 2
        assert y.tolist() == [7] * 5


def test_memory_that_is_not_there_is_a_code(tmp_path: Path) -> None:
    @traceir.jit
    def huge(x: Any) -> Any:
        y = traceir.numpy.cumsum(traceir.numpy.full((1 << 30, 1 << 20), x), 0)
        return y[::-1].max() + traceir.numpy.cumsum(y, 1)[3, 3]

    with traceir.enable_x64(True):
        spec = traceir.ShapeDtypeStruct((), "float64")
        found = traceir_numba.export(
            huge, spec, path=tmp_path / "huge.o", form="object"
        )
    x = np.zeros(())
    given = [ctypes.c_void_p(x.ctypes.data)] * 2
    assert ctypes.CDLL(str(found[-1])).huge(*given) == 1


def test_equal_exports_have_equal_marks_and_others_have_others() -> None:
    def mark(count: int, *used: str) -> str:
        x = np.ones(count, "float32")
        entry = entry_of("selu", "selu", traceir_numba.jit(selu).trace(x))
        return Artefact("selu", (entry,), used).mark

    assert mark(5) == mark(5) != mark(6)
    # Its header has the numbers of instructions.
    assert mark(5, "avx") != mark(5, "sse3")


def test_memory_is_taken_over_any_number_of_times() -> None:
    entry = entry_of("selu", "selu", traceir_numba.jit(selu).trace(np.ones(5)))
    over = tuple((k + 1, k) for k in reversed(range(5000)))
    taken = replace(entry.build.program, reuses=over, steps=())
    assert roots_of(taken) == dict.fromkeys(range(1, 5001), 0)


def test_entries_share_weights(tmp_path: Path) -> None:
    weights = np.linspace(0, 1, 1 << 16)

    def weighted(x: Any) -> Any:
        return (x * weights).sum()

    specs = {f"of_{d}": (weighted, np.ones(1, d)) for d in ("float64", "int32")}
    found = traceir_numba.export(specs, path=tmp_path / "net.o", form="object")
    assert weights.nbytes < found[0].stat().st_size < 1.5 * weights.nbytes
    made, one = np.zeros(()), np.full(1, 2, "int32")
    library = ctypes.CDLL(str(found[-1]))
    assert (
        library.net_of_int32(*(ctypes.c_void_p(a.ctypes.data) for a in (one, made)))
        == 0
    )
    assert made == traceir_numba.jit(weighted)(one)


def test_weights_are_part_of_what_a_header_belongs_to(tmp_path: Path) -> None:
    def mark(weight: float) -> str:
        def weighted(x: Any) -> Any:
            return x * np.full(5, weight)

        path = tmp_path / "weighted.o"
        found = traceir_numba.export(weighted, np.ones(5), path=path, form="object")
        (line,) = re.findall(r'_MARK "(\w+)"', found[1].read_text())
        return str(line)

    assert mark(2) == mark(2) != mark(3)
