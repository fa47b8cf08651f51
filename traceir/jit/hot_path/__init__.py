"""The path of a cache hit: raw keys, guards and compiled runners.

Takes the arguments of a call and gives its results without tracing or flattening, if a
call like it has been seen. Start reading at `guard_codegen.Runner`.

- `float_faults`: the caller's `np.errstate`, which machine code cannot obey
- `guard_codegen`: guards: generated code that recognizes a call seen before
- `known_values`: runners of calls that differ in the values of known arguments alone
- `raw_keys`: raw keys of calls, and the runners that they lead to
- `reference_arrays`: calls of programs whose functions use references
- `result_layouts`: layouts of a call's arguments and results on devices
"""
