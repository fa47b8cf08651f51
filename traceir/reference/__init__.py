"""The reference backend: programs run by NumPy kernels, equation by equation.

Takes a `ClosedJaxpr` and NumPy arrays, gives NumPy arrays. Start reading at
`interpreter.eval_jaxpr`.

- `kernels`: one NumPy kernel for each primitive
- `interpreter`: the interpreter of programs, and the "reference" backend made of it
- `regions`: the interpreter of regions: calls, `cond`, `while`, `scan`, over any domain
- `result_ownership`: results made independent of operands, without warnings
- `whole_arrays`: programs of parts, as programs of whole arrays
"""
