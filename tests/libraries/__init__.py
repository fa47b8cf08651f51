"""Programs of libraries that were written for JAX, and the numbers that JAX gives.

`make libraries` installs the libraries of `requirements.txt`, without JAX, in an
environment of its own, and runs `programs` there with this library in JAX's place.
`tests/records/libraries.json.xz` has what JAX 0.10.2 gives: the leaves of each result,
recorded by `python -m libraries --record` where it is installed.
"""
