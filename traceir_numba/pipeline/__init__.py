"""The pass manager: a traced program to a compiled one, pass by pass.

Takes a `ClosedJaxpr` and gives a `Compilation`: a program of kernels, its source and a
`Recipe`, with which any process can run it. Start reading at
`build_program.build_program`.

- `build_program`: a traced program to a program of kernels, stage by stage
- `compiler`: the compiler: assembles a program, writes its source, compiles it
- `explain`: a report on a program's kernels, memory, vectors and threads
- `kernel_cache`: the cache of compiled kernels, keyed by their text
- `selection`: sorts of which few places are read: only these are put in order
"""
