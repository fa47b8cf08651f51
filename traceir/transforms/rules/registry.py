"""The registries of rules in code, one per transform.

The registries are closed: each holds the primitives whose rows have programs in their
params, and those whose rule no template can write. All rules apply operations with
`traceir.tracing.trace.bind_all`, in the trace that is then in force.

Serves: derive.*

Rules of primitives with programs in their params make a program of a program by
recording its application under the trace of the transform (`cached_transforms`,
`batch_trace`). The result is kept with the program (`ClosedJaxpr.memo`), so a loop's
body is differentiated once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from traceir.base.fast_dataclass import dataclass
from traceir.base.lazy_exports import LazyTable
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Params
from traceir.tracing.trace import Value

if TYPE_CHECKING:
    from traceir.ranks.groups import RankAxis


@dataclass(frozen=True, slots=True)
class Zero:
    """A tangent or cotangent that is zero everywhere, of this type: never computed.

    That of an integer or a boolean is always one, and has the type of its primal.
    """

    aval: ShapedArray


@dataclass(frozen=True, slots=True)
class LinearOperand:
    """An operand whose cotangent is asked for: its type alone is known."""

    aval: ShapedArray


@dataclass(frozen=True, slots=True)
class BatchAxis:
    """The axis that a function is batched over: its name, if it has one, its size.

    Examples of a `checked` one are the devices of a `shard_map` with `check_vma`.
    Where there are others in other processes, `ranks` are these. Functions of parts
    divide examples among the devices along the axes `spmd` of their meshes; within
    one, types tell along `divided` that they differ.
    """

    name: Any
    size: int
    checked: bool = False
    ranks: RankAxis | None = None
    spmd: tuple[Hashable, ...] = ()
    divided: tuple[Hashable, ...] = ()

    @property
    def total(self) -> int:
        """The number of examples in all processes."""
        return self.size * (self.ranks.size if self.ranks else 1)

    def batch(self, aval: ShapedArray, dim: Dim) -> ShapedArray:
        """The type of all examples, by that of one, with the axis at `dim`."""
        own = tuple(a for a in aval.vma if a != self.name) if self.checked else aval.vma
        shape = aval.shape
        if dim is not None:
            shape = (*shape[:dim], self.size, *shape[dim:])
            own = (*own, *self.divided)
        return aval.update(shape=shape, vma=own)

    def example(self, aval: ShapedArray, dim: Dim) -> ShapedArray:
        """The type of one example, by that of all, which have the axis at `dim`."""
        own = (*aval.vma, self.name) if self.checked else aval.vma
        shape = aval.shape
        if dim is not None:
            shape = shape[:dim] + shape[dim + 1 :]
        return aval.update(shape=shape, vma=own)


Tangent = Any  # Value | Zero
Cotangent = Any  # Value | Zero | None
Dim = int | None

Values = Sequence[Value]
Tangents = Sequence[Tangent]
Cotangents = Sequence[Cotangent]
Dims = Sequence[Dim]
Mask = Sequence[bool]

# Primals, tangents, params -> results, tangents of the results. The operands of the
# primitive are `primals`; not all tangents are Zero. Runs in the trace around.
JvpResult = tuple[Values, Tangents]
JvpRule = Callable[[Values, Tangents, Params], JvpResult]
# Residuals, nonzero tangents -> tangents of the results. Called while a tangent trace
# records; must apply only operations that are linear in the tangents.
LinearPart = Callable[[Values, Values], Tangents]
# Primals, which tangents are nonzero, params -> results, which tangents of results are
# nonzero, residuals, the linear part. `linear` is given one tangent for each True and
# returns one for each nonzero result. Runs in the trace around. A primitive without
# such a rule is linearized by its JVP rule: what does not depend on tangents is done
# in the trace around, the rest is recorded.
LinearizeResult = tuple[Values, Mask, Values, LinearPart]
LinearizeRule = Callable[[Values, Mask, Params], LinearizeResult]
# Cotangents of the results, operands (a Linear for each whose cotangent is asked for),
# params -> one cotangent per operand: a value, Zero, or None where none was asked for.
TransposeRule = Callable[[Cotangents, Sequence[Any], Params], Cotangents]
# Axis, operands, the batched dimension of each (None: not batched), params -> results
# and their batched dimensions.
Batched = tuple[Values, Dims]
BatchRule = Callable[[BatchAxis, Values, Dims, Params], Batched]
# Operands, which of them are linear arguments of a function that is recorded to be
# transposed, params -> results, of which those that do not depend on linear operands
# are known; None where there are none.
SplitRule = Callable[[Values, Mask, Params], Values | None]

# The modules that enter rules, which are imported when one is asked for.
_TRANSFORMS = (
    *("autodiff.jvp_trace", "autodiff.coded_rules", "batching.convolution"),
    *("control.call_rules", "control.checkpoint", "control.cond"),
    *("control.partial_eval", "control.scan", "control.scan_reverse"),
    *(
        "control.shard_map",
        "control.while_",
        "custom.callbacks",
        "custom.custom_batching",
    ),
    *("custom.custom_jvp", "custom.custom_vjp"),
)
_FUNCTIONS = (
    *("lax.linalg.factor_derivatives", "lax.reductions.cumulative"),
    *("lax.structural.sorting", "numpy.reductions.cumulative"),
)
MODULES = (
    *(f"traceir.transforms.{module}" for module in _TRANSFORMS),
    *(f"traceir.{module}" for module in _FUNCTIONS),
)

JVP: LazyTable[JvpRule] = LazyTable(*MODULES)
LINEARIZE: LazyTable[LinearizeRule] = LazyTable(*MODULES)
SPLIT: LazyTable[SplitRule] = LazyTable(*MODULES)
TRANSPOSE: LazyTable[TransposeRule] = LazyTable(*MODULES)
BATCH: LazyTable[BatchRule] = LazyTable(*MODULES)
