"""What pytest leaves alone where JAX is not installed: the modules that are its own."""

from importlib.util import find_spec

collect_ignore = []
if find_spec("jax") is None:
    collect_ignore = [
        f"traceir/conform/{name}.py" for name in ("jax", "jaxes", "jaxsystem")
    ]
