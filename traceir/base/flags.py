"""The flags: one for each row `flag` of the table of the cache.

A row of `spec/rules/cache.toml` is all that a flag needs: `Context` has a field for it,
`config` sets it, the environment too, and there is a scope that does. The table
is read here when the package is imported, by the few lines that its rows take.

>>> FLAGS["numpy_rank_promotion"].default
'allow'
"""

from __future__ import annotations

import os
from ast import literal_eval
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from traceir.base.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pathlib import Path

Value: TypeAlias = bool | str | None
_WORDS: Mapping[str, Value] = {"False": False, "True": True, "None": None}


@dataclass(frozen=True, slots=True)
class ConfigFlag:
    """A flag: its row, and the name of its field of `Context`."""

    name: str
    values: tuple[Value, ...]
    says: str
    key: str
    field: str

    @property
    def default(self) -> Value:
        """The value of a flag that nobody set."""
        return self.values[0]

    @property
    def is_bool(self) -> bool:
        """True if it is on or off."""
        return isinstance(self.default, bool)

    @property
    def variable(self) -> str:
        """Its variable in the environment."""
        return f"TRACEIR_{self.name.upper()}"

    @property
    def doc(self) -> str:
        """The docstring of its scope: the row, and an example."""
        values = " or ".join(f"``{value!r}``" for value in self.values)
        value = self.values[-1]
        about = f" It is part of the cache key ({self.key})." if self.key else ""
        return (
            f"Within ``with``: the flag `{self.name}` in this thread.\n\n"
            f"{self.says}\n\nIts value is {values}; the first is the default, which "
            f"the variable ``{self.variable}`` changes.{about}\n\n"
            f">>> import traceir\n>>> with traceir.{self.name}({value!r}):\n"
            f"...     print(traceir.config.jax_{self.name})\n{value}\n"
        )


