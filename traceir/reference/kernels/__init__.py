"""One NumPy kernel for each primitive. Serves: the `value` of every primitive's row.

A kernel takes arrays and the params by name and gives an array of exactly the type that
the row says, or a NumPy scalar for one without dimensions. It may give a view of an
operand and may raise floating-point flags: `traceir.reference.interpreter` runs it
quietly and makes results whole. Start reading at `registry.kernel`.

- `elementwise`: kernels that work element by element
- `linalg`: kernels of linear algebra: LAPACK's and matrix products
- `special`: kernels of special functions
- `structural`: kernels that move, combine and order elements
- `collectives`: collectives over axes that are dimensions of the operand, or processes
- `fourier`: the kernel of Fourier transforms, by SciPy
- `gamma_draws`: the kernel that draws numbers of the gamma distribution
- `host_context`: calls of the user's functions, in the caller's context
- `random`: kernels of keys and random bits
- `registry`: the table of kernels, by the name of their primitive
- `threefry`: the kernel that hashes counters to random bits
"""

from traceir.reference.kernels.registry import KERNELS, kernel

__all__ = ["KERNELS", "kernel"]
