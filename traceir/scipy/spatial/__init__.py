"""Geometry, as `jax.scipy.spatial` has it.

Takes rotations and vectors, gives these. Start reading at `transform.Rotation`.

- `transform`: rotations of space, and between them
"""

from traceir.scipy.spatial import transform as transform
