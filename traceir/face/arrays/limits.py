"""The limit on the length of a plain function's trace. Serves: face.unrolled"""

from __future__ import annotations

from traceir import rules
from traceir.base import cost_model, source_info
from traceir.ir.jaxpr import Jaxpr
from traceir.ir.unroll_report import source_report
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import current_trace


def check_length() -> None:
    """Raise RuntimeError (face.unrolled) once a trace has too many equations."""
    trace = current_trace()
    if (
        isinstance(trace, StagingTrace)
        and len(trace.eqns) > cost_model.UNROLLED_EQUATIONS
    ):
        jaxpr = Jaxpr((), (), tuple(trace.eqns), (), trace.name)
        report = source_report(jaxpr, source_info.capture())
        raise rules.error("face.unrolled", got=str(report.lines[0]))
