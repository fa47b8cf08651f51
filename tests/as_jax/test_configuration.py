"""JAX's flags and variables, as programs written for it set them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import traceir
from traceir.base import config, flags
from traceir.store import files

ROOT = Path(traceir.__file__).parents[1]
PLAIN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("JAX_", "XLA_", "TRACEIR_"))
}


def run(program: str, folder: Path, *options: str, **variables: str) -> str:
    """The output of a program that `traceir run` runs."""
    file = folder / "program.py"
    file.write_text(program)
    call = [sys.executable, "-m", "traceir", "run", "--quiet", *options, str(file)]
    done = subprocess.run(
        call,
        env={**PLAIN, **variables, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No flag that changes nothing has been set, and none is afterwards."""
    monkeypatch.setattr(flags, "KEPT", {})
    monkeypatch.setattr(files, "_current", [*files._current])
    yield


def test_flags_that_change_nothing_are_kept(nothing_kept: None) -> None:
    update, read = traceir.config.update, traceir.config.read
    assert read("jax_platform_name") == "" and read("jax_compilation_cache_dir") is None
    for name, value in [
        ("jax_platform_name", "cpu"),
        ("jax_platforms", "cuda,cpu"),
        ("jax_compilation_cache_dir", "/tmp/cache"),
        ("jax_persistent_cache_min_compile_time_secs", 0),
        ("jax_persistent_cache_min_entry_size_bytes", -1),
        ("jax_default_device", traceir.devices()[0]),
        ("jax_transfer_guard", "allow"),
        ("jax_enable_checks", True),
        ("jax_exec_time_optimization_effort", -1.0),
    ]:
        update(name, value)
        assert read(name) == getattr(traceir.config, name) == value
        assert traceir.config.values[name] == value
    traceir.config.parse_flags_with_absl()


def test_the_directory_of_compiled_functions_is_a_flag(
    nothing_kept: None, tmp_path: Path
) -> None:
    before = files.current()
    config.update("jax_compilation_cache_dir", str(tmp_path / "kept"))
    traceir.jit(lambda x: x * 13.5 - 6.25, backend="numba")(1.0)
    assert any(path.suffix == ".code" for path in (tmp_path / "kept").iterdir())
    config.update("jax_compilation_cache_dir", None)
    after = files.current()
    assert (before and before.place) == (after and after.place)


def test_the_directory_is_read_when_the_store_is_first_used(
    nothing_kept: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(flags.KEPT, "compilation_cache_dir", str(tmp_path))
    files._current.clear()
    store = files.current()
    assert store is not None
    assert store.place.directory == str(tmp_path)


def test_every_default_may_be_set(nothing_kept: None) -> None:
    for name, default in (flags.NO_EFFECT | flags.ONE_VALUE).items():
        config.update(f"jax_{name}", default)
        assert getattr(config, f"jax_{name}") == default


def test_flags_of_another_machine_or_of_other_results_are_refused(
    nothing_kept: None,
) -> None:
    update = config.update
    for name in ("jax_platform_name", "jax_platforms", "jax_default_device"):
        with pytest.raises(RuntimeError, match="the only platform is"):
            update(name, "gpu")
    with pytest.raises(ValueError, match="random_seed_offset is 0 here, got 3"):
        update("jax_random_seed_offset", 3)
    with pytest.raises(ValueError, match="is None or a str, got 3"):
        update("jax_compilation_cache_dir", 3)
    with pytest.raises(ValueError, match="is None or a float, got 'a'"):
        update("jax_persistent_cache_min_compile_time_secs", "a")
    assert not flags.KEPT


def test_no_flag_of_ours_is_among_them() -> None:
    ours = {*flags.FLAGS, "num_cpu_devices", "trace_cache_size"}
    assert not ours & (flags.NO_EFFECT.keys() | flags.ONE_VALUE.keys())
    assert not flags.NO_EFFECT.keys() & flags.ONE_VALUE.keys()


def test_truth_is_a_number_too(fresh_config: ModuleType) -> None:
    fresh_config.update("jax_enable_x64", 1)
    assert fresh_config.jax_enable_x64 is True
    fresh_config.update("jax_enable_x64", 0)
    assert fresh_config.jax_enable_x64 is False


@pytest.mark.parametrize("text", ["True", "true", "1", "on"])
def test_truth_is_a_text_too(text: str, fresh_config: ModuleType) -> None:
    fresh_config.update("jax_enable_x64", text)
    assert fresh_config.jax_enable_x64 is True
    fresh_config.update("jax_enable_x64", "False")
    assert fresh_config.jax_enable_x64 is False
    with fresh_config.scope("debug_nans", text):
        assert fresh_config.jax_debug_nans is True
    with pytest.raises(TypeError, match="is a bool, got 'maybe'"):
        fresh_config.update("jax_enable_x64", "maybe")


def test_texts_of_truths_that_are_kept(nothing_kept: None) -> None:
    config.update("jax_enable_checks", "false")
    assert config.read("jax_enable_checks") is False
    config.update("jax_enable_checks", "true")
    assert config.read("jax_enable_checks") is True


def test_filtering_of_tracebacks_has_jaxs_names(fresh_config: ModuleType) -> None:
    for value in ("auto", "quiet_remove_frames"):
        fresh_config.update("jax_traceback_filtering", value)
        assert fresh_config.jax_traceback_filtering == "remove_frames"


def test_jaxs_variables_count_where_ours_are_not_set() -> None:
    read = config.from_environment
    assert read({"JAX_ENABLE_X64": "True", "JAX_TRACEBACK_FILTERING": "auto"}) == {
        "x64": True,
        "traceback_filtering": "remove_frames",
    }
    assert read({"JAX_ENABLE_X64": "1", "TRACEIR_ENABLE_X64": "0"}) == {"x64": False}
    with pytest.raises(ValueError, match="JAX_ENABLE_X64 must be 1 or 0, got 'si'"):
        read({"JAX_ENABLE_X64": "si"})


SETS_VARIABLES = """
import os
os.environ["JAX_ENABLE_X64"] = "True"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_NUM_CPU_DEVICES"] = "3"
import jax
import jax.numpy as jnp
print(jnp.arange(3.0).dtype, jax.config.x64_enabled, jax.device_count())
"""


def test_a_program_sets_variables_before_it_imports_jax(tmp_path: Path) -> None:
    assert run(SETS_VARIABLES, tmp_path) == "float64 True 3\n"


PRINTS = """
import jax, os
print(jax.config.jax_enable_x64, jax.numpy.ones(1).dtype)
"""


def test_variables_of_the_shell_and_options(tmp_path: Path) -> None:
    assert run(PRINTS, tmp_path, JAX_ENABLE_X64="1") == "True float64\n"
    assert run(PRINTS, tmp_path, "--set", "enable_x64=True") == "True float64\n"
    both = run(PRINTS, tmp_path, JAX_ENABLE_X64="1", TRACEIR_ENABLE_X64="0")
    assert both == "False float32\n"


def test_the_environment_is_read_again_only_where_it_changed(
    fresh_config: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "_of_environment", {})
    monkeypatch.setenv("JAX_ENABLE_X64", "1")
    config.read_environment()
    assert fresh_config.jax_enable_x64
    fresh_config.update("enable_x64", False)
    config.read_environment()
    assert not fresh_config.jax_enable_x64
