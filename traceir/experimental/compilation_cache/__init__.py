"""Where compiled functions are kept, by JAX's former place. Takes a path.

- `compilation_cache`: the directory of the store, as a program says

>>> from traceir.experimental.compilation_cache import compilation_cache
>>> compilation_cache.reset_cache()
"""
