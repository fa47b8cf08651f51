"""Flags: names, environment, scopes, threads.  Cites: cache.key.*"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import traceir
import traceir.numpy as jnp
from traceir.base import config as module
from traceir.base.config import current, enable_x64
from traceir.rules import default


def test_names_with_and_without_prefix(fresh_config: ModuleType) -> None:
    assert (current().x64, fresh_config.jax_enable_x64) == (False, False)
    fresh_config.update("jax_enable_x64", True)
    assert fresh_config.jax_enable_x64 and current().x64
    fresh_config.update("enable_x64", False)
    assert not current().x64


@pytest.mark.parametrize("flag", ["jax_enable_x46", "enable_x46"])
def test_unknown_flag_names_the_close_ones(fresh_config: ModuleType, flag: str) -> None:
    with pytest.raises(AttributeError, match=rf"'{flag}'; close names: enable_x64"):
        fresh_config.update(flag, True)
    with pytest.raises(AttributeError, match="close names: enable_x64"):
        getattr(fresh_config, flag)
    with pytest.raises(AttributeError, match="enable_x64, numpy_dtype_promotion, "):
        fresh_config.update("zzz", True)


def test_values_are_bools_and_set_by_update(fresh_config: ModuleType) -> None:
    with pytest.raises(TypeError, match="enable_x64 is a bool, got 3"):
        fresh_config.update("jax_enable_x64", 3)
    with pytest.raises(TypeError, match="log_compiles is a bool, got 'of course'"):
        traceir.log_compiles("of course")


def test_scopes_nest_and_restore(fresh_config: ModuleType) -> None:
    outside = current()
    with enable_x64(True):
        inside = current()
        with traceir.disable_jit(), enable_x64(False), module.face("numpy"):
            assert (current().x64, current().disable_jit) == (False, True)
            assert current().face == "numpy"
        assert current() is inside
    assert current() is outside
    with pytest.raises(ZeroDivisionError), traceir.log_compiles():
        assert current().log_compiles
        1 / 0  # noqa: B018
    assert current() is outside


def test_a_scope_object_can_be_entered_again(fresh_config: ModuleType) -> None:
    scope = enable_x64(True)
    with scope, scope:
        assert current().x64
    assert not current().x64


def test_scopes_may_be_left_in_any_order(fresh_config: ModuleType) -> None:
    outside = current()
    first, second = enable_x64(True), traceir.disable_jit()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert (current().x64, current().disable_jit) == (False, True)
    second.__exit__(None, None, None)
    assert current() is outside


# A value of each flag that is not its first, where it has another.
OTHERS = {name: flag.values[-1] for name, flag in module.FLAGS.items()}
SCOPES: dict[str, Callable[[], Any]] = {
    **{name: partial(getattr(traceir, name), v) for name, v in OTHERS.items()},
    "checking_leaks": traceir.checking_leaks,
    "ensure_compile_time_eval": traceir.ensure_compile_time_eval,
    "face": lambda: module.face("numpy"),
}


@pytest.mark.parametrize("name", SCOPES)
def test_every_scope_decorates(name: str, fresh_config: ModuleType) -> None:
    outside, seen = current(), []
    with SCOPES[name]():
        within = current()
    flag = module.FLAGS.get(name)
    assert flag is None or getattr(within, flag.field) == OTHERS[name]

    @SCOPES[name]()
    def count(n: int) -> int:
        """The count of its calls."""
        seen.append(current())
        if not n:
            raise ZeroDivisionError
        return count(n - 1)

    assert (count.__name__, count.__doc__) == ("count", "The count of its calls.")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            count(2)
        assert current() is outside
    assert seen == [within] * 6


def test_a_decorated_function_is_what_it_was(fresh_config: ModuleType) -> None:
    class Owner:
        @enable_x64(True)
        def method(self) -> bool:
            return current().x64

        @staticmethod
        @enable_x64(True)
        def static(a: int, b: int = 2) -> tuple[bool, int]:
            return current().x64, a + b

    assert Owner().method() and Owner.static(1) == (True, 3)
    assert traceir.jit(enable_x64(True)(lambda x: jnp.zeros(2)))(1).dtype == "float64"
    # Only the call is within, as in JAX: not what runs later of a generator.
    wide: Any = enable_x64(True)

    @wide
    def generator() -> Iterator[bool]:
        yield current().x64

    @wide
    async def coroutine() -> bool:
        return current().x64

    assert list(generator()) == [False]
    with pytest.raises(StopIteration) as ended:
        coroutine().send(None)
    assert ended.value.value is False


def test_update_within_a_scope_counts_after_it(fresh_config: ModuleType) -> None:
    with enable_x64(True):
        fresh_config.update("enable_x64", False)
        fresh_config.update("log_compiles", True)
        assert current().x64 and current().log_compiles
    assert not current().x64
    assert current().log_compiles


def test_flags_of_words_have_their_values_only(fresh_config: ModuleType) -> None:
    fresh_config.update("jax_default_matmul_precision", "high")
    assert fresh_config.jax_default_matmul_precision == "high"
    fresh_config.update("default_matmul_precision", None)
    with pytest.raises(ValueError, match="'standard', 'strict', got 'lax'"):
        fresh_config.update("numpy_dtype_promotion", "lax")
    for wrong in (True, None, "Raise"):
        with pytest.raises(ValueError, match="one of 'allow', 'warn', 'raise'"):
            traceir.numpy_rank_promotion(wrong)


def test_every_flag_has_a_context_manager_of_its_name(
    fresh_config: ModuleType,
) -> None:
    for name, flag in module.FLAGS.items():
        for value in flag.values:
            with getattr(traceir, name)(value):
                assert getattr(fresh_config, f"jax_{name}") == value
        assert getattr(fresh_config, f"jax_{name}") == flag.default
        with module.scope(f"jax_{name}", flag.values[-1]):
            assert getattr(current(), flag.field) == flag.values[-1]


def test_the_flags_are_those_of_the_table() -> None:
    table = default()
    assert list(module.FLAGS) == list(table.flags)
    parts = {row.id: row.part.text for row in table.keys}
    for name, row in table.flags.items():
        flag = module.FLAGS[name]
        assert [*map(str, flag.values)] == [*row.values]
        assert (flag.says, flag.key) == (row.says, row.key)
        assert parts.get(row.key) == (f"call.{name}" if row.key else None)


ROW = """
[[flag]]
id = "cache.flag.colour"
name = "colour"
values = ["red", "green"]
key = "cache.key.colour"
splits = "The colour of traces."
says = "Traces have a colour."
"""
USE = """
import traceir
from traceir.base.config import current
assert traceir.config.jax_colour == current().colour == "green"  # the environment's
traceir.config.update("jax_colour", "red")
traces = []
f = traceir.jit(lambda x: traces.append(0) or x + 1)
f(1.0), f(1.0)
with traceir.colour("green"):
    assert traceir.config.jax_colour == "green"
    found = str(f.explain(1.0))
    assert "cache.key.colour: was 'red', now 'green'" in found, found
    f(1.0)
