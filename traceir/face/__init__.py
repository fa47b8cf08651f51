"""The face that plain NumPy functions see while they are traced. Serves: face.*"""

from traceir.face import binding
from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.bounds import EmittedChecks as EmittedChecks
from traceir.face.arrays.bounds import note_check as note_check
from traceir.face.calls import call as call
from traceir.face.containers import Containers as Containers

TRACER = NumpyTracer
binding.bind_all()

__all__ = ["TRACER", "call"]
