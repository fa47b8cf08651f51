"""The wiring of arrays and tracers: operators, methods, `device_put`.

Takes the functions of `traceir.numpy` and binds them to the classes `Array` and
`Tracer`, which know nothing of them. Start reading at `bind_operators.bind_all`.

- `bind_operators`: operators and methods, bound to arrays and tracers
- `device_put`: `device_put` and its like: arrays placed on devices
- `sharded_arrays`: arrays made of parts that devices hold
"""
