"""The limit on the length of a plain function's trace. Serves: face.unrolled"""

from __future__ import annotations

from traceir import rules
from traceir.ir.jaxpr import Jaxpr
from traceir.ir.unroll_report import source_report
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import current_trace

# A loop over elements records its body once for each of them. Compiling so many
# equations takes minutes, so the function should say its loop in another way.
MOST = 20_000


def check_length() -> None:
    """Raise RuntimeError (face.unrolled) once a trace has too many equations."""
    trace = current_trace()
    if isinstance(trace, StagingTrace) and len(trace.eqns) > MOST:
        report = source_report(Jaxpr((), (), tuple(trace.eqns), (), trace.name))
        raise rules.error("face.unrolled", got=str(report.lines[0]))
