"""LLVM text of numbers as LLVM text of vectors.

In: the text of kernels, as `llvm.lower` writes it, and of the functions of numbers that
they call. Out: one text, whose innermost loops are loops over vectors. Start reading at
`widen.widened`.

- `functions`: functions of numbers as functions of vectors
- `ir_text`: LLVM text of our own in its parts: functions, blocks, instructions
- `lanes`: instructions of numbers as instructions of vectors, in LLVM text
- `reads`: elements that do not lie side by side, as vectors, in LLVM text
- `shared`: elements that several vectors have in common, read once, in LLVM text
- `tables`: elements of constant tables, one for each lane of a vector
- `vector_loop`: loops over vectors: what is known of one while its text is written
- `widen`: innermost loops of a kernel's LLVM text as loops over vectors
"""
