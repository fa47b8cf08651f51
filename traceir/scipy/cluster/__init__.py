"""Groups of vectors, as `jax.scipy.cluster` has them.

Takes vectors and their groups' middles; gives each one's group. Start reading at
`vq.vq`.

- `vq`: the nearest of several vectors
"""

from traceir.scipy.cluster import vq as vq
