"""Ahead-of-time compilation: programs as files that run without traceir.

Serves: artefact.*

Takes traced functions (`traceir.jit` stages) and a form; writes an object file with a C
header, a static archive, a Python module, or source for Numba. Start reading at
`api.export`.

- `api`: `export`: traced functions as files that run without traceir
- `archives`: static archives of one object file, for linkers of ELF systems
- `calls`: a program as one LLVM function of pointers that calls kernels in order
- `entries`: traced functions under names of C, with the types of their arguments
- `functions`: Python functions of exported modules: they check arguments
- `header`: the C header of an object: a documented prototype for each entry
- `instructions`: the CPU instructions that exported code uses, and a test for them
- `linker`: shared libraries of object files, by whichever linker this machine has
- `modules`: the Python form: a module that loads a shared library
- `objects`: entries as one object file, with all that they call
- `parts`: LLVM text of an artefact's constants, memory and sums
- `seals`: digests that tell if an artefact's files are as they were written
- `sources`: the source form: one module of kernels and functions for Numba
- `symbols`: the symbols that an object file defines, and those that it needs
"""
