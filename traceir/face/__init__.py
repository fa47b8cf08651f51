"""Tracing of plain NumPy functions: `np.sin`, `x[i] = y` and `np.random`.

Serves: face.*

Takes a function written for NumPy; its NumPy calls and its writes to arrays become
equations, and its effects on arguments are written back. Start reading at `calls.call`.

- `arrays`: the traced array that can be written to, its views and its memory
- `checks`: the checks that a plain function may fail by when its program runs
- `control_flow`: loops and choices of a plain function, as they are written in Python
- `functions`: NumPy's functions on traced arrays, by their own names
- `python`: Python's own numbers and functions in a plain function that is traced
- `slices`: slices whose bounds are values: `a[lo:hi]` with traced `lo` and `hi`
- `binding`: NumPy's protocols, operators and methods, bound to traced arrays
- `callers`: a test of who calls: the user, or these packages and NumPy
- `calls`: the call of a plain function while it is traced
- `classes`: the classes of traced arrays, as a plain function sees them
- `containers`: lists, dicts and objects among arguments, and changes to them
- `draws`: numbers drawn from NumPy's generators, one or an array, also by machine code
- `dynamic_results`: results whose extents values decide: cut when the program has run
- `external`: generators, clocks and files, as a traced function sees them
- `generator_arguments`: random generators among the arguments of a call
- `host_calls`: random generators of NumPy and Python, drawn from at run time
- `namespace`: the namespaces of NumPy that a traced function sees
- `records`: structured arrays among arguments: an array of its own for each field
- `object_arguments`: objects of a user's classes among the arguments of a call
- `objects`: objects of a user's classes as a traced function sees them
"""

from traceir.face import binding
from traceir.face.arrays.array import NumpyTracer
from traceir.face.calls import call as call
from traceir.face.calls import inlined as inlined
from traceir.face.calls import is_inlined as is_inlined
from traceir.face.calls import staged as staged
from traceir.face.checks.status import CheckedProgram as CheckedProgram
from traceir.face.checks.status import called as called
from traceir.face.containers import Containers as Containers
from traceir.face.containers import held_arguments as held_arguments

TRACER = NumpyTracer
binding.bind_all()

__all__ = ["TRACER", "call"]
