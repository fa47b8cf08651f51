"""Names for policies of checkpoints, and lists of what is saved.

Serves: name, checkpoint.saved
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from traceir.base.tracebacks import entry_point
from traceir.ir import checkpoint_policies
from traceir.ir.checkpoint_policies import Offloadable, Recompute, Saveable
from traceir.ir.jaxpr import Var
from traceir.jit.cache.signature import bind_arguments, form_of, resolve_static
from traceir.jit.make_jaxpr import make_jaxpr
from traceir.jit.staging import prepare
from traceir.pytrees import flatten
from traceir.tracing.trace import bind
from traceir.transforms.autodiff.cached_transforms import linearize_program
from traceir.transforms.autodiff.jvp_trace import is_inexact

__all__ = [
    "Offloadable",
    "Recompute",
    "Saveable",
    "checkpoint_name",
    "checkpoint_policies",
    "print_saved_residuals",
]

T = TypeVar("T")


@entry_point
def checkpoint_name(x: T, name: str) -> T:
    """`x`, an array or a tree of them, by a name for policies of `checkpoint`.

    Raises ValueError (program.domain) for a name that is no text.

    >>> import traceir, traceir.numpy as jnp
    >>> policy = traceir.checkpoint_policies.save_only_these_names("inner")
    >>> f = lambda x: jnp.sin(checkpoint_name(jnp.sin(x), "inner"))
    >>> print_saved_residuals(traceir.checkpoint(f, policy=policy), 1.0)
    f32[] from the argument x
    f32[] named 'inner' from <...>:1
    """
    named: T = flatten.map_(lambda leaf: bind("name", leaf, name=name), x)
    return named


@entry_point
def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print what reverse mode of `f` saves at these arguments, a line for each value.

    >>> import traceir, traceir.numpy as jnp
    >>> print_saved_residuals(traceir.checkpoint(lambda x: jnp.sin(jnp.sin(x))), 1.0)
    f32[] from the argument x
    """
    print(*saved_residuals(f, *args, **kwargs), sep="\n")


def saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> list[str]:
    """The values that reverse mode of `f` saves, a line for each: its type, and where
    it comes from."""
    form = form_of(f)
    bound = bind_arguments(form, resolve_static(form.signature, (), None), args, kwargs)
    closed = make_jaxpr(f)(*args, **kwargs)
    moved = [is_inexact(a) for a in closed.in_avals]
    program = linearize_program(closed, moved).forward.jaxpr
    paths = prepare(bound, "jax").call.paths
    sources = {v: f"from the argument {path}" for v, path in zip(program.invars, paths)}
    sources.update((v, "from a constant") for v in program.constvars)
    for eqn in program.eqns:
        source = eqn.source
        where = f" from {source.file}:{source.line}" if source else ""
        told = f"output of {eqn.primitive}"
        if eqn.primitive == "name":
            told = f"named {eqn.param('name')!r}"
        sources.update((v, told + where) for v in eqn.outputs)
    residuals = dict.fromkeys(program.outvars[len(closed.out_avals) :])
    # What is saved first is what is given, as it is in a call.
    found = [v for v in sources if v in residuals]
    return [f"{v.aval.str_short()} {sources[v]}" for v in found if isinstance(v, Var)]
