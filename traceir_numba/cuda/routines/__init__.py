"""Control flow on a device: what one block runs, what the host drives.

Takes a `Routine` and the sizes of its buffers; gives pieces, kernels of one block that
run a small loop whole, and levels, kernels that run the branches of a choice side by
side. The host loops around the rest. Start reading at `block_plans.planned`.

- `barriers`: the steps that must wait for all threads of their block
- `block_costs`: the work and the shared memory that a step asks of one block
- `block_plans`: plans of a routine: which parts one block runs alone
- `emit_levels`: levels as `@cuda.jit` source: the branches of a choice together
- `emit_pieces`: pieces as `@cuda.jit` source: a routine run by one block
- `pieces`: pieces that can be launched, each compiled when it first runs
- `step_arguments`: the values that steps need, and those that they change
"""