def spec_folder() -> str:
    """The specification's folder: beside the modules, or that of the checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    installed = os.path.join(package, "spec", "tables")
    if os.path.isdir(installed):
        return installed
    return os.path.join(os.path.dirname(package), "spec")


def spec_path() -> Path:
    """The specification's folder: beside the modules, or that of the checkout.

    >>> (spec_path() / "rules").is_dir()
    True
    """
    from pathlib import Path  # not on the way of an import

    return Path(spec_folder())


def read_flags(text: str) -> dict[str, ConfigFlag]:
    """The flags of the table of the cache, by name.

    Of TOML it reads no more than rows `[[flag]]` whose lines are texts and lists of
    texts, which Python writes alike; the loader of the tables reads the whole.

    >>> text = '[[flag]]\\nname = "fast"\\nvalues = ["False", "True"]\\nsays = "Go."'
    >>> read_flags(text)["fast"].values
    (False, True)
    """
    rows: list[dict[str, Any]] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("["):
            if inside := line.strip() == "[[flag]]":
                rows.append({})
        elif inside and " = " in line and not line.startswith("#"):
            key, _, value = line.partition(" = ")
            rows[-1][key] = literal_eval(value)
    return {row["name"]: _flag(row) for row in rows}


def _flag(row: Mapping[str, Any]) -> ConfigFlag:
    values = tuple(_WORDS.get(text, text) for text in row["values"])
    return ConfigFlag(
        row["name"],
        values,
        row["says"],
        row.get("key", ""),
        row.get("field", row["name"]),
    )


def _table() -> str:
    path = os.path.join(spec_folder(), "rules", "cache.toml")
    with open(path, encoding="utf-8") as opened:
        return opened.read()


# Names are JAX's, less its prefix.
FLAGS: Mapping[str, ConfigFlag] = read_flags(_table())


# Flags of JAX's that say how XLA compiles, where it keeps what it has compiled, what is
# logged and what devices wait for: their names, less the prefix, by their default.
_BY_DEFAULT: Mapping[object, str] = {
    None: """
        default_device platforms compilation_cache_dir pjrt_client_create_options
        transfer_guard transfer_guard_host_to_device transfer_guard_device_to_device
        transfer_guard_device_to_host array_garbage_collection_guard source_url_schema
        hlo_source_file_canonicalization_regex
    """,
    False: """
        compilation_cache_check_contents compilation_cache_expect_pgle enable_pgle
        compilation_cache_include_metadata_in_key raise_persistent_cache_errors
        enable_checks enable_recoverability disable_most_optimizations thread_guard
        distributed_debug disable_bwd_checks softmax_custom_jvp log_checkpoint_residuals
        custom_vjp3 remat3 scan3 share_binary_between_hosts pallas_verbose_errors
        pallas_enable_debug_checks bcoo_cusparse_lowering mosaic_allow_hlo
        export_ignore_forward_compatibility threefry_gpu_kernel_lowering
        experimental_unsafe_xla_runtime_errors use_simplified_jaxpr_constants
        debug_leaked_clients_on_clear_backends disable_vmap_shmap_error
    """,
    True: """
        enable_compilation_cache cpu_enable_async_dispatch auto_pcast pprint_use_color
        allow_f16_reductions compiler_enable_remat_pass use_direct_linearize
        include_debug_info_in_dumps include_full_tracebacks_in_locations
        use_shardy_partitioner mutable_array_checks enable_preemption_service
        sort_devices_by_process_index check_proxy_envs pallas_use_mosaic_gpu
    """,
    "": """
        platform_name xla_backend backend_target debug_log_modules dump_ir_to
        mock_gpu_topology cross_host_transfer_socket_address
        cross_host_transport_addresses
    """,
    "all": "cuda_visible_devices rocm_visible_devices oneapi_visible_devices",
}
NO_EFFECT: Mapping[str, object] = {
    **{name: value for value, names in _BY_DEFAULT.items() for name in names.split()},
    "logging_level": "NOTSET",
    "optimization_level": "UNKNOWN",
    "memory_fitting_level": "O2",
    "memory_fitting_effort": 0.0,
    "exec_time_optimization_effort": 0.0,
    "dump_ir_modes": "stablehlo",
    "use_magma": "auto",
    "legacy_prng_key": "allow",
    "send_traceback_to_runtime": "off",
    "cpu_collectives_implementation": "gloo",
    "persistent_cache_enable_xla_caches": "xla_gpu_per_fusion_autotune_cache_dir",
    "persistent_cache_min_compile_time_secs": 1.0,
    "persistent_cache_min_entry_size_bytes": 0,
    "compilation_cache_max_size": -1,
    "compiler_detailed_logging_min_ops": 10,
    "captured_constants_report_frames": 0,
    "captured_constants_warn_bytes": 2_000_000_000,
    "embedded_constants_max_bytes": 32,
    "pgle_aggregation_percentile": 90,
    "pgle_profiling_runs": 3,
    "traceback_in_locations_limit": 100,
    "tracer_error_num_traceback_frames": 5,
    "xla_profile_version": 0,
}
# Flags that would change results, and that have one value here.
ONE_VALUE: Mapping[str, object] = {
    "random_seed_offset": 0,
    "high_dynamic_range_gumbel": False,
    "explicit_x64_dtypes": "warn",
    "check_static_indices": False,
    "no_execution": False,
    "error_checking_behavior_divide": "ignore",
    "error_checking_behavior_nan": "ignore",
    "error_checking_behavior_oob": "ignore",
}
# Values of those that somebody has set.
KEPT: dict[str, object] = {}
# What looks at such a value, by the name of its flag, and raises.
CHECKS: dict[str, Callable[[Any], object]] = {}


def is_kept(name: str) -> bool:
    """True for a flag of JAX's that changes nothing here.

    >>> is_kept("platform_name"), is_kept("enable_x64")
    (True, False)
    """
    return name in NO_EFFECT or name in ONE_VALUE


def keep(name: str, value: Any) -> None:
    """Note the value of a flag that changes nothing; `kept` gives it.

    ValueError if it is of another type than the flag's, or would change results.
    """
    if name in ONE_VALUE:
        if value != ONE_VALUE[name]:
            known = f"the flag {name} is {ONE_VALUE[name]!r} here"
            raise ValueError(f"{known}, got {value!r}: no other value is implemented")
        return
    if name in CHECKS:
        CHECKS[name](value)
    else:
        value = _of_type(name, value, NO_EFFECT[name])
    KEPT[name] = value


_TRUTHS: Mapping[object, bool] = {
    **dict.fromkeys(("1", "true", "yes", "on", "y", "t"), True),
    **dict.fromkeys(("0", "false", "no", "off", "n", "f"), False),
}


def meant_bool(value: Any) -> Any:
    """The truth that a text says, as in the environment; what is none as it is.

    >>> meant_bool("True"), meant_bool("off"), meant_bool(1), meant_bool("maybe")
    (True, False, 1, 'maybe')
    """
    text = value.strip().lower() if isinstance(value, str) else None
    return _TRUTHS.get(text, value)


def _of_type(name: str, value: Any, default: object) -> object:
    """The value, for a flag with this default; ValueError if JAX does not take it."""
    if isinstance(default, bool):
        return bool(meant_bool(value))
    kind = type(default) if isinstance(default, int | float) else str
    known = int | float if kind is float else kind
    if value is None or isinstance(value, known):
        return value
    raise ValueError(f"the flag {name} is None or a {kind.__name__}, got {value!r}")


def kept(name: str) -> object:
    """The value of a flag that changes nothing.

    >>> kept("persistent_cache_min_compile_time_secs")
    1.0
    """
    return KEPT.get(name, NO_EFFECT.get(name, ONE_VALUE.get(name)))
