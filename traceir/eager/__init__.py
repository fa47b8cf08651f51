"""Eager dispatch: functions called on concrete arrays, outside every trace.

Takes a public function and its arguments; gives the result, by a recorded plan if one
fits: a few lines of Python that call kernels directly. Start reading at
`dispatch.planned`.

- `call_keys`: keys of eager calls: the types of arrays, and other arguments
- `dispatch`: dispatch of eager calls: to a cached plan, or to the function itself
- `fast_getitem`: `x[i]` on concrete arrays, as NumPy's own reads
- `placed_plans`: plans whose results lie on devices as their operands make them
- `plan_codegen`: plans: Python source for a function and the types of its operands
- `plan_recorder`: the trace that records a function for its plan
"""
