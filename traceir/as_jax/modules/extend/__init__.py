"""The names of `jax.extend`, for libraries that extend the system.

Start reading at `linear_util.transformation`.

- `backend`: the platforms that are there
- `core`: types of programs, and primitives of users
- `linear_util`: functions with what is told of them
- `random`: generators, seeds and the function of words behind them
- `source_info_util`: files whose lines are no user's
"""

from traceir.as_jax.modules.extend import (
    backend,
    core,
    linear_util,
    random,
    source_info_util,
)

__all__ = ["backend", "core", "linear_util", "random", "source_info_util"]
