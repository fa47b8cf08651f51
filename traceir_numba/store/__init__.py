"""Machine code and programs as entries of the store (`traceir.store`).

Takes a `ClosedJaxpr`, gives its key, and under that key the `Recipe` that an earlier
process wrote. Start reading at `programs.read_program`.

- `identity`: the digest of all that decides machine code besides the program
- `keys`: the key of a program: the text of all that can decide its code
- `programs`: compiled programs as data, to run and to keep
- `units`: object code under the digest of its LLVM text
"""
