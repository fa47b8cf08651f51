"""Services of a running program: memory, threads, loaded object code.

Machine code and the driver of a program call these; nothing here reads a program.
Start reading at `thread_pool.parallel`.

- `allocator`: an allocator that recycles the memory of large results
- `code_loader`: object code loaded into this process, and freed with its last user
- `cpu_count`: the processors that this process may use, and the one that it is on
- `elf`: object files in the format ELF, put into memory without LLVM
- `external_symbols`: functions of other libraries, under symbols of ours
- `mcjit`: LLVM on this machine: what it is, and object code loaded by its MCJIT
- `own_params`: params that the backend gives to equations of its own
- `processor`: the processor's own words about itself, which tell stored code apart
- `thread_pool`: a thread pool that shares a kernel's range with the caller
"""
