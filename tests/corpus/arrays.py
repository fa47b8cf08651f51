"""Programs of functions that move, join and count elements."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

X = "f32[3]{0.5 1.0 4.0}"
Y = "f32[3]{2.0 0.25 1.0}"
M = "f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5}"
H = "f32[2,3]{1.5 nan 3.0 0.25 5.0 -0.5}"
K = "i32[3]{7 -2 5}"


@program(f"{X} {M}")
def moved(jax: Library, x: Array, m: Array) -> Array:
    """Elements moved round, along one axis and along two."""
    jnp = jax.numpy
    return jnp.roll(x, 1), jnp.roll(m, (1, 2), (0, 1))


@program(M)
def turned(jax: Library, m: Array) -> Array:
    """A matrix backwards and turned by a right angle."""
    jnp = jax.numpy
    return jnp.flip(m, 1), jnp.fliplr(m), jnp.flipud(m), jnp.rot90(m)


@program(f"{X} {M}")
def axes_moved(jax: Library, x: Array, m: Array) -> Array:
    """Axes in another order, new ones, and ones left out."""
    jnp = jax.numpy
    new = jnp.expand_dims(x, (0, 2))
    return jnp.moveaxis(m, 0, 1), jnp.swapaxes(m, 0, 1), new, jnp.squeeze(new)


@program(f"{X} {Y}")
def joins(jax: Library, x: Array, y: Array) -> Array:
    """Vectors joined along old and new axes."""
    jnp = jax.numpy
    rows = jnp.stack((x, y)), jnp.vstack((x, y)), jnp.column_stack((x, y))
    return (*rows, jnp.hstack((x, y)), jnp.dstack((x, y)), jnp.block([x, y]))


@program(f"{X} {Y}")
def grown(jax: Library, x: Array, y: Array) -> Array:
    """Elements more than once, more of them, and one less."""
    jnp = jax.numpy
    return jnp.repeat(x, 2), jnp.append(x, y), jnp.delete(x, 1)


@program(f"{X} {Y}")
def grids(jax: Library, x: Array, y: Array) -> Array:
    """Coordinates of a grid, powers of numbers, numbers between two others."""
    jnp = jax.numpy
    return *jnp.meshgrid(x, y), jnp.vander(x), jnp.linspace(x[0], x[1], 4)


@program(M)
def triangles(jax: Library, m: Array) -> Array:
    """What lies below the diagonal, and above it."""
    return jax.numpy.tril(m), jax.numpy.triu(m, 1)


@program(M)
def borders(jax: Library, m: Array) -> Array:
    """Borders of the nearest elements, of mirrored ones and of those opposite."""
    pad = jax.numpy.pad
    return pad(m, 1, "edge"), pad(m, 1, "reflect"), pad(m, 1, "wrap")


@program()
def made(jax: Library) -> Array:
    """Matrices and a window that are made of nothing."""
    jnp = jax.numpy
    return jnp.eye(2), jnp.identity(2), jnp.hamming(4)


@program(M)
def running_sums(jax: Library, m: Array) -> Array:
    """Sums and products so far, and differences."""
    jnp = jax.numpy
    sums = jnp.cumsum(m), jnp.cumulative_sum(m[0])
    return *sums, jnp.cumprod(m, 1), jnp.diff(m)


@program(H)
def without_nan(jax: Library, m: Array) -> Array:
    """Reductions of those elements that are numbers."""
    jnp = jax.numpy
    return jnp.nansum(m), jnp.nanmean(m, 1), jnp.nanmax(m), jnp.nanmin(m)


@program(H)
def places_without_nan(jax: Library, m: Array) -> Array:
    """Where the extremes of the numbers are."""
    return jax.numpy.nanargmax(m), jax.numpy.nanargmin(m)


@program(f"{X} {Y} {M}")
def weighed(jax: Library, x: Array, y: Array, m: Array) -> Array:
    """A weighted mean, ranges, and numbers that are not 0."""
    jnp = jax.numpy
    mean = jnp.average(x, weights=y)
    return mean, jnp.ptp(m, 1), jnp.count_nonzero(m, axis=1)


@program(M)
def contracted(jax: Library, m: Array) -> Array:
    """Products of axes that are named, and of the last ones."""
    jnp = jax.numpy
    return jnp.tensordot(m, m, ((0,), (0,))), jnp.inner(m, m)


@program(f"{X} {Y}")
def each_by_itself(jax: Library, x: Array, y: Array) -> Array:
    """A function of numbers, made one of arrays."""
    return jax.numpy.vectorize(lambda a, b: a * b + 1)(x, y)


@program(f"{X} {Y}")
def signs_and_angles(jax: Library, x: Array, y: Array) -> Array:
    """Two numbers' hypotenuse and angle, and a sign from another number."""
    jnp = jax.numpy
    return jnp.hypot(x, y), jnp.copysign(x, y), jnp.arctan2(x, y)


@program(f"{X} {Y}")
def sums_in_logarithms(jax: Library, x: Array, y: Array) -> Array:
    """Sums of numbers whose logarithms are known, of both bases."""
    return jax.numpy.logaddexp(x, y), jax.numpy.logaddexp2(x, y)


@program(f"{X} {Y}")
def parts_of_numbers(jax: Library, x: Array, y: Array) -> Array:
    """Whole parts, remainders, and neighbours."""
    jnp = jax.numpy
    return *jnp.modf(x), jnp.fmod(x, y), jnp.nextafter(x, y), jnp.trunc(x)


@program(f"{X} {Y}")
def steps_and_waves(jax: Library, x: Array, y: Array) -> Array:
    """A step, a wave that dies away, and angles in both units."""
    jnp = jax.numpy
    angles = jnp.deg2rad(x), jnp.rad2deg(x)
    return *angles, jnp.heaviside(x, y), jnp.sinc(x)


@program(f"{H} {M}")
def numbers_for_nan(jax: Library, x: Array, y: Array) -> Array:
    """Numbers in place of NaN, and extremes that leave it out."""
    jnp = jax.numpy
    return jnp.nan_to_num(x), jnp.fmax(x, y), jnp.fmin(x, y)
