"""``make record-names``: the public names of JAX with their parameters, as data.

Run from the root, with JAX. What is here is compared with it by
`test_names.py`, and shown by the page on the coverage of JAX.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from tests.recorded import Record

RECORD = Record("names.json.xz")
EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD
REST = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
# Names that may stand by place, those by name alone, and whether any more are taken.
Parameters = tuple[list[str], list[str], bool, bool]
_DISTRIBUTIONS = """bernoulli beta betabinom binom cauchy chi2
    dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace logistic
    multinomial multivariate_normal nbinom norm pareto poisson t
    truncnorm uniform vonmises wrapcauchy"""
_MODULES = """jax ad_checkpoint core custom_batching custom_derivatives debug
    dtypes errors
    example_libraries.optimizers example_libraries.stax experimental
    experimental.checkify experimental.hijax experimental.jet experimental.layout
    experimental.mesh_utils experimental.multihost_utils experimental.ode
    experimental.pjit experimental.shard_map experimental.sparse
    experimental.sparse.linalg export extend.core extend.linear_util ffi
    extend.random flatten_util image lax lax.linalg nn nn.initializers numpy numpy.fft
    numpy.linalg ops profiler random ref scipy.cluster.vq scipy.fft scipy.integrate
    scipy.interpolate scipy.linalg scipy.ndimage scipy.optimize scipy.signal
    scipy.sparse.linalg scipy.spatial.transform scipy.special scipy.stats sharding
    stages tree tree_util typing"""
MODULES = _MODULES.split()
MODULES += [f"scipy.stats.{name}" for name in _DISTRIBUTIONS.split()]
# Modules with code of their own: what they import is no name of theirs.
CODE = ("example_libraries.", "experimental.", "scipy.", "stages")
# Modules whose helpers have no underscore: what their documentation is about.
TOP = ("jax", "lax", "nn", "numpy", "scipy")
_OF_HOSTS = """assert_equal broadcast_one_to_all global_array_to_host_local_array
    host_local_array_to_global_array live_devices process_allgather
    reached_preemption_sync_point sync_global_devices"""
_OF_CHECKPOINTS = """Offloadable Recompute Saveable checkpoint_name checkpoint_policies
    print_saved_residuals"""
ABOUT = {
    "ad_checkpoint": _OF_CHECKPOINTS.split(),
    "experimental.jet": ["jet"],
    "experimental.ode": ["odeint"],
    "experimental.multihost_utils": _OF_HOSTS.split(),
}


def parameters(function: Any) -> Parameters | None:
    """Those of a function, or of the making of a class; None if it does not tell."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return None
    public = [p for p in found if not p.name.startswith("_") and p.kind not in REST]
    by_place = [
        p.name for p in public if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    by_name = [p.name for p in public if p.kind is inspect.Parameter.KEYWORD_ONLY]
    more = [any(p.kind is kind for p in found) for kind in REST]
    return by_place, by_name, more[0], more[1]


def names(module: str) -> Iterator[tuple[str, Parameters | None]]:
    """The public names of one of JAX's modules, with the parameters of each."""
    found = importlib.import_module("jax" if module == "jax" else f"jax.{module}")
    about = ABOUT.get(module, sorted(dir(found)))
    for name in about:
        value = None if name.startswith("_") else getattr(found, name, None)
        if not (name.startswith("_") or imported(found, module, value)):
            told = callable(value) and not isinstance(value, ModuleType)
            yield name, parameters(value) if told else None


def imported(found: ModuleType, module: str, value: Any) -> bool:
    """True for modules of others, for what is theirs, and for features of Python."""
    if isinstance(value, ModuleType):
        inside = value.__name__.startswith(f"{found.__name__}.")
        return not value.__name__.startswith("jax.") if module in TOP else not inside
    home = str(getattr(value, "__module__", found.__name__))
    if module.startswith("example_libraries.") and home.startswith("jax"):
        return home != found.__name__
    return home == "__future__" or (
        module.startswith(CODE) and not home.startswith("jax")
    )


def methods(kind: type) -> Iterator[tuple[str, Parameters | None]]:
    """The public methods and attributes of a class, less `self`."""
    for name in dir(kind):
        if not name.startswith("_"):
            own = getattr(kind, name)
            told = parameters(own) if callable(own) else None
            yield name, told and ([n for n in told[0] if n != "self"], *told[1:])


def main() -> None:
    """Write the record."""
    warnings.simplefilter("ignore")
    found = {module: dict(names(module)) for module in MODULES}
    array = importlib.import_module("jax.numpy").arange(3)
    found["Array"] = dict(methods(importlib.import_module("jax").Array))
    found["Array.at"] = dict(methods(type(array.at[0])))
    for name in ("Compiled", "Lowered", "Traced"):
        kind = getattr(importlib.import_module("jax.stages"), name)
        found[f"stages.{name}"] = dict(methods(kind))
    rows = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
    RECORD.write_text(f"{{\n{rows}\n}}\n")
    sys.stdout.write(f"{sum(map(len, found.values()))} names\n")


if __name__ == "__main__":
    main()
