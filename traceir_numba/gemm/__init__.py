"""Matrix products as machine code of our own, blocked and threaded.

Takes pointers, extents and strides of two operands and of the result; gives the same
bits whatever the number of threads. Start reading at `blocked.whole_text`; a program
calls `parallel.product`.

- `blocked`: blocked matrix products whose order of summation depends on length alone
- `factors`: factorizations of small matrices, and triangular systems, as machine code
- `microkernel`: microkernels as LLVM text: tiles of the result in registers
- `packing`: packing of operands into the order in which tiles read them
- `parallel`: large products shared among threads, with the same bits
- `strided`: products of operands with strides of any kind, such as windows
- `threaded`: products within compiled loops, on several threads without Python
"""
