"""Images and other grids."""

import numpy as np

from plain.examples import example, numbers


@example(numbers(6, 7), large=lambda: (numbers(500, 500),))
def box_blur(image):
    out = image.copy()
    out[1:-1, 1:-1] = 0
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            rows = slice(1 + dy, image.shape[0] - 1 + dy)
            columns = slice(1 + dx, image.shape[1] - 1 + dx)
            out[1:-1, 1:-1] += image[rows, columns]
    out[1:-1, 1:-1] /= 9
    return out


@example(numbers(6, 7), large=lambda: (numbers(500, 500),))
def sobel_magnitude(image):
    gx = np.zeros_like(image)
    gy = np.zeros_like(image)
    gx[:, 1:-1] = image[:, 2:] - image[:, :-2]
    gy[1:-1] = image[2:] - image[:-2]
    return np.hypot(gx, gy)


@example(numbers(6, 6), large=lambda: (numbers(800, 800),))
def laplacian(u):
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]


@example(
    numbers(5, 4, dtype="uint8"), large=lambda: (numbers(4000, 4000, dtype="uint8"),)
)
def invert_bytes(image):
    return 255 - image


@example(np.abs(numbers(4, 5, 3)), large=lambda: (np.abs(numbers(700, 700, 3)),))
def grey(image):
    return image @ np.array([0.299, 0.587, 0.114])


@example(np.abs(numbers(4, 5, 3)), large=lambda: (np.abs(numbers(300, 300, 3)),))
def gamma_correct(image):
    image = image / image.max()
    image **= 1 / 2.2
    return (image * 255).astype(np.uint8)


@example(numbers(6, 6), large=lambda: (numbers(1000, 1000),))
def threshold(image):
    out = np.zeros(image.shape, dtype=bool)
    out[image > image.mean()] = True
    return out


@example(numbers(6, 8), large=lambda: (numbers(800, 800),))
def downsample(image):
    h, w = image.shape
    return image.reshape(h // 2, 2, w // 2, 2).mean(axis=(1, 3))


@example(numbers(6, 6), large=lambda: (numbers(800, 800),))
def integral_image(image):
    return image.cumsum(axis=0).cumsum(axis=1)


@example(numbers(4, 6), large=lambda: (numbers(600, 600),))
def kaleidoscope(image):
    right = image[:, ::-1]
    return np.block([[image, right], [np.flipud(image), np.rot90(image, 2)]])


@example(numbers(6, 6), large=lambda: (numbers(1200, 1200),))
def frame(image):
    image = image.copy()
    image[0] = image[-1] = 1.0
    image[:, 0] = 2.0
    image[:, -1] = image[:, 0]
    return image


@example(
    (numbers(8, 8) > 0).astype(np.int64),
    large=lambda: ((numbers(400, 400) > 0).astype(np.int64),),
)
def game_of_life(board):
    neighbours = np.zeros(board.shape, dtype=int)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy or dx:
                neighbours += np.roll(np.roll(board, dy, axis=0), dx, axis=1)
    new = np.zeros_like(board)
    new[(neighbours == 3) | ((board == 1) & (neighbours == 2))] = 1
    return new


@example(numbers(5, 6), large=lambda: (numbers(700, 700),))
def normalize_contrast(image):
    low, high = image.min(), image.max()
    return np.round((image - low) / (high - low) * 100) / 100


@example(numbers(4, 4, 3), large=lambda: (numbers(600, 600, 3),))
def swap_channels(image):
    out = np.empty_like(image)
    out[..., 0] = image[..., 2]
    out[..., 1] = image[..., 1]
    out[..., 2] = image[..., 0]
    return out


@example(numbers(6, 6), large=lambda: (numbers(1000, 1000),))
def checkerboard(image):
    image[::2, ::2] = 0
    image[1::2, 1::2] *= -1
    return image.sum()


@example(
    numbers(5, 5),
    numbers(3, 3, seed=4),
    large=lambda: (numbers(16, 16), numbers(3, 3, seed=4)),
)
def correlate(image, kernel):
    h = image.shape[0] - kernel.shape[0] + 1
    w = image.shape[1] - kernel.shape[1] + 1
    out = np.zeros((h, w))
    for i in range(h):
        for j in range(w):
            out[i, j] = np.sum(image[i : i + 3, j : j + 3] * kernel)
    return out


@example(numbers(6, 6), large=lambda: (numbers(700, 700),))
def sharpen_in_place(image):
    blurred = (image[:-2] + image[1:-1] + image[2:]) / 3
    image[1:-1] += 0.5 * (image[1:-1] - blurred)


@example(numbers(5, 5), large=lambda: (numbers(500, 500),))
def dilate(image):
    padded = np.pad(image, 1, mode="edge")
    h, w = image.shape
    out = image.copy()
    for dy in range(3):
        for dx in range(3):
            np.maximum(out, padded[dy : dy + h, dx : dx + w], out=out)
    return out
