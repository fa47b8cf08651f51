"""An exactly specified tracing JIT: `import traceir as jax` and go on.

The specification is data (`traceir.rules`), this package is the reference that the data
drives, and `traceir_numba` turns programs into Numba source and machine code.

A user's function goes in; tracing gives a `ClosedJaxpr`, which a backend compiles and
runs. Start reading at `jit.function.JitFunction`.

- `base`, `pytrees`, `exact`: flags and caches; trees of containers; exact numbers
- `rules`: the specification's engine: tables of named rules, and their formula language
- `ir`, `text`: programs as typed A-normal form (jaxprs); their printer and parser
- `oracle`, `reference`: programs run by the tables alone; by NumPy kernels
- `arrays`, `tracing`, `binding`: arrays; traces and tracers; their operators
- `eager`, `sanitize`: operations outside traces; checks of their results
- `jit`, `transforms`: compiled functions and their cache; derivatives and batches
- `lax`: primitives as functions, named as in `jax.lax`: no promotion, no broadcasting
- `numpy`, `random`, `nn`, `scipy`, `image`, `ops`: public functions, as JAX has them
- `face`: tracing of plain NumPy functions: `np.sin`, `x[i] = y` and `np.random`
- `exports`, `store`: programs in files; files that processes share
- `references`, `ref`: cells for arrays, which functions write; their public names
- `ranks`, `distributed`: processes that work together; how a program finds them
- `conform`, `spec`, `commands`: the suite; the specification as data; commands
- `as_jax`: the stand-in for JAX: `import jax`, and this library answers
- `tree`, `tree_util`, `flatten_util`: trees, by their public names
- `dtypes`, `errors`, `sharding`: dtypes, exceptions, layouts over devices
- `debug`, `experimental`, `test_util`: printing, callbacks, checks of derivatives
"""

from functools import partial as _partial
from typing import TYPE_CHECKING

from traceir.base.caches import uncollected as _uncollected

# All that is imported stays: a collection would visit it and free nothing.
with _uncollected():
    from traceir import (
        dtypes,
        errors,
        lax,
        numpy,
        rules,
        sharding,
    )
    from traceir.arrays.array import Array
    from traceir.arrays.devices import (
        default_backend,
        device_count,
        devices,
        local_device_count,
        local_devices,
    )
    from traceir.base import config, config_scopes, lazy_exports, moved_modules
    from traceir.base.tracebacks import publish as _publish
    from traceir.base.tracebacks import published as _published
    from traceir.base.version import VERSION
    from traceir.binding import bind_operators as bind_operators
    from traceir.ir.avals import ShapedArray
    from traceir.ir.jaxpr import (
        ClosedJaxpr,
        Eqn,
        Jaxpr,
        Literal,
        TextPrinter,
        Var,
        print_by,
    )
    from traceir.ir.typecheck import check
    from traceir.ir.unroll_report import SourceReport, source_report
    from traceir.jit import (
        ShapeDtypeStruct,
        clear_caches,
        eval_shape,
        jit,
        make_jaxpr,
    )
    from traceir.reference.interpreter import eval_jaxpr
    from traceir.sharding import NamedSharding, P, make_mesh, set_mesh
    from traceir.tracing.callbacks import effects_barrier, pure_callback
    from traceir.tracing.eval_trace import ensure_compile_time_eval
    from traceir.tracing.results import typeof
    from traceir.tracing.trace import Tracer
    from traceir.tracing.tracer_leaks import checking_leaks

if TYPE_CHECKING:
    # Scopes are made of the table's rows; those that type checkers know are these.
    from traceir import (
        debug,
        distributed,
        experimental,
        exports,
        flatten_util,
        image,
        nn,
        ops,
        random,
        ref,
        scipy,
        tree,
        tree_util,
    )
    from traceir.base.config import enable_x64 as enable_x64
    from traceir.base.config_scopes import array_api as array_api
    from traceir.base.config_scopes import boundscheck as boundscheck
    from traceir.base.config_scopes import check_tracer_leaks as check_tracer_leaks
    from traceir.base.config_scopes import control_flow as control_flow
    from traceir.base.config_scopes import debug_infs as debug_infs
    from traceir.base.config_scopes import debug_key_reuse as debug_key_reuse
    from traceir.base.config_scopes import debug_nans as debug_nans
    from traceir.base.config_scopes import (
        default_matmul_precision as default_matmul_precision,
    )
    from traceir.base.config_scopes import default_prng_impl as default_prng_impl
    from traceir.base.config_scopes import disable_jit as disable_jit
    from traceir.base.config_scopes import enable_custom_prng as enable_custom_prng
    from traceir.base.config_scopes import explain_cache_misses as explain_cache_misses
    from traceir.base.config_scopes import log_compiles as log_compiles
    from traceir.base.config_scopes import no_tracing as no_tracing
    from traceir.base.config_scopes import (
        numpy_dtype_promotion as numpy_dtype_promotion,
    )
    from traceir.base.config_scopes import numpy_rank_promotion as numpy_rank_promotion
    from traceir.base.config_scopes import progress as progress
    from traceir.base.config_scopes import sanitize as sanitize
    from traceir.base.config_scopes import (
        threefry_partitionable as threefry_partitionable,
    )
    from traceir.base.config_scopes import traceback_filtering as traceback_filtering
    from traceir.base.config_scopes import unrolled_loops as unrolled_loops
    from traceir.binding.device_put import block_until_ready, device_get, device_put
    from traceir.binding.sharded_arrays import (
        make_array_from_callback,
        make_array_from_single_device_arrays,
        reshard,
    )
    from traceir.exports import deserialize, export
    from traceir.ref import Ref, empty_ref, free_ref, freeze, new_ref
    from traceir.text import parse
    from traceir.transforms import (
        checkpoint,
        closure_convert,
        custom_jvp,
        custom_vjp,
        grad,
        hessian,
        jacfwd,
        jacobian,
        jacrev,
        jvp,
        linear_transpose,
        linearize,
        remat,
        value_and_grad,
        vjp,
    )
    from traceir.transforms.batching.pmap import pmap
    from traceir.transforms.batching.shard_map import shard_map, smap
    from traceir.transforms.batching.vmap import vmap

