"""Small libraries that JAX brings along.

Takes parameters and gradients; gives new parameters. Start reading at
`optimizers.optimizer`.

- `optimizers`: optimizers of trees of parameters, and schedules of step sizes
- `stax`: layers as pairs of functions: one makes parameters, one applies them
"""
