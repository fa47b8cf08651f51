"""Cases, tests and times of the CUDA backend on a device: `make gpu-check`."""
