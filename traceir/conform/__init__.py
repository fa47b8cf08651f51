"""The conformance suite: cases, the runner that judges, adapters. Serves: all tables

Takes case files (`spec/cases/*.tir`) and an `Implementation`; gives a `Verdict` for
each case. Start reading at `judging.run.judge`; `__main__` is the command.

- `casefiles`: case files: their syntax, and cases as data
- `drawing`: Hypothesis strategies for programs, types, arrays and transforms
- `jax`: JAX as an implementation under test
- `judging`: verdicts: an implementation's answers compared with cases
- `processes`: child processes in which implementations are judged
- `protocol`: the protocol: implementations in any language, asked by lines of JSON
- `reporting`: reports of runs: text, HTML, JSON and the status page
- `systems`: systems that run sessions of calls: by tables, `traceir` and others

>>> from traceir.conform import read_cases
>>> text = '''
... case add/two
...   given { lambda ; a:f32[]. let b:f32[] = add a a in (b,) }
...   call  f32[]{2}
...   value f32[]{4}
... '''
>>> [case.name for case in read_cases(text)]
['add/two']
"""

from traceir.conform.casefiles.cases import Case, load_cases, read_cases
from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Call, Function, Probe, Session, Setting
from traceir.conform.casefiles.values import TypedValue
from traceir.conform.judging.run import (
    Implementation,
    Rejected,
    Unsupported,
    Verdict,
    judge,
)

__all__ = [
    "Call",
    "Case",
    "Function",
    "Implementation",
    "Outcome",
    "Rejected",
    "Probe",
    "Session",
    "Setting",
    "TypedValue",
    "Unsupported",
    "Verdict",
    "judge",
    "load_cases",
    "read_cases",
]
