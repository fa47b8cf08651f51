"""Hypothesis strategies for programs, types, arrays and transforms.

Takes the tables; draws well-typed programs and applications, and ones that violate a
single clause. Start reading at `programs.programs`.

- `aims`: strategies that aim at one clause: applications that violate it alone
- `chains`: random compositions of transforms over random programs
- `programs`: random well-typed programs over all primitives of the tables
- `reach`: a count of how often random applications meet each clause
- `regions`: random equations with control flow over drawn programs
- `steps`: steps of a chain: transforms of functions that return arrays
- `strategies`: strategies for types, arrays and applications of primitives
- `written`: drawn programs, written as cases to be kept
"""
