"""Arrays over several processes: each process computes its part.

Takes a function of whole arrays, gives one of this process's parts with collectives
between; the values are those of one process with as many devices. Start reading at
`trace.SpanningTrace`. Serves: sharding.value, process.*

- `ahead`: functions over several processes that are compiled before they are called
- `calls`: operations and jitted functions, called on arrays over several processes
- `moves`: parts gathered and cut, from one layout to another
- `regions`: loops and choices over parts: their programs become programs of parts
- `rules`: an operation on whole arrays as one on parts, where it can be one
- `trace`: the trace whose values are arrays over several processes
"""
