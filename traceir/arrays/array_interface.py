"""What arrays and tracers have in common. Serves: array.*

What follows from the type is here. The operators and the other methods are declared for
type checkers: their bodies are functions of `traceir.numpy`, which
`traceir.binding.bind_operators` binds, last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn, Self

from traceir import rules

if TYPE_CHECKING:
    import numpy as np

    from traceir.arrays.array import Array
    from traceir.ir.avals import ShapedArray
    from traceir.numpy.indexing.at_updates import IndexUpdates


class Methods:
    """The operators, methods and properties that `Array` and tracers share."""

    __slots__ = ()
    aval: ShapedArray

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents: plain Python data, known while tracing."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype of the elements."""
        return self.aval.dtype

    @property
    def weak_type(self) -> bool:
        """Whether the dtype yields to another operand's, as a Python number's does."""
        return self.aval.weak_type

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.aval.size * self.aval.dtype.itemsize

    def __len__(self) -> int:
        if not self.aval.shape:
            raise rules.error("array.length", got=self.aval.str_short())
        return self.aval.shape[0]

    def __hash__(self) -> int:
        raise rules.error("level.hash", got=self.aval.str_short())

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise rules.error("array.immutable", got=f"x[{index!r}] = {value!r}")

    def copy(self) -> Self:
        """The array itself: nothing can tell an immutable array from its copy."""
        return self

    if TYPE_CHECKING:

        def __neg__(self) -> Array: ...
        def __pos__(self) -> Array: ...
        def __abs__(self) -> Array: ...
        def __invert__(self) -> Array: ...
        def __round__(self, ndigits: int | None = None) -> Array: ...
        def __add__(self, other: Any) -> Array: ...
        def __radd__(self, other: Any) -> Array: ...
        def __sub__(self, other: Any) -> Array: ...
        def __rsub__(self, other: Any) -> Array: ...
        def __mul__(self, other: Any) -> Array: ...
        def __rmul__(self, other: Any) -> Array: ...
        def __truediv__(self, other: Any) -> Array: ...
        def __rtruediv__(self, other: Any) -> Array: ...
        def __floordiv__(self, other: Any) -> Array: ...
        def __rfloordiv__(self, other: Any) -> Array: ...
        def __mod__(self, other: Any) -> Array: ...
        def __rmod__(self, other: Any) -> Array: ...
        def __divmod__(self, other: Any) -> tuple[Array, Array]: ...
        def __rdivmod__(self, other: Any) -> tuple[Array, Array]: ...
        def __pow__(self, other: Any) -> Array: ...
        def __rpow__(self, other: Any) -> Array: ...
        def __matmul__(self, other: Any) -> Array: ...
        def __rmatmul__(self, other: Any) -> Array: ...
        def __and__(self, other: Any) -> Array: ...
        def __rand__(self, other: Any) -> Array: ...
        def __or__(self, other: Any) -> Array: ...
        def __ror__(self, other: Any) -> Array: ...
        def __xor__(self, other: Any) -> Array: ...
        def __rxor__(self, other: Any) -> Array: ...
        def __lshift__(self, other: Any) -> Array: ...
        def __rlshift__(self, other: Any) -> Array: ...
        def __rshift__(self, other: Any) -> Array: ...
        def __rrshift__(self, other: Any) -> Array: ...
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __lt__(self, other: Any) -> Array: ...
        def __le__(self, other: Any) -> Array: ...
        def __gt__(self, other: Any) -> Array: ...
        def __ge__(self, other: Any) -> Array: ...
        def __getitem__(self, index: Any) -> Array: ...
        def __iter__(self) -> Iterator[Array]: ...
        def __contains__(self, value: Any) -> bool: ...
        def all(
            self,
            axis: Any = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: Any = None,
        ) -> Array: ...
        def any(
            self,
            axis: Any = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: Any = None,
        ) -> Array: ...
        def argmax(
            self,
            axis: int | None = None,
            out: None = None,
            keepdims: bool | None = None,
        ) -> Array: ...
        def argmin(
            self,
            axis: int | None = None,
            out: None = None,
            keepdims: bool | None = None,
        ) -> Array: ...
        def argsort(
            self,
            axis: int | None = -1,
            *,
            stable: bool = True,
            descending: bool = False,
            dtype: Any = None,
        ) -> Array: ...
        def argpartition(self, kth: int, axis: int = -1) -> Array: ...
        def partition(self, kth: int, axis: int = -1) -> Array: ...
        def searchsorted(
            self,
            v: Any,
            side: str = "left",
            sorter: Any = None,
            *,
            method: str = "scan",
        ) -> Array: ...
        def sort(
            self,
            axis: int | None = -1,
            *,
            stable: bool = True,
            descending: bool = False,
        ) -> Array: ...
        def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...
        def to_device(self, device: Any, /, *, stream: None = None) -> Array: ...
        def astype(
            self, dtype: Any, *, copy: bool = False, device: Any = None
        ) -> Array: ...
        def clip(self, min: Any = None, max: Any = None) -> Array: ...
        def conj(self) -> Array: ...
        def conjugate(self) -> Array: ...
        def cumprod(self, axis: int | None = None, dtype: Any = None) -> Array: ...
        def cumsum(self, axis: int | None = None, dtype: Any = None) -> Array: ...
        def dot(
            self,
            other: Any,
            *,
            precision: Any = None,
            preferred_element_type: Any = None,
        ) -> Array: ...
        def flatten(self, order: str = "C") -> Array: ...
        def choose(
            self, choices: Any, out: None = None, mode: str = "raise"
        ) -> Array: ...
        def compress(
            self,
            condition: Any,
            axis: int | None = None,
            *,
            out: None = None,
            size: int | None = None,
            fill_value: Any = 0,
        ) -> Array: ...
        def diagonal(
            self, offset: int = 0, axis1: int = 0, axis2: int = 1
        ) -> Array: ...
        def nonzero(
            self, *, size: int | None = None, fill_value: Any = None
        ) -> tuple[Array, ...]: ...
        def ptp(
            self, axis: Any = None, out: None = None, keepdims: bool = False
        ) -> Array: ...
        def repeat(
            self,
            repeats: Any,
            axis: int | None = None,
            *,
            total_repeat_length: int | None = None,
        ) -> Array: ...
        def take(
            self,
            indices: Any,
            axis: int | None = None,
            out: None = None,
            mode: str | None = None,
            unique_indices: bool = False,
            indices_are_sorted: bool = False,
            fill_value: Any = None,
        ) -> Array: ...
        def trace(
            self,
            offset: int = 0,
            axis1: int = 0,
            axis2: int = 1,
            dtype: Any = None,
            out: None = None,
        ) -> Array: ...
        def view(self, dtype: Any = None) -> Array: ...
        def max(
            self,
            axis: Any = None,
            out: None = None,
            keepdims: bool = False,
            initial: Any = None,
            where: Any = None,
        ) -> Array: ...
        def mean(
            self,
            axis: Any = None,
            dtype: Any = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: Any = None,
        ) -> Array: ...
        def min(
            self,
            axis: Any = None,
            out: None = None,
            keepdims: bool = False,
            initial: Any = None,
            where: Any = None,
        ) -> Array: ...
        def prod(
            self,
            axis: Any = None,
            dtype: Any = None,
            out: None = None,
            keepdims: bool = False,
            initial: Any = None,
            where: Any = None,
            promote_integers: bool = True,
        ) -> Array: ...
        def ravel(self, order: str = "C") -> Array: ...
        def reshape(self, *shape: Any, order: str = "C") -> Array: ...
        def round(self, decimals: int = 0, out: None = None) -> Array: ...
        def squeeze(self, axis: Any = None) -> Array: ...
        def std(
            self,
            axis: Any = None,
            dtype: Any = None,
            out: None = None,
            ddof: float = 0,
            keepdims: bool = False,
            *,
            where: Any = None,
            mean: Any = None,
            correction: float | None = None,
        ) -> Array: ...
        def sum(
            self,
            axis: Any = None,
            dtype: Any = None,
            out: None = None,
            keepdims: bool = False,
            initial: Any = None,
            where: Any = None,
            promote_integers: bool = True,
        ) -> Array: ...
        def swapaxes(self, axis1: int, axis2: int) -> Array: ...
        def transpose(self, *axes: Any) -> Array: ...
        def var(
            self,
            axis: Any = None,
            dtype: Any = None,
            out: None = None,
            ddof: float = 0,
            keepdims: bool = False,
            *,
            where: Any = None,
            mean: Any = None,
            correction: float | None = None,
        ) -> Array: ...
        @property
        def T(self) -> Array: ...
        @property
        def mT(self) -> Array: ...
        @property
        def real(self) -> Array: ...
        @property
        def imag(self) -> Array: ...
        @property
        def at(self) -> IndexUpdates: ...
