"""Registries of rules, templates from the rows, rewrites of programs.

Takes a primitive, gives its rule for a transform: from its row, or from code. Start
reading at `derivative_templates.plan_of`.

- `axes`: batch dimensions moved, added and repeated
- `dce`: dead-code elimination, within programs of equations too
- `derivative_templates`: the templates of derivatives, applied to operands
- `registry`: the registries of rules in code, one per transform
- `rewrites`: rewrites of whole programs, each kept with its program
"""
