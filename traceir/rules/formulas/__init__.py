"""The formula language: parsed once, evaluated, compiled, explained.

Takes a string of a subset of Python's expressions and gives a `Formula`, which an
environment of names makes a value. Start reading at `language.parse`.

- `describe`: explanations of a failed clause: its two sides, evaluated
- `domains`: domains from which params of equations are drawn
- `helpers`: functions that formulas may call, each defined in `notation.rst`
- `language`: the rule language: a total subset of Python expressions
- `names`: names that a formula may have free, and those that it may call
- `scope`: names of a formula, whose values are computed when they are read
- `table_errors`: errors in a table of the specification
- `templates`: templates: a few equations over the operands of a primitive
"""
