"""Services of a running program: memory, threads, loaded object code.

Machine code and the driver of a program call these; nothing here knows of equations.
Start reading at `thread_pool.parallel`.

- `allocator`: an allocator that recycles the memory of large results
- `cpu_count`: the number of processors that this process may use
- `external_symbols`: functions of other libraries, under symbols of ours
- `mcjit`: object code loaded into this process by LLVM's MCJIT
- `thread_pool`: a thread pool that shares a kernel's range with the caller
"""
