"""The methods that arrays and tracers have in common. Serves: array.*

The parts that follow from the type are here. The operators and the other methods are
declared for type checkers: their bodies are functions of `traceir.numpy`, which
`traceir.binding.bind_operators` binds, last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

import numpy as np

from traceir import rules
from traceir.base.tracebacks import entry_points

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeVar

    from traceir.ir.avals import ShapedArray

    A = TypeVar("A", covariant=True)

    class UpdateMethod(Protocol[A]):
        """A method of `x.at[index]` that takes the values of an update."""

        def __call__(
            self,
            values: Any,
            *,
            indices_are_sorted: bool = False,
            unique_indices: bool = False,
            mode: Any = None,
            out_sharding: Any = None,
            wrap_negative_indices: bool = True,
        ) -> A: ...

    class Update(Protocol[A]):
        """The value of `x.at[index]`: an `at_updates.IndexUpdate`."""

        @property
        def set(self) -> UpdateMethod[A]: ...
        @property
        def add(self) -> UpdateMethod[A]: ...
        @property
        def subtract(self) -> UpdateMethod[A]: ...
        @property
        def multiply(self) -> UpdateMethod[A]: ...
        @property
        def mul(self) -> UpdateMethod[A]: ...
        @property
        def min(self) -> UpdateMethod[A]: ...
        @property
        def max(self) -> UpdateMethod[A]: ...
        @property
        def divide(self) -> UpdateMethod[A]: ...
        @property
        def power(self) -> UpdateMethod[A]: ...
        def get(
            self,
            *,
            indices_are_sorted: bool = False,
            unique_indices: bool = False,
            mode: Any = None,
            fill_value: Any = None,
            out_sharding: Any = None,
            wrap_negative_indices: bool = True,
        ) -> A: ...
        def apply(
            self,
            func: Callable[[Any], Any],
            *,
            indices_are_sorted: bool = False,
            unique_indices: bool = False,
            mode: Any = None,
            wrap_negative_indices: bool = True,
        ) -> A: ...

    class Updates(Protocol[A]):
        """The attribute `x.at`: an `at_updates.IndexUpdates`."""

        def __getitem__(self, index: Any) -> Update[A]: ...


@entry_points("__len__", "__hash__", "__setitem__")
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
        """True if the dtype yields to another operand's, as a Python number's does."""
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
        rules.default()  # whose rows say whether an array has a hash
        return hash(self) if type(self).__hash__ is not Methods.__hash__ else id(self)

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise rules.error("array.immutable", got=f"x[{index!r}] = {value!r}")

    def tobytes(self, order: Literal["C", "F", "A"] = "C") -> bytes:
        """The elements' bytes, as NumPy's method gives them.

        >>> import traceir.numpy as jnp
        >>> jnp.arange(2, dtype="uint8").tobytes()
        b'\\x00\\x01'
        """
        return np.asarray(self).tobytes(order)

    def on_device_size_in_bytes(self) -> int:
        """Bytes of all elements, of which nothing is padded."""
        return self.nbytes

    def unsafe_buffer_pointer(self) -> int:
        """The address of the first element, good while the array lives."""
        return int(np.asarray(self).ctypes.data)

    def copy_to_host_async(self) -> None:
        """Do nothing: the memory of an array is the host's."""

    def copy(self) -> Self:
        """The array itself: nothing can tell an immutable array from its copy."""
        return self

    if TYPE_CHECKING:

        def __neg__(self) -> Self: ...
        def __pos__(self) -> Self: ...
        def __abs__(self) -> Self: ...
        def __invert__(self) -> Self: ...
        def __round__(self, ndigits: int | None = None) -> Self: ...
        def __add__(self, other: Any) -> Self: ...
        def __radd__(self, other: Any) -> Self: ...
        def __sub__(self, other: Any) -> Self: ...
        def __rsub__(self, other: Any) -> Self: ...
        def __mul__(self, other: Any) -> Self: ...
        def __rmul__(self, other: Any) -> Self: ...
        def __truediv__(self, other: Any) -> Self: ...
        def __rtruediv__(self, other: Any) -> Self: ...
        def __floordiv__(self, other: Any) -> Self: ...
        def __rfloordiv__(self, other: Any) -> Self: ...
        def __mod__(self, other: Any) -> Self: ...
        def __rmod__(self, other: Any) -> Self: ...
        def __divmod__(self, other: Any) -> tuple[Self, Self]: ...
        def __rdivmod__(self, other: Any) -> tuple[Self, Self]: ...
        def __pow__(self, other: Any) -> Self: ...
        def __rpow__(self, other: Any) -> Self: ...
        def __matmul__(self, other: Any) -> Self: ...
        def __rmatmul__(self, other: Any) -> Self: ...
        def __and__(self, other: Any) -> Self: ...
        def __rand__(self, other: Any) -> Self: ...
        def __or__(self, other: Any) -> Self: ...
        def __ror__(self, other: Any) -> Self: ...
        def __xor__(self, other: Any) -> Self: ...
        def __rxor__(self, other: Any) -> Self: ...
        def __lshift__(self, other: Any) -> Self: ...
        def __rlshift__(self, other: Any) -> Self: ...
        def __rshift__(self, other: Any) -> Self: ...
        def __rrshift__(self, other: Any) -> Self: ...
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __lt__(self, other: Any) -> Self: ...
        def __le__(self, other: Any) -> Self: ...
        def __gt__(self, other: Any) -> Self: ...
        def __ge__(self, other: Any) -> Self: ...
        def __getitem__(self, index: Any) -> Self: ...
        def __iter__(self) -> Iterator[Self]: ...
        def __contains__(self, value: Any) -> bool: ...
        def argsort(
            self,
            axis: int | None = -1,
            *,
            stable: bool = True,
            descending: bool = False,
            dtype: Any = None,
        ) -> Self: ...
        def argpartition(self, kth: int, axis: int = -1) -> Self: ...
        def partition(self, kth: int, axis: int = -1) -> Self: ...
        def searchsorted(
            self,
            v: Any,
            side: str = "left",
            sorter: Any = None,
            *,
            method: str = "scan",
        ) -> Self: ...
        def sort(
            self,
            axis: int | None = -1,
            *,
            stable: bool = True,
            descending: bool = False,
        ) -> Self: ...
        def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...
        def to_device(self, device: Any, /, *, stream: None = None) -> Self: ...
        def astype(
            self, dtype: Any, *, copy: bool = False, device: Any = None
        ) -> Self: ...
        def clip(self, min: Any = None, max: Any = None) -> Self: ...
        def cumprod(self, axis: int | None = None, dtype: Any = None) -> Self: ...
        def cumsum(self, axis: int | None = None, dtype: Any = None) -> Self: ...
        def dot(
            self,
            other: Any,
            *,
            precision: Any = None,
            preferred_element_type: Any = None,
        ) -> Self: ...
        def flatten(self, order: str = "C", *, out_sharding: Any = None) -> Self: ...
        def choose(
            self, choices: Any, out: None = None, mode: str = "raise"
        ) -> Self: ...
        def compress(
            self,
            condition: Any,
            axis: int | None = None,
            *,
            out: None = None,
            size: int | None = None,
            fill_value: Any = 0,
        ) -> Self: ...
        def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self: ...
        def nonzero(
            self, *, size: int | None = None, fill_value: Any = None
        ) -> tuple[Self, ...]: ...
        def ptp(
            self, axis: Any = None, out: None = None, keepdims: bool = False
        ) -> Self: ...
        def repeat(
            self,
            repeats: Any,
            axis: int | None = None,
            *,
            total_repeat_length: int | None = None,
            out_sharding: Any = None,
        ) -> Self: ...
        def take(
            self,
            indices: Any,
            axis: int | None = None,
            out: None = None,
            mode: str | None = None,
            unique_indices: bool = False,
            indices_are_sorted: bool = False,
            fill_value: Any = None,
        ) -> Self: ...
        def trace(
            self,
            offset: int = 0,
            axis1: int = 0,
            axis2: int = 1,
            dtype: Any = None,
            out: None = None,
        ) -> Self: ...
        def view(self, dtype: Any = None) -> Self: ...
        def mean(
            self,
            axis: Any = None,
            dtype: Any = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: Any = None,
        ) -> Self: ...
        def ravel(self, order: str = "C", *, out_sharding: Any = None) -> Self: ...
        def reshape(
            self, *shape: Any, order: str = "C", out_sharding: Any = None
        ) -> Self: ...
        def round(self, decimals: int = 0, out: None = None) -> Self: ...
        def squeeze(self, axis: Any = None) -> Self: ...
        def swapaxes(self, axis1: int, axis2: int) -> Self: ...
        def transpose(self, *axes: Any) -> Self: ...
        def all(
            self,
            axis: Any = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: Any = None,
        ) -> Self: ...

        any = all

        def argmax(
            self,
            axis: int | None = None,
            out: None = None,
            keepdims: bool | None = None,
        ) -> Self: ...

        argmin = argmax

        def max(
            self,
            axis: Any = None,
            out: None = None,
            keepdims: bool = False,
            initial: Any = None,
            where: Any = None,
        ) -> Self: ...

        min = max

        def sum(
            self,
            axis: Any = None,
            dtype: Any = None,
            out: None = None,
            keepdims: bool = False,
            initial: Any = None,
            where: Any = None,
            promote_integers: bool = True,
        ) -> Self: ...

        prod = sum

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
        ) -> Self: ...

        var = std

        def conj(self) -> Self: ...

        conjugate = conj

        @property
        def T(self) -> Self: ...
        @property
        def mT(self) -> Self: ...
        @property
        def real(self) -> Self: ...
        @property
        def imag(self) -> Self: ...
        @property
        def at(self) -> Updates[Self]: ...
