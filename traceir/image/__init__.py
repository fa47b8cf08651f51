"""Images of other sizes, as `jax.image` has them: `traceir.image.resize`.

Takes arrays and shapes, gives arrays. Start reading at `resizing.resize`.

- `methods`: interpolation kernels, by the names of methods
- `resizing`: images resized, scaled and moved

>>> import traceir, traceir.numpy as jnp
>>> traceir.image.resize(jnp.array([0.0, 1.0]), (4,), "linear")
Array([0.  , 0.25, 0.75, 1.  ], dtype=float32)
"""

from traceir.eager import dispatch as _direct
from traceir.image.methods import ResizeMethod
from traceir.image.resizing import resize, scale_and_translate

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]

for _name in __all__:
    globals()[_name] = _direct.public(globals()[_name])
