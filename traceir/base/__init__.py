"""Services that every package uses: flags, caches, locks, positions in source.

Nothing here knows of arrays or programs. Start reading at `config.scope`, which sets
a flag for a while.

- `caches`: caches shared by threads: filled once, bounded, cleared together
- `config`: flags, and the context that holds their values
- `config_scopes`: flags as context managers, named as in `jax`
- `cost_model`: the cost model of tracing and of the reference
- `fast_dataclass`: dataclasses that are created in a fourth of the time
- `flags`: the flags: one for each row `flag` of the table of the cache
- `fork_safety`: locks that a forked child never finds held, those of imports among them
- `generated_code`: Python functions that are written and compiled when the program runs
- `lazy_exports`: names of a package whose modules are imported on first use
- `moved_modules`: modules by the names that pickles of earlier versions have for them
- `progress`: progress of long traces and compilations, on a terminal or in a notebook
- `python_parser`: Python's parser, for one thread at a time
- `source_info`: source positions: captured cheaply, decoded when asked for
- `tracebacks`: tracebacks of the user's frames alone, without those of the packages
- `version`: the version of the package; setup.cfg has it too
"""
