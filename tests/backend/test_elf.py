"""Object files that are put into memory without LLVM."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import pytest

from traceir_numba.runtime import code_loader, elf, mcjit

X86 = elf.is_loaded_here()
pytestmark = pytest.mark.skipif(not X86, reason="LLVM loads this system's files")
TEXT = """
declare i64 @labs(i64)
declare i64 @other(i64)
@numbers = private constant [4 x i64] [i64 7, i64 11, i64 13, i64 17]
@count = internal global i64 100
@zeros = internal global [2000 x i64] zeroinitializer
@known = private constant [2 x ptr] [ptr @labs, ptr @second]
define i64 @first(i64 %n) {
  %place = getelementptr [4 x i64], ptr @numbers, i64 0, i64 %n
  %number = load i64, ptr %place
  %negative = sub i64 0, %number
  %a = call i64 @labs(i64 %negative)
  %b = call i64 @other(i64 %a)
  ret i64 %b
}
define i64 @second(i64 %n) {
  %old = load i64, ptr @count
  %new = add i64 %old, %n
  store i64 %new, ptr @count
  %at = getelementptr [2000 x i64], ptr @zeros, i64 0, i64 %n
  store i64 %new, ptr %at
  %same = load i64, ptr %at
  ret i64 %same
}
define i64 @third(i64 %k, i64 %n) {
  %at = getelementptr [2 x ptr], ptr @known, i64 0, i64 %k
  %function = load ptr, ptr %at
  %found = call i64 %function(i64 %n)
  ret i64 %found
}
"""
OTHER = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda n: 2 * n)


def made(text: str, model: str = "jitdefault") -> bytes:
    """The object file of LLVM text, by a code model."""
    with code_loader.lock:
        target = mcjit._target().create_target_machine(
            reloc="static", codemodel=model, jit=True
        )
        module = llvm.parse_assembly(text)
        module.verify()
        return target.emit_object(module)


@pytest.fixture
def image() -> Iterator[code_loader.Image]:
    address = ctypes.cast(OTHER, ctypes.c_void_p).value
    assert address is not None
    with code_loader.lock:
        needs = {"other": address}
        yield code_loader.load(made(TEXT), ["first", "second", "third"], needs)


def function(image: code_loader.Image, name: str, count: int = 1) -> Any:
    kinds = [ctypes.c_int64] * count
    return ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(image.addresses[name])


def test_code_calls_what_it_needs_and_libraries(image: code_loader.Image) -> None:
    first = function(image, "first")
    assert [first(n) for n in range(4)] == [14, 22, 26, 34]


def test_code_writes_its_memory_and_reads_addresses(image: code_loader.Image) -> None:
    second, third = function(image, "second"), function(image, "third", 2)
    assert second(5) == 105 and second(1999) == 2104
    assert third(0, -3) == 3 and third(1, 1) == 2105


def rights(place: int) -> str | None:
    """The permissions of the memory at a place, of which a mapping has several."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        low, _, high = line.split()[0].partition("-")
        if int(low, 16) <= place < int(high, 16):
            return line.split()[1]
    return None


def test_no_memory_is_written_and_run(image: code_loader.Image) -> None:
    assert rights(image.addresses["first"]) == "r-xp"


def test_memory_is_given_back() -> None:
    before = code_loader.images()
    code = made("define i64 @f(i64 %n) {\n  ret i64 %n\n}\n")
    with code_loader.lock:
        image = code_loader.load(code, ["f"], {})
    place = image.addresses["f"]
    assert code_loader.images() == before + 1 and place % mmap.PAGESIZE == 0
    assert rights(place) == "r-xp"
    del image
    assert code_loader.images() == before


def test_a_function_that_is_nowhere_is_told() -> None:
    with code_loader.lock, pytest.raises(RuntimeError, match="no code for other"):
        code_loader.load(made(TEXT), ["first"], {})


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda code: code[:40], "no object file"),
        (lambda code: b"MZ" + code[2:], "no object file of this machine"),
        (lambda code: _patched(code, 18, "<H", 183), "no object file of this machine"),
        (lambda code: _other_kind(code), "references of kind 9"),
    ],
    ids=["short", "format", "machine", "reference"],
)
def test_what_is_not_known_is_told(change: Any, what: str) -> None:
    text = TEXT.replace("@other", "@labs").replace("declare i64 @labs(i64)\n", "", 1)
    with pytest.raises(RuntimeError, match=what):
        elf.load(change(made(text)), lambda name: 16)


def _patched(code: bytes, at: int, form: str, value: int) -> bytes:
    size = struct.calcsize(form)
    return code[:at] + struct.pack(form, value) + code[at + size :]


def _other_kind(code: bytes) -> bytes:
    """The file with a kind of reference that no code of ours has."""
    for section in elf._sections(code):
        if section.type == 4 and section.flags & 64:
            for at in range(section.start, section.start + section.size, 24):
                code = _patched(code, at + 8, "<I", 9)
    return code


def test_memory_of_each_thread_is_not_known() -> None:
    text = "@x = thread_local global i64 1\ndefine ptr @f() {\n  ret ptr @x\n}\n"
    with pytest.raises(RuntimeError, match="memory of each thread"):
        elf.load(made(text), lambda name: 16)


def test_a_place_that_is_too_far_away_is_told() -> None:
    text = "declare i64 @far(i64)\ndefine i64 @f(i64 %n) {\n"
    text += "  %m = call i64 @far(i64 %n)\n  ret i64 %m\n}\n"
    code = made(text, "small")
    with pytest.raises(RuntimeError, match="too far away"):
        elf.load(code, lambda name: 16)


NEAR = """
@number = internal global i64 100
define i64 @add(i64 %n) noinline {
  %old = load volatile i64, ptr @number
  %new = add i64 %old, %n
  ret i64 %new
}
define i64 @twice(i64 %n) {
  %one = call i64 @add(i64 %n)
  %two = call i64 @add(i64 %one)
  ret i64 %two
}
"""


def test_near_places_are_found() -> None:
    memory, addresses = elf.load(made(NEAR, "small"), lambda name: None)
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    assert kind(addresses["add"])(1) == 101 and kind(addresses["twice"])(1) == 201
    memory.free()


ALONE = """
import sys
import numpy as np, traceir_numba
from traceir_numba.runtime import code_loader
x = np.linspace(0, 1, 400_000, dtype=np.float32)
@traceir_numba.jit
def f(x):
    y = np.zeros_like(x)
    for k in range(3):
        y = np.sin(y + x[::-1]) * np.float32(1.5)
    return y, np.cumsum(x)
print([float(np.asarray(one).sum()) for one in f(x)])
print(code_loader.images(), "llvmlite" in sys.modules, file=sys.stderr)
"""


def test_a_stored_program_runs_without_llvm(tmp_path: Path) -> None:
    environment = {**os.environ, "TRACEIR_CACHE_DIR": str(tmp_path / "store")}
    runs = [
        subprocess.run(
            [sys.executable, "-c", ALONE],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    (_, first), (images, second) = (run.stderr.split()[-2:] for run in runs)
    assert (first, second) == ("True", "False") and int(images) > 0