__version__ = VERSION
__all__ = [
    "Array",
    "ClosedJaxpr",
    "Eqn",
    "Jaxpr",
    "Literal",
    "NamedSharding",
    "P",
    "Ref",
    "ShapeDtypeStruct",
    "ShapedArray",
    "SourceReport",
    "Tracer",
    "Var",
    "block_until_ready",
    "check",
    "checking_leaks",
    "checkpoint",
    "clear_caches",
    "closure_convert",
    "config",
    "custom_jvp",
    "custom_vjp",
    "debug",
    "default_backend",
    "deserialize",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "distributed",
    "dtypes",
    "effects_barrier",
    "empty_ref",
    "ensure_compile_time_eval",
    "errors",
    "eval_jaxpr",
    "eval_shape",
    "experimental",
    "export",
    "exports",
    "flatten_util",
    "free_ref",
    "freeze",
    "grad",
    "hessian",
    "image",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "local_device_count",
    "local_devices",
    "make_array_from_callback",
    "make_array_from_single_device_arrays",
    "make_jaxpr",
    "make_mesh",
    "new_ref",
    "nn",
    "numpy",
    "ops",
    "parse",
    "pmap",
    "pure_callback",
    "random",
    "ref",
    "remat",
    "reshard",
    "rules",
    "scipy",
    "set_mesh",
    "shard_map",
    "sharding",
    "smap",
    "source_report",
    "tree",
    "tree_util",
    "typeof",
    "value_and_grad",
    "vjp",
    "vmap",
]
__all__ += config_scopes.__all__
globals().update(config_scopes.SCOPES)

# What is imported when it is first asked for: modules, and functions of modules.
_LATER = {
    **dict.fromkeys(
        (
            "as_jax",
            "debug",
            "distributed",
            "experimental",
            "exports",
            "flatten_util",
            "image",
            "nn",
            "ops",
            "random",
            "ref",
            "scipy",
            "text",
            "tree",
            "tree_util",
        ),
        __name__,
    ),
    **dict.fromkeys(("deserialize", "export"), f"{__name__}.exports"),
    "parse": f"{__name__}.text",
    **dict.fromkeys(
        (
            "make_array_from_callback",
            "make_array_from_process_local_data",
            "make_array_from_single_device_arrays",
            "reshard",
        ),
        f"{__name__}.binding.sharded_arrays",
    ),
    **dict.fromkeys(("shard_map", "smap"), f"{__name__}.transforms.batching.shard_map"),
    **dict.fromkeys(
        (
            "checkpoint",
            "closure_convert",
            "custom_jvp",
            "custom_vjp",
            "grad",
            "hessian",
            "jacfwd",
            "jacobian",
            "jacrev",
            "jvp",
            "linear_transpose",
            "linearize",
            "remat",
            "value_and_grad",
            "vjp",
        ),
        f"{__name__}.transforms",
    ),
    **dict.fromkeys(
        ("block_until_ready", "device_get", "device_put"),
        f"{__name__}.binding.device_put",
    ),
    **dict.fromkeys(
        ("Ref", "empty_ref", "free_ref", "freeze", "new_ref"), f"{__name__}.ref"
    ),
    "pmap": f"{__name__}.transforms.batching.pmap",
    "vmap": f"{__name__}.transforms.batching.vmap",
    **dict.fromkeys(
        (
            "Device",
            "copy_to_host_async",
            "default_device",
            "host_count",
            "host_id",
            "host_ids",
            "named_call",
            "named_scope",
            "print_environment_info",
            "process_count",
            "process_index",
            "process_indices",
            "transfer_guard",
            "transfer_guard_device_to_device",
            "transfer_guard_device_to_host",
            "transfer_guard_host_to_device",
        ),
        f"{__name__}.as_jax.modules.names",
    ),
    **dict.fromkeys(
        (
            "ad_checkpoint",
            "api_util",
            "core",
            "custom_batching",
            "custom_derivatives",
            "dlpack",
            "extend",
            "interpreters",
            "monitoring",
            "profiler",
            "stages",
            "typing",
        ),
        f"{__name__}.as_jax.modules",
    ),
    "Shard": f"{__name__}.arrays.shards",
    "custom_gradient": f"{__name__}.transforms.custom.custom_gradient",
    "checkpoint_policies": f"{__name__}.ir",
    "float0": f"{__name__}.dtypes",
}


def _printer() -> TextPrinter:
    from traceir.text.printer import PRINTER  # not on the way of an import

    return PRINTER


moved_modules.register()
print_by(_printer)


def __getattr__(name: str) -> object:
    if name in _LATER:
        shown = _partial(_published, __name__, name)
        return lazy_exports.load(globals(), _LATER[name], name, shown)
    from traceir.lax.checks.attribute_hints import missing

    raise missing(name, __all__, __name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


for _package in (globals(), vars(config), vars(lax)):
    _publish(_package)
