"""Derivatives and batches of control flow, and `checkpoint`.

Takes an equation with programs in its params; binds one like it, on transformed
programs. Start reading at `cond.jvp_cond`.

- `call_rules`: rules of calls, equations with one program
- `checkpoint`: `checkpoint`: derivatives that recompute what they need
- `cond`: rules of `cond`: one equation again, on transformed branches
- `partial_eval`: partial evaluation: the known part of a region, and the linear
- `regions`: parts common to the rules: tangents, zeros, fixpoints
- `saved_residuals`: a program in two by a policy: what is saved, and the rest
- `scan`: rules of `scan`: forward and batched
- `scan_reverse`: rules of `scan` in reverse: residuals, linear loop, transpose
- `shard_map`: rules of `shard_map`: functions of parts again, by programs of one device
- `while_`: rules of `while`: forward and batched; it has no reverse
"""
