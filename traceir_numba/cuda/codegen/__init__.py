"""`@cuda.jit` source of loop nests, and which thread does what.

Takes a `LoopNest` and the `ThreadMapping` chosen for its extents; gives a
`CudaKernelSource`, source text with its arguments. Start reading at `nest.emit`.

- `collisions`: the loops along which no two points of a scatter collide
- `device_functions`: functions that kernels call on a device, as source
- `matmul`: products of stacks of matrices: tiles of the result in registers
- `nest`: loop nests as `@cuda.jit` source
- `points`: kernels whose threads take one point of the nest after another
- `scans`: kernels whose blocks compute prefix scans along lines
- `thread_mapping`: the mapping of a nest's loops to threads, lanes and blocks
- `tiles`: kernels whose blocks reduce: into lanes, then by a fixed tree
- `writer`: the writer that all forms share: names, loops, arguments and lines
"""
