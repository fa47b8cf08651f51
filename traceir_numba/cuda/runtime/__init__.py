"""The device at run time: its compiler, memory and kernel launches.

Takes kernel source and arrays on the device; runs one launch at a time on one stream.
Start reading at `launching.launch`.

- `device`: the package that compiles for CUDA here, and the memory of its devices
- `launching`: compiled kernels of this process, and the grids of their launches
- `pool`: a memory pool of the device, reused in the order of its stream
- `streams`: streams: one for each device, and what one of them waits for in another
"""
