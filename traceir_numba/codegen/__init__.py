"""Numba source for the CPU, written from nests, routines and programs.

Takes a `LoopNest` and gives a `KernelSource`: the text of a function, and the functions
that it calls. Start reading at `nest.emit`; `module.module_of` writes a whole program.

- `body`: straight-line code of nests: names, constants, places, nodes
- `column_reductions`: reductions of columns: neighbours are reduced side by side
- `driver`: the driver of a program: it runs kernels and routines in order
- `embedded_reference`: reference kernels as source in generated modules
- `fixed_length_rows`: reductions of rows whose length is a compile-time constant
- `kernel_sources`: the source of all kernels and routines that a program runs
- `module`: a compiled program as one Python module that needs Numba alone
- `nest`: loop nests as source: one short function for each kernel
- `nest_emitter`: bodies, accumulators and loops of nests, for all their writers
- `parallel_turns`: routines as source, with loops whose turns threads share
- `prefix_scans`: prefix scans as source: each element gets the fold up to it
- `routine`: routines as source: loops, choices and scalars around kernel calls
- `row_reductions`: reductions along rows: in lanes, then across the lanes
"""
