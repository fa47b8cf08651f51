"""Filters of images."""

import numpy as np
from numba import prange

from plain.loops.program import Program, integers, uniform


def convolve(image, kernel):
    """The valid part of a convolution, a shifted image for each weight."""
    kh, kw = kernel.shape
    h, w = image.shape[0] - kh + 1, image.shape[1] - kw + 1
    out = np.zeros((h, w))
    for i in range(kh):
        for j in range(kw):
            out += kernel[kh - 1 - i, kw - 1 - j] * image[i : i + h, j : j + w]
    return out


def equalize(image):
    """Spread the grey levels evenly."""
    hist = np.zeros(256, dtype=int)
    for row in image:
        for value in row:
            hist[value] += 1
    cdf = hist.cumsum()
    low = cdf[cdf > 0].min() if image.size else 0
    scaled = np.round((cdf - low) / max(image.size - low, 1) * 255)
    return scaled.clip(0, 255).astype(np.uint8)[image]


def median_filter(image):
    """The median of each cell's 3 by 3 neighbours; edges are repeated."""
    padded = np.pad(image, 1, mode="edge")
    out = np.empty_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            out[i, j] = np.median(padded[i : i + 3, j : j + 3])
    return out


def dither(image):
    """Floyd and Steinberg's two levels: each error goes to the cells not yet seen."""
    work = image.astype(np.float32)
    h, w = work.shape
    out = np.zeros((h, w), np.uint8)
    for y in range(h):
        for x in range(w):
            old = work[y, x]
            new = 255 if old > 127 else 0
            out[y, x] = new
            err = old - new
            if x + 1 < w:
                work[y, x + 1] += err * 7 / 16
            if y + 1 < h:
                if x > 0:
                    work[y + 1, x - 1] += err * 3 / 16
                work[y + 1, x] += err * 5 / 16
                if x + 1 < w:
                    work[y + 1, x + 1] += err / 16
    return out


def clamp(v, lo, hi):
    if v < lo:
        return lo
    if v > hi:
        return hi
    return v


def sobel(image):
    h, w = image.shape
    out = np.zeros((h, w))
    for i in prange(h):
        for j in range(w):
            gx = 0.0
            gy = 0.0
            for k in range(-1, 2):
                wt = 2 - abs(k)
                up = clamp(i - 1, 0, h - 1)
                down = clamp(i + 1, 0, h - 1)
                left = clamp(j - 1, 0, w - 1)
                right = clamp(j + 1, 0, w - 1)
                row = clamp(i + k, 0, h - 1)
                col = clamp(j + k, 0, w - 1)
                gx += wt * (image[row, right] - image[row, left])
                gy += wt * (image[down, col] - image[up, col])
            out[i, j] = (gx * gx + gy * gy) ** 0.5
    return out


def resize(image, height, width):
    """Bilinear, for any number of channels."""
    h, w, channels = image.shape
    out = np.empty((height, width, channels), dtype=image.dtype)
    for i in range(height):
        y = i * (h - 1) / (height - 1)
        y0 = int(y)
        y1 = min(y0 + 1, h - 1)
        fy = y - y0
        for j in range(width):
            x = j * (w - 1) / (width - 1)
            x0 = int(x)
            x1 = min(x0 + 1, w - 1)
            fx = x - x0
            for c in range(channels):
                top = image[y0, x0, c] * (1 - fx) + image[y0, x1, c] * fx
                bottom = image[y1, x0, c] * (1 - fx) + image[y1, x1, c] * fx
                out[i, j, c] = top * (1 - fy) + bottom * fy
    return out


def grey(h, w):
    return integers(h, w, below=256).astype(np.uint8)


PROGRAMS = [
    Program(
        "numpy",
        convolve,
        lambda n, k: (uniform(n, n + 1), uniform(k, k, seed=1)),
        (7, 3),
        (500, 5),
    ),
    Program("numpy", equalize, lambda n: (grey(n, n + 1),), (5,), (100,)),
    Program("numpy", median_filter, lambda n: (uniform(n, n + 1),), (4,), (60,)),
    Program("numba", dither, lambda n: (grey(n, n + 1),), (5,), (500,)),
    Program("numba", sobel, lambda n: (uniform(n, n + 1),), (5,), (500,)),
    Program(
        "numba", resize, lambda n, m: (uniform(n, n, 3), m, m + 1), (4, 6), (200, 350)
    ),
]
