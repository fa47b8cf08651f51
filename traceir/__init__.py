"""An exactly specified tracing JIT: `import traceir as jax`, `import traceir.numpy as jnp`."""
