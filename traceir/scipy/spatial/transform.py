"""Rotations of space, and between them.

Serves: face.choice, face.shape

A rotation is a unit quaternion (x, y, z, w), or a stack of these; it is a pytree.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import traceir.numpy as jnp
from traceir import random, rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import entry_points
from traceir.lax.checks.operands import Operand

__all__ = ["Rotation", "Slerp"]


@entry_points()
class Rotation(NamedTuple):
    """A rotation of space, or a stack of them: `quat` has shape (4,) or (n, 4).

    Rotations are multiplied, indexed and inverted; methods convert them. Raises
    ValueError (face.choice) for axes that are none, TypeError (face.shape).

    >>> import traceir.numpy as jnp
    >>> quarter = Rotation.from_euler("z", 90.0, degrees=True)
    >>> jnp.round(quarter.apply(jnp.array([1.0, 0.0, 0.0])), 3) + 0.0
    Array([0., 1., 0.], dtype=float32)
    >>> jnp.round((quarter * quarter).magnitude(), 3)
    Array(3.142, dtype=float32)
    """

    quat: Any

    @classmethod
    def from_quat(cls, quat: Operand) -> Rotation:
        """The rotations of quaternions of any length but 0: shape (4,) or (n, 4)."""
        return cls(_unit(_floating(quat, 4)))

    @classmethod
    def from_matrix(cls, matrix: Operand) -> Rotation:
        """The rotations of orthogonal matrices: shape (3, 3) or (n, 3, 3)."""
        m = _floating(matrix, 3)
        if m.ndim not in (2, 3) or m.shape[-2] != 3:
            raise rules.error("face.shape", got=f"matrices of {m.shape}")
        diagonal = [m[..., k, k] for k in range(3)]
        trace = sum(diagonal[1:], diagonal[0])
        # Each column of 4 q q^T is the quaternion times one of its parts.
        rows = []
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            parts: list[Any] = [None] * 4
            parts[i] = 1 - trace + 2 * diagonal[i]
            parts[j] = m[..., j, i] + m[..., i, j]
            parts[k] = m[..., k, i] + m[..., i, k]
            parts[3] = m[..., k, j] - m[..., j, k]
            rows.append(jnp.stack(parts, axis=-1))
        skew = [m[..., (i + 2) % 3, (i + 1) % 3] for i in range(3)]
        back = [m[..., (i + 1) % 3, (i + 2) % 3] for i in range(3)]
        whole = [a - b for a, b in zip(skew, back, strict=True)]
        rows.append(jnp.stack([*whole, 1 + trace], axis=-1))
        # The longest is divided by the greatest part: nothing is lost to rounding.
        best = jnp.argmax(jnp.stack([*diagonal, trace], axis=-1), axis=-1)
        columns = jnp.stack(rows, axis=-2)
        found = jnp.take_along_axis(columns, best[..., None, None], axis=-2)[..., 0, :]
        return cls(_unit(found))

    @classmethod
    def from_rotvec(cls, rotvec: Operand, degrees: bool = False) -> Rotation:
        """Rotations by the length of vectors around them: shape (3,) or (n, 3)."""
        vector = _floating(rotvec, 3)
        vector = jnp.deg2rad(vector) if degrees else vector
        squared = jnp.sum(vector * vector, axis=-1, keepdims=True)
        small = squared < 1e-6
        angle = jnp.sqrt(jnp.where(small, 1, squared))
        series = 0.5 - squared / 48 + squared * squared / 3840
        scale = jnp.where(small, series, jnp.sin(angle / 2) / angle)
        cosine = jnp.where(small, 1 - squared / 8, jnp.cos(angle / 2))
        return cls(jnp.concatenate([scale * vector, cosine], axis=-1))

    @classmethod
    def from_mrp(cls, mrp: Operand) -> Rotation:
        """Rotations of modified Rodrigues parameters: shape (3,) or (n, 3)."""
        vector = _floating(mrp, 3)
        squared = jnp.sum(vector * vector, axis=-1, keepdims=True)
        parts = [2 * vector, 1 - squared]
        return cls(jnp.concatenate(parts, axis=-1) / (1 + squared))

    @classmethod
    def from_euler(cls, seq: str, angles: Operand, degrees: bool = False) -> Rotation:
        """Rotations by angles around axes, one after the other.

        `seq` names up to three axes: "xyz" those of space, "XYZ" those that turn with
        it. `angles` is a number for one axis, or has one for each along its last
        dimension.
        """
        axes = _axes(seq, (1, 2, 3))
        given = jnp.asarray(angles)
        if not jnp.issubdtype(given.dtype, jnp.inexact):
            given = given.astype(float)
        single = len(seq) == 1 and (given.ndim == 0 or given.shape[-1] != 1)
        given = given[..., None] if single else given
        if given.shape[-1] != len(seq) or given.ndim > 2:
            raise rules.error("face.shape", got=f"angles of {given.shape} for {seq!r}")
        given = jnp.deg2rad(given) if degrees else given
        found: Rotation | None = None
        for k, axis in enumerate(axes):
            half = given[..., k, None] / 2
            along = jnp.eye(3, dtype=given.dtype)[axis]
            parts = [jnp.sin(half) * along, jnp.cos(half)]
            turn = cls(jnp.concatenate(parts, axis=-1))
            if found is None:
                found = turn
            else:
                found = turn * found if seq.islower() else found * turn
        assert found is not None
        return found

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
        """The rotation that moves nothing, or so many of them."""
        one = jnp.array([0.0, 0.0, 0.0, 1.0], dtype=dtype)
        return cls(one if num is None else jnp.tile(one, (num, 1)))

    @classmethod
    def random(cls, random_key: Array, num: int | None = None) -> Rotation:
        """A random rotation, or so many of them, all equally likely."""
        shape = (4,) if num is None else (num, 4)
        return cls(_unit(random.normal(random_key, shape)))

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """The rotations one after the other, as a stack."""
        return cls(jnp.concatenate([jnp.atleast_2d(r.quat) for r in rotations]))

    @property
    def single(self) -> bool:
        """True of a rotation that is no stack."""
        return bool(self.quat.ndim == 1)

    def __len__(self) -> int:
        if self.single:
            raise TypeError("a single rotation has no length")
        return int(self.quat.shape[0])

    def __getitem__(self, indexer: Any) -> Rotation:
        if self.single:
            raise TypeError("a single rotation has no parts")
        return Rotation(self.quat[indexer])

    def __mul__(self, other: Any) -> Rotation:
        """The rotation by `other` and then by this one."""
        p, q = self.quat, other.quat
        u, v, a, b = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
        vector = a * v + b * u + jnp.cross(u, v)
        scalar = a * b - jnp.sum(u * v, axis=-1, keepdims=True)
        return Rotation(_unit(jnp.concatenate([vector, scalar], axis=-1)))

    def inv(self) -> Rotation:
        """The rotations back."""
        return Rotation(self.quat * jnp.array([-1, -1, -1, 1], self.quat.dtype))

    def apply(self, vectors: Operand, inverse: bool = False) -> Array:
        """Vectors rotated: shape (3,) or (n, 3); backwards with `inverse`."""
        v = _floating(vectors, 3)
        matrix = self.as_matrix()
        if inverse:
            matrix = jnp.swapaxes(matrix, -1, -2)
        return jnp.einsum("...jk,...k->...j", matrix, v, precision="highest")

    def magnitude(self) -> Array:
        """The angle of each rotation, from 0 to pi."""
        size = jnp.linalg.norm(self.quat[..., :3], axis=-1)
        return 2 * jnp.arctan2(size, jnp.abs(self.quat[..., 3]))

    def mean(self, weights: Operand | None = None) -> Rotation:
        """The rotation that is nearest to all of a stack, by weights."""
        stack = jnp.atleast_2d(self.quat)
        w = (
            jnp.ones(len(stack), stack.dtype)
            if weights is None
            else jnp.asarray(weights)
        )
        if w.shape != stack.shape[:1]:
            raise rules.error(
                "face.shape", got=f"weights of {w.shape} for {len(stack)}"
            )
        squares = jnp.einsum("n,ni,nj->ij", w, stack, stack)
        return Rotation(jnp.linalg.eigh(squares)[1][:, -1])

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """The quaternions; with `canonical` those of which `w` is not negative."""
        found: Array = self.quat
        if canonical:
            found = jnp.where(_leading(found)[..., None] < 0, -found, found)
        return jnp.roll(found, 1, axis=-1) if scalar_first else found

    def as_matrix(self) -> Array:
        """The matrices that rotate columns: shape (3, 3) or (n, 3, 3)."""
        x, y, z, w = (self.quat[..., k] for k in range(4))
        rows = (
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        )
        return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)

    def as_rotvec(self, degrees: bool = False) -> Array:
        """The axes, as long as the angles are."""
        quat = self.as_quat(canonical=True)
        vector, w = quat[..., :3], quat[..., 3:]
        squared = jnp.sum(vector * vector, axis=-1, keepdims=True)
        small = squared < 1e-7
        size = jnp.sqrt(jnp.where(small, 1, squared))
        turn = 2 * jnp.arctan2(size, w)
        found = vector * jnp.where(small, 2 + squared / 3, turn / size)
        return jnp.rad2deg(found) if degrees else found

    def as_mrp(self) -> Array:
        """The modified Rodrigues parameters."""
        quat = self.as_quat(canonical=True)
        return quat[..., :3] / (1 + quat[..., 3:])

    def as_euler(self, seq: str, degrees: bool = False) -> Array:
        """The angles around three axes, as `from_euler` takes them.

        The middle one is from 0 to pi where the first axis is the last, and from -pi/2
        to pi/2 otherwise; where it is at an end the last angle is 0.
        """
        axes = _axes(seq, (3,))
        outside = seq.islower()
        i, j, k = axes if outside else axes[::-1]
        proper = i == k
        k = 3 - i - j if proper else k
        sign = (i - j) * (j - k) * (k - i) // 2
        quat = self.quat
        a, b, c, d = quat[..., 3], quat[..., i], quat[..., j], quat[..., k] * sign
        if not proper:
            a, b, c, d = a - c, b + d, c + a, d - b
        middle = 2 * jnp.arctan2(jnp.hypot(c, d), jnp.hypot(a, b))
        eps = 1e-7
        low, high = middle < eps, middle > jnp.pi - eps
        at_end = low | high
        plus, minus = jnp.arctan2(b, a), jnp.arctan2(d, c)
        first, last = plus - minus, plus + minus
        if not outside:
            first, last = last, first
        end = jnp.where(low, 2 * plus, -2 * minus if outside else 2 * minus)
        first = jnp.where(at_end, end, first)
        last = jnp.where(at_end, 0, last)
        if not proper:
            middle = middle - jnp.pi / 2
            if outside:
                last = last * sign
            else:
                first = first * sign
        found = jnp.stack([first, middle, last], axis=-1)
        found = jnp.where(found < -jnp.pi, found + 2 * jnp.pi, found)
        found = jnp.where(found > jnp.pi, found - 2 * jnp.pi, found)
        return jnp.rad2deg(found) if degrees else found


@entry_points()
class Slerp(NamedTuple):
    """Rotations between those of a stack, at a constant speed from each to the next.

    `Slerp.init(times, rotations)` makes one of increasing times; it is called with the
    times between.

    >>> import traceir.numpy as jnp
    >>> ends = Rotation.from_euler("z", jnp.array([0.0, 90.0]), degrees=True)
    >>> Slerp.init(jnp.array([0.0, 1.0]), ends)(0.5).magnitude() * 4 - jnp.pi < 1e-5
    Array(True, dtype=bool)
    """

    times: Any
    timedelta: Any
    rotations: Rotation
    rotvecs: Any

    @classmethod
    def init(cls, times: Operand, rotations: Rotation) -> Slerp:
        """The rotations of a stack, at these times. Raises TypeError (face.shape)."""
        at = jnp.asarray(times)
        if rotations.single or at.shape != (len(rotations),) or len(rotations) < 2:
            got = f"times of {at.shape} for quaternions of {rotations.quat.shape}"
            raise rules.error("face.shape", got=got)
        before, after = (
            Rotation(rotations.quat[k]) for k in (slice(-1), slice(1, None))
        )
        turns = Rotation.__mul__(before.inv(), after)
        return cls(at, jnp.diff(at), before, turns.as_rotvec())

    def __call__(self, times: Operand) -> Rotation:
        """The rotations at these times: a number, or an array of them."""
        asked = jnp.asarray(times)
        at = jnp.atleast_1d(asked)
        k = jnp.clip(jnp.searchsorted(self.times, at) - 1, 0, len(self.timedelta) - 1)
        share = (at - self.times[k]) / self.timedelta[k]
        turned = Rotation.from_rotvec(self.rotvecs[k] * share[:, None])
        quats = Rotation(self.rotations.quat[k]).__mul__(turned).quat
        return Rotation(quats if asked.ndim else quats[0])


def _floating(values: Operand, extent: int) -> Array:
    """The values as floats, whose last dimension has this extent."""
    found = jnp.asarray(values)
    if not found.ndim or found.shape[-1] != extent:
        got = f"an array of {found.shape}, where the last extent is {extent}"
        raise rules.error("face.shape", got=got)
    inexact = jnp.issubdtype(found.dtype, jnp.inexact)
    return found if inexact else found.astype(float)


def _unit(quat: Array) -> Array:
    found: Array = quat / jnp.linalg.norm(quat, axis=-1, keepdims=True)
    return found


def _leading(quat: Array) -> Any:
    """The scalar part, or the first other part that is not 0 where it is 0."""
    x, y, z, w = (quat[..., k] for k in range(4))
    rest = jnp.where(x != 0, x, jnp.where(y != 0, y, z))
    return jnp.where(w != 0, w, rest)


def _axes(seq: str, lengths: tuple[int, ...]) -> list[int]:
    """The numbers of the axes that are named."""
    known = seq.lower()
    apart = all(a != b for a, b in itertools.pairwise(known))
    one_case = seq.islower() or seq.isupper()
    if not (one_case and apart and set(known) <= set("xyz") and len(seq) in lengths):
        hint = 'axes of space are small letters, those that turn capitals: "zyx"'
        raise rules.error("face.choice", got=f"{seq=}", hint=hint)
    return ["xyz".index(letter) for letter in known]
