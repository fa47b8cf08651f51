"""Arrays over several processes: each process computes its part.

Takes a function of whole arrays, gives one of this process's parts with collectives
between; the values are those of one process with as many devices. Start reading at
`trace.SpanningTrace`. Serves: sharding.value, process.*

- `ahead`: functions over several processes, or GPUs, that are compiled before a call
- `calls`: operations and jitted functions, called on arrays over several processes
- `crossing`: the question if parts are enough, asked while functions are traced
- `device_mesh`: jitted functions over a backend's devices, each with memory of its own
- `moves`: parts gathered and cut, from one layout to another
- `regions`: loops and choices over parts: their programs become programs of parts
- `rules`: an operation on whole arrays as one on parts, where it can be one
- `trace`: the trace whose values are arrays over several processes
"""
