"""Rules that turn values of two numbers (complex, keys) into real numbers.

Takes an equation over complex numbers or keys with the `Pair`s of its operands; gives
the equations over real numbers that compute the same. Start reading at `values.rule`.

- `arithmetic`: rules of complex arithmetic, comparison and parts
- `folds`: rules of complex reductions, gathers and prefix scans
- `functions`: rules of complex functions, in terms of real ones
- `inverse_functions`: rules of inverse complex functions, in terms of real ones
- `keys`: rules of random keys: words, hashed with counters
- `operators`: numbers with operators, each of which adds an equation
- `products`: rules of complex matrix products, by real products
- `values`: pairs as values: the structural primitives act on both numbers
"""
