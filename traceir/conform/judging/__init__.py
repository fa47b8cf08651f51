"""Verdicts: an implementation's answers compared with cases.

Takes an `Implementation` and a `Case`; gives a `Verdict`, and a `ConformanceRun` of all
verdicts, compared with the recorded deviations. Start reading at `run.judge`.

- `adapters`: adapters: implementations loaded by name
- `answers`: an implementation's answers, checked before they are believed
- `borrowed`: the project's own code, watched while an implementation answers
- `deviations`: recorded deviations: the known differences of an implementation
- `implementation`: the protocol of implementations, and what they raise
- `messages`: messages of rejections: the rules that they speak of
- `oracle_backend`: a backend of `traceir.jit` that runs programs by the tables
- `plain`: the judge of plain functions: Python itself says what a call does
- `questions`: questions to an implementation: cases without their answers
- `results`: the judge of results: the bits of a case, or others that its sets have
- `run`: the judge: one verdict for each case
- `runs`: runs: the verdicts of one implementation, as files
- `witness`: the check of a whole program by the values of all its variables
"""
