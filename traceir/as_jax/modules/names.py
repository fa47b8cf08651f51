"""Names of JAX's first level that few programs ask for."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.devices import CpuDevice as Device
from traceir.arrays.devices import check_default, default_backend, device_count
from traceir.base.tracebacks import entry_point
from traceir.base.version import JAX_VERSION, VERSION
from traceir.ir.name_stack import under
from traceir.pytrees import flatten
from traceir.ranks.topology import STATE

__all__ = [
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
]


def named_scope(name: str) -> under:
    """Name a part of a function: a context manager, or a decorator (program.names).

    Equations that are recorded inside have the name on their stacks; nothing that is
    computed depends on it. TypeError for a name that is no text.

    >>> import traceir
    >>> @named_scope("attention")
    ... def f(x):
    ...     return x + 1
    >>> traceir.make_jaxpr(f)(1.0).eqns[0].source_info.name_stack
    NameStack(stack=(StackName(name='attention', is_transform=False),))
    """
    if not isinstance(name, str):
        raise TypeError(f"a scope's name is a text, got {name!r}")
    return under(name)


def named_call(
    fun: Callable[..., Any], *, name: str | None = None
) -> Callable[..., Any]:
    """A function whose calls are in a scope of a name, by default its own.

    >>> import traceir
    >>> traceir.make_jaxpr(named_call(lambda x: x + 1, name="step"))(1.0)
    { lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }
    """
    return named_scope(fun.__name__ if name is None else name)(fun)


def process_index(backend: str | None = None) -> int:
    """The number of this process among those that work together.

    >>> process_index(), process_count(), process_indices()
    (0, 1, [0])
    """
    return STATE.topology.index


def process_count(backend: str | None = None) -> int:
    """The number of processes that work together."""
    return STATE.topology.processes


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of the processes that work together."""
    return list(range(process_count()))


host_id, host_count, host_ids = process_index, process_count, process_indices


def default_device(
    new_val: Device | str | None = None,
) -> AbstractContextManager[object]:
    """A context in which results lie on a device: on the first, as they do anyway.

    Raises RuntimeError (device.platform) for another platform, and ValueError
    (device.known) for another device: `device_put` and shardings place arrays there.

    >>> import traceir
    >>> with traceir.default_device(traceir.devices()[0]):
    ...     traceir.numpy.ones(2).device
    CpuDevice(id=0)
    """
    check_default(new_val)
    return nullcontext()


def copy_to_host_async(x: Any) -> Any:
    """A tree as it is: the memory of its arrays is the host's.

    Arrays of a backend's device, which have a method of this name, begin to be copied.

    >>> copy_to_host_async({"a": 1})
    {'a': 1}
    """
    for leaf in flatten.leaves(x):
        begin = getattr(leaf, "copy_to_host_async", None)
        if begin is not None:
            begin()
    return x


@entry_point
def print_environment_info(return_string: bool = False) -> str | None:
    """Print the versions and the devices that results may depend on.

    With `return_string` return them in place of printing.

    >>> print_environment_info(return_string=True).split()[0]
    'traceir:'
    """
    rows = {
        "traceir": VERSION,
        "jax": f"{JAX_VERSION}, which this library follows",
        "numpy": np.__version__,
        "python": sys.version,
        "devices": f"{default_backend()}, {device_count()} of this process",
        "platform": platform.platform(),
    }
    text = "\n".join(f"{name + ':':9}{value}" for name, value in rows.items())
    if return_string:
        return text
    sys.stdout.write(f"{text}\n")
    return None


GUARDS = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")


@entry_point
def transfer_guard(new_val: str) -> AbstractContextManager[None]:
    """Allow, log or disallow transfers of memory between the host and devices.

    Devices share the host's memory, so there are none, and every guard is kept. Raises
    ValueError (face.choice) for other values than "allow", "log", "disallow",
    "log_explicit" and "disallow_explicit".

    >>> import traceir.numpy as jnp
    >>> with transfer_guard("disallow"):
    ...     jnp.arange(3) + 1
    Array([1, 2, 3], dtype=int32)
    """
    if new_val not in GUARDS:
        hint = ", ".join(map(repr, GUARDS))
        raise rules.error("face.choice", got=repr(new_val), hint=hint)
    return nullcontext()


transfer_guard_host_to_device = transfer_guard_device_to_host = transfer_guard
transfer_guard_device_to_device = transfer_guard
