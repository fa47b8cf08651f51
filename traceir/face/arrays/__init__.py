"""The traced array that can be written to, its views and its memory.

An array is a value that may be replaced, with the memory layout that NumPy would give
it; a view is a base array and steps. Start reading at `array.NumpyTracer`.

- `aliasing`: alias analysis: NumPy is asked which results are views
- `array`: `NumpyTracer`: an array of a traced NumPy function
- `array_state`: arrays that a region has taken over, and arrays that may be another one
- `layouts`: memory layouts: strides and overlaps, told by arrays of NumPy's
- `limits`: the limit on the length of a plain function's trace
- `loop_steps`: the steps of loops, and sequences of which a loop knows the steps
- `memory_sharing`: the table of NumPy functions whose results share memory
- `stacked`: lists that a loop has made: elements of one array
- `texts`: texts with values in them that are traced: written when the program runs
- `traced_index`: views at traced indices
- `unwrapping`: arrays that are known while tracing, as NumPy's own
- `values`: operands as NumPy takes them: lists, numbers, weak scalars
- `views`: the steps from an array to its view: index, reshape, transpose
"""
