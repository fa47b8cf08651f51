"""JAX as an implementation under test.

Imported only where JAX is installed. Takes our programs and cases; gives JAX's answers
as our types and arrays. Start reading at `adapter.Jax`.

- `adapter`: the implementation: JAX checks our programs and runs them
- `keys`: random keys in JAX's form: dtype, arrays, layout of bits
- `programs`: programs of ours, translated to JAX's jaxprs
- `system`: JAX as a system that sessions run on
"""
