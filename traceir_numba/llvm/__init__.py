"""Generated source to LLVM text, and LLVM text to machine code.

`lower.lower` takes the text of a function in a small part of Python, and its types; it
gives LLVM text that means what Numba makes of the function, bit for bit.
`optimize.link` makes `MachineCode` of such texts: an object file in memory. Start
reading at `lower.lower`.

- `expressions`: expressions of generated source as typed registers
- `ir_builder`: a builder of one function's LLVM text: blocks and registers
- `lower`: generated source to LLVM text, in one pass
- `native`: functions of generated code that this processor has an instruction for
- `optimize`: LLVM's optimisation pipeline, linking and code generation
- `safepoints`: safepoints: where a routine checks for interrupts
- `shared_launches`: launches within routines whose ranges the threads of a team share
- `statements`: assignments, and the joins of branches
- `symbols`: the things that a name may stand for besides a variable
- `thread_team`: a team of threads in machine code that takes the parts of a loop
- `trampoline`: calls of machine code from Python, ten times as fast as ctypes
- `turns`: turns of a loop shared by the threads of a team, from within machine code
- `types`: the types of generated code, and how arithmetic mixes them
- `vectors`: LLVM text of numbers as LLVM text of vectors
"""
