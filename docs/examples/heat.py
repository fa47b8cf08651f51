"""Heat in a plate, as plain NumPy: slices, updates in place, a loop."""

import numpy as np

import traceir_numba

STEPS = 20


def problem(size=512):
    """A cold plate with a hot letter H on it."""
    plate = np.zeros((size, size))
    k = size // 8
    plate[k:-k, 2 * k : 3 * k] = plate[k:-k, -3 * k : -2 * k] = 1.0
    plate[size // 2 - k // 2 : size // 2 + k // 2, 2 * k : -2 * k] = 1.0
    return (plate,)


@traceir_numba.jit
def solve(plate):
    """The plate some steps later; its edge is kept cold."""
    plate = plate.copy()
    for _ in range(STEPS):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        inner += 0.2 * (around - 4 * inner)
    return plate


def draw(figure, arguments, results):
    """The plate in the beginning, and after ever more steps."""
    (plate,) = arguments
    for axis, rounds in zip(figure.subplots(1, 4), (0, 5, 20, 75)):
        for _ in range(rounds):
            plate = solve(plate)
        axis.imshow(plate, cmap="inferno", vmin=0, vmax=1)
        axis.set_axis_off()
    figure.suptitle("after 0, 100, 500 and 2,000 steps")
