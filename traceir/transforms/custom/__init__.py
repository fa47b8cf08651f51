"""Functions with derivative rules of their own.

Takes a function and a user's rule; binds one equation that holds both, which the
transforms open. Start reading at `custom_jvp.custom_jvp`.

- `callbacks`: rules of callbacks: the host is called for each example
- `closure_convert`: captured values made arguments
- `copies`: the primitive of a copy, which libraries apply by name
- `custom_batching`: batching of functions with rules of their own
- `custom_calls`: calls of functions with derivative rules: parts common to both
- `custom_gradient`: functions that return their derivative, too
- `custom_jvp`: functions with a forward-mode rule of their own
- `custom_primitive`: primitives of users: rules by registry, programs when recorded
- `custom_vjp`: functions with a reverse-mode rule of their own
- `custom_vmap`: functions with a batching rule, or a transpose, of their own
- `linear_solve`: solutions of linear systems, with derivatives by such systems
- `roots`: roots of functions, whose derivatives are by the functions' own
- `symbolic_zeros`: zeros that rules of users are told of, in place of arrays of zeros
"""
