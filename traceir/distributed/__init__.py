"""Several processes that run one program, on one machine or on many, by MPI.

Takes a program that `mpirun` starts several times, and gives it the devices of all
processes. Start reading at `starting.initialize`; what processes say to one another is
in `traceir.ranks`, what becomes of arrays in `transforms.spanning`. Serves: process.*

- `starting`: the processes found, their devices counted, and left again

>>> is_initialized()
False
"""

from traceir.base.tracebacks import publish as _publish
from traceir.distributed.starting import initialize, is_initialized, shutdown

__all__ = ["initialize", "is_initialized", "shutdown"]

_publish(globals())