assert len(traces) == 2, traces

@traceir.colour("green")
def seen():
    return current().colour

assert (seen(), current().colour, "colour" in traceir.__all__) == ("green", "red", True)
try:
    traceir.config.update("colour", "blue")
except ValueError as error:
    assert "'red', 'green', got 'blue'" in str(error)
rules = traceir.rules.default()
assert rules.clauses["cache.key.colour"].says == "The colour of traces."
assert "Traces have a colour." in traceir.colour.__doc__
assert "TRACEIR_COLOUR" in traceir.colour.__doc__
print("used")
"""


def test_a_new_flag_is_one_row(tmp_path: Path) -> None:
    root = Path(module.__file__).parents[2]
    for package in ("traceir", "traceir_numba"):
        (tmp_path / package).symlink_to(root / package)
    shutil.copytree(root / "spec" / "rules", tmp_path / "spec" / "rules")
    with (tmp_path / "spec" / "rules" / "cache.toml").open("a") as table:
        table.write(ROW)
    run = subprocess.run(
        [sys.executable, "-c", USE],
        env={**os.environ, "TRACEIR_COLOUR": "green", "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (run.stdout, run.stderr) == ("used\n", "")


def test_unknown_face() -> None:
    with pytest.raises(ValueError, match="one of jax, numpy, got 'torch'"):
        module.face("torch")


def test_scopes_are_of_one_thread_and_updates_of_all(fresh_config: ModuleType) -> None:
    seen: list[bool] = []

    def look() -> None:
        seen.append(current().x64)

    def in_thread() -> None:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    with enable_x64(True):
        in_thread()
    fresh_config.update("enable_x64", True)
    in_thread()
    assert seen == [False, True]


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("on", True), ("False", False)]
)
def test_environment(text: str, value: bool) -> None:
    assert module.from_environment({"TRACEIR_DISABLE_JIT": text}) == {
        "disable_jit": value
    }
    assert module.from_environment({"TRACEIR_DISABLE_JIT": ""}) == {}
    with pytest.raises(ValueError, match="TRACEIR_ENABLE_X64 must be 1 or 0, got 'si'"):
        module.from_environment({"TRACEIR_ENABLE_X64": "si"})
    with pytest.raises(ValueError, match="must be standard or strict, got '1'"):
        module.from_environment({"TRACEIR_NUMPY_DTYPE_PROMOTION": "1"})
    words = {
        "TRACEIR_NUMPY_RANK_PROMOTION": "Warn",
        "TRACEIR_DEFAULT_MATMUL_PRECISION": "none",
    }
    assert module.from_environment(words) == {
        "numpy_rank_promotion": "warn",
        "default_matmul_precision": None,
    }


def test_environment_is_read_at_import() -> None:
    code = "from traceir.base.config import current; print(current().x64)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TRACEIR_ENABLE_X64": "1"},
        cwd=os.path.dirname(os.path.dirname(__file__)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "True"


@pytest.mark.parametrize("flag", module.FLAGS.values(), ids=lambda flag: flag.name)
def test_every_value_of_a_flag_may_stand_in_the_environment(flag: Any) -> None:
    for value in flag.values:
        found = module.from_environment({flag.variable: str(value)})
        assert found == {flag.field: value}
