"""`traceir.export`: callable, with the names of `jax.export`.

Serves: export.shapes, export.tree
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Never, TypeVar

from traceir import rules
from traceir.base.tracebacks import entry_points
from traceir.exports import exported
from traceir.exports.trees import register_class

Class = TypeVar("Class", bound=type)


@entry_points()
class Export:
    """Trace a function for arguments of these types, as a program that can be kept.

    Arguments are arrays, or `ShapeDtypeStruct` in place of arrays; static ones are
    values, and are no arguments of the program. `Exported.serialize` gives the bytes
    of a file that any process can `deserialize`.

    Raises TypeError (export.whole) for a function that calls the host, such as one
    with `pure_callback`, TypeError (export.tree) for arguments or results in classes
    that are not registered, TypeError (export.shapes) for a dimension that is no
    number, and what tracing raises.

    >>> import traceir, traceir.numpy as jnp
    >>> def line(w, x):
    ...     return w["a"] * x + w["b"]
    >>> w = {"a": jnp.float32(2), "b": jnp.float32(1)}
    >>> program = traceir.export(line, w, traceir.ShapeDtypeStruct((3,), "float32"))
    >>> program
    <Exported line(f32[], f32[], f32[3])>
    >>> print(program.jaxpr)
    { lambda ; a:f32[] b:f32[] c:f32[3]. let
        d:f32[3] = mul a c
        e:f32[3] = add d b
      in (e,) }

    The spelling of `jax.export` is understood as well:

    >>> from traceir import export
    >>> data = export.export(traceir.jit(line))(w, jnp.ones(3)).serialize()
    >>> export.deserialize(data).call(w, jnp.zeros(3))
    Array([1., 1., 1.], dtype=float32)
    """

    Exported = exported.Exported

    def __call__(
        self, fun: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> exported.Exported:
        return exported.trace(fun, args, kwargs)

    def export(
        self,
        fun_jit: Callable[..., Any],
        *,
        platforms: Sequence[str] | None = None,
        disabled_checks: Sequence[object] = (),
    ) -> Callable[..., exported.Exported]:
        """A function that traces `fun_jit` for the arguments that it is then called
        with.

        `platforms` and `disabled_checks` have no effect: a program is for none in
        particular, and contains nothing that only one of them has.

        >>> import traceir
        >>> traceir.export.export(lambda x: x * x)(3.0)(4.0)
        Array(16., dtype=float32, weak_type=True)
        """
        return lambda *args, **kwargs: exported.trace(fun_jit, args, kwargs)

    def deserialize(self, blob: exported.Bytes) -> exported.Exported:
        """As `traceir.deserialize`."""
        return exported.deserialize(blob)

    def register_namedtuple_serialization(
        self, nodetype: Class, *, serialized_name: str
    ) -> Class:
        """Let programs take and return a namedtuple; see `register_class`.

        >>> import traceir
        >>> from collections import namedtuple
        >>> Pair = namedtuple("Pair", "one other")
        >>> _ = traceir.export.register_namedtuple_serialization(
        ...     Pair, serialized_name="example.Pair")
        >>> traceir.export(lambda pair: pair, Pair(1.0, 2.0))(Pair(3.0, 4.0)).other
        Array(4., dtype=float32, weak_type=True)
        """
        register_class(nodetype, serialized_name)
        return nodetype

    def register_pytree_node_serialization(
        self,
        nodetype: Class,
        *,
        serialized_name: str,
        serialize_auxdata: Callable[[Any], bytes],
        deserialize_auxdata: Callable[[bytes], Any],
        from_children: Callable[..., Any] | None = None,
    ) -> Class:
        """Let programs take and return a registered class; see `register_class`.

        Metadata goes through bytes. `from_children` has no effect: a structure is
        made of its class, its metadata and its parts.
        """
        register_class(
            nodetype,
            serialized_name,
            lambda data: serialize_auxdata(data).hex(),
            lambda text: deserialize_auxdata(bytes.fromhex(text)),
        )
        return nodetype

    def symbolic_shape(self, shape: str, **options: object) -> Never:
        """Raises TypeError (export.shapes): shapes are numbers."""
        raise rules.error("export.shapes", got=f"the symbolic shape {shape!r}")

    def symbolic_args_specs(self, args: object, shapes: object, **_: object) -> Never:
        """Raises TypeError (export.shapes): shapes are numbers."""
        raise rules.error("export.shapes", got=f"the symbolic shapes {shapes!r}")


export = Export()
