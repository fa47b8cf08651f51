"""The trace cache: keys of calls, entries, and checks of captured state.

Takes a bound call and gives its key, computed from the rows of `cache.toml`; under a
key stands a `TraceCacheEntry`, one trace. Start reading at `trace_cache.FunctionCache`.

- `cache_key`: the cache key of a call, computed from the rows of the table
- `captured_state`: the values that a strict trace read besides its arguments
- `external_state`: checks that tracing a function changes nothing outside of it
- `fingerprints`: fingerprints of Python values, which tell if a value has changed
- `known_arguments`: arguments of plain functions that are known while tracing
- `options`: the options of a jitted function
- `signature`: arguments bound to a signature: positional and keyword alike
- `static_keys`: static values as parts of a key
- `trace_cache`: the traces of a function: one per key, made once, held weakly
- `writeback`: arguments that a plain function wrote to, and the copies back
"""
