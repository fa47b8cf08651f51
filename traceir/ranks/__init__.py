"""The processes that run one program together, and what they say to one another.

Takes an array and an axis of processes, gives what the others have; below it is MPI,
by mpi4py, which `traceir.distributed` starts. Start reading at `exchanges.gathered`.
Serves: process.*

- `agreement`: the same program on all processes, found before any data moves
- `exchanges`: collectives on the memory of arrays, by MPI
- `groups`: an axis of a mesh as processes: a name that collectives of programs may have
- `topology`: the processes, and the devices that each of them has
- `transport`: communicators, and how long one process waits for another
"""
