"""The directory of compiled functions, as JAX's module has it.

Takes a path. Start reading at `compilation_cache.set_cache_dir`.

- `compilation_cache`: the directory of compiled functions, as a program says

>>> from traceir.experimental.compilation_cache import compilation_cache
>>> compilation_cache.reset_cache()
"""
