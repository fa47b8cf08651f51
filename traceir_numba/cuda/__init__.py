"""Programs on a CUDA device: `@cuda.jit` kernels of the same loop nests."""
