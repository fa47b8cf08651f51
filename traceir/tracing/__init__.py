"""Traces and tracers: operations recorded into programs.

Takes a function of arrays and the types of its arguments; gives a `ClosedJaxpr`. `bind`
hands an operation to the trace in force. Start reading at `staging.stage`.

- `callback_kernels`: kernels that call the host
- `callbacks`: callbacks: functions of the user's, called while a program runs
- `concretization`: conversions of traced values to Python's, and their refusal
- `eval_trace`: evaluation at once inside a trace
- `evaluation`: evaluation of an operation on concrete values
- `knowledge`: knowledge of values, and ways of running functions, by the rows
- `manual_axes`: types of values that devices may have of their own
- `named_primitives`: primitives as values: the names that equations have
- `results`: results of traced functions: their leaves, and what is no array
- `staging`: the trace that records a function as a program
- `trace`: traces and tracers: which trace an operation belongs to
- `tracer_leaks`: traced values still held when their trace has ended
- `varying`: operands of types that tell of the same axes of a mesh
"""
