"""Systems that run sessions of calls: by tables, `traceir` and others.

Takes a `Session` and gives an `Outcome` for each call. A `System` is what a session
needs of a JIT; `Model` computes the outcomes from the tables alone. Start reading at
`jitted.Jitted`.

- `actions`: actions of host functions that are no primitives: index, leak, raise
- `entries`: the traces that the model keeps, by the rows of the cache's machine
- `faces`: functions with the NumPy face, run for the model by the project's code
- `functions`: the functions of a session as `jit` sees them: bound and keyed
- `higher`: transforms in sessions: outcomes confirmed by the level rows
- `host`: host functions made of untyped programs, which a session traces
- `implementations`: the project's own implementations, as the runner sees them
- `jitted`: sessions run by a real `jit`, observed from outside
- `model`: sessions by the tables alone: keys, levels and the machine
- `nest`: the levels of a session: which values are known, whose operations these are
- `objects`: objects that cases define: static values, arrays, other functions
- `systems`: the protocol `System`, and `traceir` as one
- `traced`: traced values of the model: they answer what the level rows permit
- `transforms`: transforms of functions as cases spell them: `grad[argnums=0] vmap f`
- `write_values`: the values of cases, filled in by the oracle
"""
