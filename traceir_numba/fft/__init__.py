"""Long Fourier transforms as machine code of our own, with vectors and threads.

Takes arrays and the params of the primitive `fft`; gives the same bits whatever the
number of threads, or None for what the reference is to compute. Start reading at
`transforms.transform`.

- `codelets`: complex arithmetic with vectors, and transforms of a few points
- `groups`: many transforms of one length, a vector of them at a time
- `interface`: the interface between generated code of transforms and its callers
- `panels`: work on panels besides passes, as LLVM text
- `passes`: passes of a transform, as LLVM text: from a panel to a panel
- `plans`: plans of transforms: factors of a length, and twiddle factors
- `transforms`: Fourier transforms of arrays, dimension after dimension
"""
