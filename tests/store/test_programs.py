"""Programs that another process compiled: the same bits, and nothing compiled."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from soak import SOAK
from store.children import Child, in_child

import traceir
import traceir.numpy as jnp
from traceir import lax, random
from traceir.store import place
from traceir.store.entry import StoreEntry, decode, encode
from traceir.store.files import Store
from traceir.store.place import Place
from traceir_numba import backend
from traceir_numba.backend import CpuExecutable
from traceir_numba.pipeline import kernel_cache
from traceir_numba.runtime import processor
from traceir_numba.store import identity

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

ROW = np.linspace(-3, 3, 600, dtype=np.float32)
SQUARE = np.outer(np.sin(ROW[:128]), ROW[:128]).astype(np.float32)
TABLE = np.arange(600, dtype=np.float32) ** 2
KEYS = random.split(random.key(1), 2)


def selu(x: Any) -> Any:
    return 1.05 * jnp.where(x > 0, x, 1.67 * jnp.exp(x) - 1.67)


def softmax(x: Any) -> Any:
    e = jnp.exp(x - jnp.max(x))
    return e / jnp.sum(e)


def powers(x: Any) -> Any:
    """A product in a loop, large enough for the BLAS."""
    return lax.fori_loop(0, 3, lambda _, y: y @ x / 10, x)


def steps(x: Any) -> Any:
    return lax.scan(lambda c, a: (jnp.sin(c) + a, c * a), x[0], x)


def table(x: Any) -> Any:
    """It has a constant that is given, and one that is folded."""
    return x * TABLE + jnp.arange(600) * 2


def ranks(x: Any) -> Any:
    """A library's function between kernels."""
    order = jnp.argsort(x * 2)
    return order, jnp.sort(x)[order // 2]


def placed(x: Any) -> Any:
    """Reads and writes at places that are values, in a loop, too."""
    y = x.at[jnp.arange(9) * 7 % 5].add(x[::-1][:9])
    return lax.fori_loop(0, 9, lambda k, a: a.at[k].set(a[k - 1] + 1), y)


def drawn(x: Any) -> Any:
    """Random numbers of a key that is computed, and of one that is a constant."""
    keys = random.split(random.key(x[0].astype("int32")), 3)
    return random.key_data(keys), x + random.normal(KEYS[1], x.shape)


PROGRAMS: list[tuple[Callable[..., Any], np.ndarray]] = [
    (selu, ROW),
    (softmax, ROW),
    (powers, SQUARE),
    (steps, ROW),
    (table, ROW),
    (ranks, ROW),
    (placed, ROW),
    (drawn, ROW),
    (jnp.matmul, SQUARE),
    (traceir.grad(lambda x: jnp.sum(softmax(x) * x)), ROW),
]


def executable(f: Callable[..., Any], x: np.ndarray) -> tuple[CpuExecutable, Any]:
    """The compiled program of a function of one array, or of two that are the same."""
    args = (x, x) if f is jnp.matmul else (x,)
    closed = traceir.make_jaxpr(f)(*args)
    found = backend.compile(closed, "program")
    assert isinstance(found, CpuExecutable)
    return found, found.run(*args)


def outcome(f: Callable[..., Any], x: np.ndarray) -> tuple[bool, int, list[bytes]]:
    """A flag for a stored program, the kernels compiled, the bits of its results."""
    before = kernel_cache.compile_count()
    found, results = executable(f, x)
    count = kernel_cache.compile_count() - before
    return found.stored, count, [a.tobytes() for a in results]


@pytest.mark.parametrize(("f", "x"), PROGRAMS)
def test_the_same_bits_with_and_without_the_store(
    f: Callable[..., Any], x: np.ndarray, tmp_path: Path
) -> None:
    def work() -> Any:
        return outcome(f, x)

    plain = in_child(None, work)
    first = in_child(str(tmp_path), work)
    second = in_child(str(tmp_path), work)
    assert not plain[0] and not first[0] and second[0]
    assert second[1] == 0
    assert plain[2] == first[2] == second[2]


def test_a_stored_program_shows_the_same_texts(tmp_path: Path) -> None:
    def work() -> Any:
        found, _ = executable(selu, ROW)
        forms = [found.as_text(form) for form in ("source", "llvm", "asm")]
        return found.stored, forms, len(found.program.launches())

    first = in_child(str(tmp_path), work)
    second = in_child(str(tmp_path), work)
    assert second[0] and second[1:] == first[1:]


def test_nothing_of_the_compiler_is_imported_for_a_stored_program(
    tmp_path: Path,
) -> None:
    text = """if True:
        import sys
        import numpy as np, traceir, traceir.numpy as jnp
        f = traceir.jit(lambda x: jnp.tanh(x) * 2, backend="numba")
        f(np.ones(3, np.float32))
        wanted = (
            *("numba", "tomllib", "traceir_numba.pipeline.kernel_cache"),
            "traceir_numba.pipeline.build_program",
        )
        print([name for name in wanted if name in sys.modules])
    """
    environment = {"TRACEIR_CACHE_DIR": str(tmp_path), "PATH": "/bin"}
    found = [
        subprocess.run(
            [sys.executable, "-c", text],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert "traceir_numba.pipeline.kernel_cache" in found[0]
    assert found[1] == "[]"


def test_nothing_is_written_where_the_store_is_off(tmp_path: Path) -> None:
    text = """if True:
        import numpy as np, traceir
        traceir.jit(lambda x: x + 1, backend="numba")(np.ones(3, np.float32))
    """
    subprocess.run(
        [sys.executable, "-c", text],
        env={"HOME": str(tmp_path), "TRACEIR_CACHE": "0", "PATH": "/bin"},
        check=True,
    )
    assert list(tmp_path.iterdir()) == []


# -- what is not found ----------------------------------------------------------------


def misses(directory: Path, change: Callable[[], Any], **options: Any) -> bool:
    """True if a stored program is compiled again after a change."""

    def work() -> Any:
        change()
        return outcome(options.get("f", selu), options.get("x", ROW))

    plain = in_child(str(directory), lambda: outcome(selu, ROW))
    assert not plain[0]
    changed = in_child(str(directory), work)
    return not changed[0]


def test_code_of_another_emitter_is_not_used(tmp_path: Path) -> None:
    sources = {**identity.SOURCES, "traceir_numba": ("emit*.py",)}
    assert misses(tmp_path / "a", lambda: setattr(identity, "SOURCES", sources))
    assert not misses(tmp_path / "b", lambda: None)


def test_code_for_another_processor_is_not_used(tmp_path: Path) -> None:
    words = processor.instructions()

    def change() -> None:
        patch = pytest.MonkeyPatch()  # never undone: the child does nothing else
        patch.setattr(processor, "instructions", lambda: f"{words} 0")

    assert misses(tmp_path, change)


def test_another_shape_is_another_program_of_the_same_code(tmp_path: Path) -> None:
    assert misses(tmp_path, lambda: None, x=ROW[:17])
    codes = [one for one in Store(Place(str(tmp_path))).listed() if one.kind == "code"]
    programs = [
        one for one in Store(Place(str(tmp_path))).listed() if one.kind == "program"
    ]
    assert len(programs) == 2
    # A call that lets other threads run meanwhile needs another trampoline at most.
    assert len(codes) <= 3


def test_another_value_of_a_constant_is_another_program(tmp_path: Path) -> None:
    first = in_child(str(tmp_path), lambda: outcome(lambda x: x * TABLE, ROW))
    other = in_child(str(tmp_path), lambda: outcome(lambda x: x * (TABLE + 1), ROW))
    assert not other[0] and first[2] != other[2]


# -- what is damaged ------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["program", "code"])
@pytest.mark.parametrize("damage", ["gone", "empty", "changed"])
def test_what_is_damaged_is_made_anew(tmp_path: Path, kind: str, damage: str) -> None:
    def work() -> Any:
        place._warned.clear()
        return outcome(softmax, ROW)

    first = in_child(str(tmp_path), work)
    for file in tmp_path.glob(f"*.{kind}"):
        if damage == "gone":
            file.unlink()
        elif damage == "empty":
            file.write_bytes(b"")
        else:
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 1
            file.write_bytes(data)

    def with_warnings() -> Any:
        import warnings

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            return *work(), len(caught)

    again = in_child(str(tmp_path), with_warnings)
    assert not again[0] and again[2] == first[2]
    assert again[3] == (damage != "gone")
    last = in_child(str(tmp_path), work)
    assert last[0] and last[2] == first[2]


def test_code_that_calls_what_is_nowhere_is_not_loaded(tmp_path: Path) -> None:
    """LLVM would end the process."""
    first = in_child(str(tmp_path), lambda: outcome(selu, ROW))
    for file in tmp_path.glob("*.code"):
        entry = decode(file.read_bytes())
        facts = {**entry.facts, "needs": ["no_such_function"]}
        file.write_bytes(encode(StoreEntry("code", entry.key, facts, entry.blocks)))
    again = in_child(str(tmp_path), lambda: outcome(selu, ROW))
    assert not again[0] and again[2] == first[2]


# -- many processes -------------------------------------------------------------------


COUNT = 50 if SOAK else 16


def test_many_processes_fill_one_store_at_once(tmp_path: Path) -> None:
    some: list[Callable[..., Any]] = [
        lambda x: jnp.sin(x) + x,
        lambda x: x * x - 1,
        lambda x: jnp.sum(x) + x,
    ]

    def work(number: int) -> Callable[[], list[bytes]]:
        return lambda: outcome(some[number % len(some)], ROW)[2]

    children = [Child(str(tmp_path), work(number)) for number in range(COUNT)]
    results = [child.result() for child in children]
    plain = [in_child(None, work(number)) for number in range(len(some))]
    assert results == [plain[number % len(some)] for number in range(COUNT)]
    files = list(tmp_path.iterdir())
    assert all(decode(file.read_bytes()) for file in files)
    assert sum(file.suffix == ".program" for file in files) == len(some)
    for f in some:
        assert in_child(str(tmp_path), partial(outcome, f, ROW))[0]
