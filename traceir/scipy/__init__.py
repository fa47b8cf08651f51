"""Functions that SciPy has, on traceable arrays: `import traceir.scipy.linalg`.

>>> import traceir.numpy as jnp, traceir.scipy.linalg
>>> traceir.scipy.linalg.det(jnp.array([[1, 2], [3, 4]]))
Array(-2., dtype=float32)
"""

from traceir.scipy import linalg

__all__ = ["linalg"]
