"""Automatic differentiation: forward, linearized, transposed.

Takes a function and its primals; `JVPTrace` gives tangents, `linearize` a tape of
linear equations, and `transpose` reads the tape backwards for cotangents. Start reading
at `gradients.grad`.

- `arguments`: arguments of derivatives: positions, trees, dtypes
- `cached_transforms`: derivatives of programs, each kept with its program
- `coded_rules`: rules in code, for primitives that no template can express
- `flat_functions`: a user's function called on leaves, under forward mode or linearized
- `gradients`: `grad` and `value_and_grad`: functions with a scalar result
- `jvp_trace`: forward mode: each operation beside its derivative
- `jvp_vjp`: `jvp`, `linearize` and `vjp`
- `linear_functions`: linear functions of tangents and of cotangents, at a point
- `linear_transpose`: transposes of linear functions
- `linearize`: linearization: forward mode whose tangents are recorded
- `transpose`: transposition: cotangents backwards through the tape
"""
