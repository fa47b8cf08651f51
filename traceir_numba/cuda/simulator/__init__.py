"""The simulator: kernels run by Python, one thread at a time.

Takes the text of a `@cuda.jit` kernel and gives a callable that runs it without a
device, with the order of the threads fixed. Start reading at `blocks.SimulatedKernel`.

- `blocks`: the scheduler of the simulator: threads run from barrier to barrier
- `order`: the order in which simulated devices do their work: drawn, and anew by a seed
- `simulated`: the names that kernels find in the simulator
"""
