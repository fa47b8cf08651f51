"""The user's place: which frame is the user's, what is decoded, what it costs."""

from __future__ import annotations

import _thread
import inspect
import linecache
import queue
import timeit
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir
from traceir.base.source_info import Source, capture, user_frame_summary

PACKAGE = traceir.__file__.removesuffix("__init__.py")


def through(depth: int, filename: str) -> Callable[[Callable[[], Any]], Any]:
    """A function that calls its argument through `depth` frames of the named file."""
    scope: dict[str, Any] = {"f0": lambda thunk: thunk()}
    lines = [
        f"def f{i + 1}(thunk): return {'thunk()' if i == 0 else f'f{i}(thunk)'}"
        for i in range(depth)
    ]
    exec(compile("\n".join(lines), filename, "exec"), scope)
    found: Callable[[Callable[[], Any]], Any] = scope[f"f{depth}"]
    return found


def test_frames_of_the_packages_are_skipped() -> None:
    for file in (
        PACKAGE + "trace.py",
        PACKAGE + "numpy/reductions.py",
        PACKAGE.rstrip("/") + "_numba/jit.py",
        str(np.linalg.__file__),
        "<traceir formula add.shape>",
    ):
        source = through(4, file)(capture)
        line = inspect.currentframe().f_lineno - 1
        assert source.function == "test_frames_of_the_packages_are_skipped"
        assert (source.file, source.line) == (__file__, line)
        assert source.text == "source = through(4, file)(capture)"


def test_programs_of_a_package_and_foreign_files_are_the_users() -> None:
    programs = (PACKAGE + "__main__.py", PACKAGE + "tour.py")
    for file in (*programs, "/elsewhere/traceir.py", "<stdin>"):
        source = through(2, file)(capture)
        assert (source.file, source.function) == (file, "f1")


def test_skip_counts_the_frames_above() -> None:
    def helper() -> Source | None:
        return capture(2)

    def user() -> Source | None:
        return helper()

    source = user()
    assert source is not None
    assert source.function.endswith("<locals>.user")


def test_no_user_frame() -> None:
    found: queue.Queue[Source | None] = queue.Queue()
    scope: dict[str, Any] = {"capture": capture, "put": found.put}
    exec(compile("def f(): put(capture())", PACKAGE + "x.py", "exec"), scope)
    _thread.start_new_thread(scope["f"], ())
    assert found.get(timeout=60) is None


def test_who_makes_an_instance_of_a_dataclass_is_the_user() -> None:
    def user() -> str:
        mesh = traceir.make_mesh((1,), ("x",))
        with pytest.raises(ValueError) as caught:
            traceir.NamedSharding(mesh, traceir.P("y"))
        return str(caught.value)

    assert 'user: traceir.NamedSharding(mesh, traceir.P("y"))' in user()


def test_column_of_the_expression() -> None:
    def user(x: int) -> list[Any]:
        return [x, capture()]

    source = user(1)[1]
    assert source.text == "return [x, capture()]"
    column = inspect.getsource(user).splitlines()[1].index("capture") + 1
    assert source.column == column


def test_column_unknown_without_positions() -> None:
    code = compile("x = 1", "<stdin>", "exec")
    source = Source(code.replace(co_linetable=b""), 0)
    assert source.column is None
    assert source.line == 1


def test_summary() -> None:
    def user() -> str:
        return user_frame_summary()

    line = user.__code__.co_firstlineno + 1
    assert user() == (
        f"{__file__}:{line} in test_summary.<locals>.user: return user_frame_summary()"
    )
    source = through(1, "<stdin>")(capture)
    assert str(source) == user_frame_summary(source) == "<stdin>:1 in f1"


def test_a_long_line_is_shown_from_the_expression() -> None:
    name = "/long/line.py"
    line = f"    return [{'0, ' * 200}thunk(), {'1, ' * 200}]\n"
    linecache.cache[name] = len(line), None, ["def f(thunk):\n", line], name
    scope: dict[str, Any] = {}
    exec(compile("def f(thunk):\n" + line, name, "exec"), scope)
    source = scope["f"](capture)[200]
    text = source.text
    del linecache.cache[name]
    assert text.startswith("…thunk(), 1, 1,")
    assert text.endswith("…")
    assert len(text) == 88


def test_capture_costs_less_than_a_traceback() -> None:
    """Through four package frames: at most a quarter of a stack summary."""

    def best(function: Callable[[], object], number: int) -> float:
        call = through(4, PACKAGE + "trace.py")
        times = timeit.repeat(lambda: call(function), number=number, repeat=5)
        return min(times) / number

    cheap = best(capture, 2000)
    assert cheap < best(lambda: traceback.extract_stack(limit=5), 50) / 4
