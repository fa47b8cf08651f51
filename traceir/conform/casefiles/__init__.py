"""Case files: their syntax, and cases as data.

Takes the text of a case file and gives `Case`s: a program, the calls of it, and what
they must give; or a `Session` of calls. Start reading at `cases.read_cases`.

- `cases`: the reader of case files, verb by verb
- `outcomes`: outcomes of a call, compared with those that a case demands
- `plain_functions`: cases that are functions of Python's, each with calls of it
- `profiles`: profiles: the parts of the suite that an implementation may claim
- `sessions`: sessions: calls of jitted functions, and the outcome of each
- `untyped`: programs without the types of results, and with them again
- `values`: arrays, types and host objects as cases write them
- `weak`: weak types added to programs whose text leaves them out
- `width`: programs that have numbers of 64 bits, and so need these types
"""
