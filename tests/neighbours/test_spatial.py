"""Rotations beside SciPy's. Cites: face.choice, face.shape"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule
from scipy.spatial.transform import Rotation as SciPyRotation
from scipy.spatial.transform import Slerp as SciPySlerp

import traceir
from traceir.scipy.spatial.transform import Rotation, Slerp

QUATS = np.random.default_rng(0).normal(size=(20, 4)).astype("float32")
VECTORS = QUATS[:, :3] * 2
OURS, THEIRS = Rotation.from_quat(QUATS), SciPyRotation.from_quat(QUATS)
SEQUENCES = [
    "".join(axes)
    for letters in ("xyz", "XYZ")
    for axes in itertools.product(letters, repeat=3)
    if axes[0] != axes[1] != axes[2]
]


def near(a: Any, b: Any) -> bool:
    """True if two arrays are equal up to rounding."""
    return np.allclose(a, b, atol=1e-5)


@pytest.mark.parametrize(
    "method, args",
    [
        ("as_matrix", ()),
        ("as_rotvec", ()),
        ("as_rotvec", (True,)),
        ("as_mrp", ()),
        ("as_quat", (True,)),
        ("magnitude", ()),
        ("apply", (VECTORS,)),
        ("apply", (VECTORS, True)),
    ],
)
def test_a_method(method: str, args: Any) -> None:
    ours = getattr(OURS, method)(*args)
    theirs = getattr(THEIRS, method)(*args)
    scale = 180 / np.pi if method == "as_rotvec" and args else 1
    assert near(ours / scale, theirs / scale)
    jitted = traceir.jit(lambda r: getattr(r, method)(*args))(OURS)
    assert near(jitted / scale, theirs / scale)


@pytest.mark.parametrize("kind", ["matrix", "rotvec", "mrp"])
def test_there_and_back(kind: str) -> None:
    made = getattr(Rotation, f"from_{kind}")(getattr(THEIRS, f"as_{kind}")())
    assert near(made.as_matrix(), THEIRS.as_matrix())
    half_turn = SciPyRotation.from_rotvec([[np.pi, 0, 0], [0, np.pi, 0], [0, 0, 1e-9]])
    made = getattr(Rotation, f"from_{kind}")(getattr(half_turn, f"as_{kind}")())
    assert near(made.as_matrix(), half_turn.as_matrix())


@pytest.mark.parametrize("seq", SEQUENCES)
def test_angles(seq: str) -> None:
    angles = THEIRS.as_euler(seq)
    turns = np.abs(np.angle(np.exp(1j * (OURS.as_euler(seq) - angles))))
    assert turns.max() < 1e-4
    made = Rotation.from_euler(seq, np.rad2deg(angles), degrees=True)
    assert near(made.as_matrix(), THEIRS.as_matrix())


@pytest.mark.parametrize("seq", SEQUENCES)
@pytest.mark.filterwarnings("ignore:Gimbal lock")
def test_angles_where_the_first_and_the_last_are_one(seq: str) -> None:
    middle = [0, np.pi] if seq[0] == seq[2] else [np.pi / 2, -np.pi / 2]
    with traceir.enable_x64():
        for angle in middle:
            theirs = SciPyRotation.from_euler(seq, [0.3, angle, 0.4])
            ours = Rotation.from_quat(theirs.as_quat()).as_euler(seq)
            assert near(ours, theirs.as_euler(seq))


def test_products_inverses_and_parts() -> None:
    assert near((OURS * OURS[::-1]).as_matrix(), (THEIRS * THEIRS[::-1]).as_matrix())
    assert near((OURS * OURS.inv()).as_matrix(), np.eye(3))
    assert OURS[3].single and len(OURS[2:5]) == 3
    joined = Rotation.concatenate([OURS[0], OURS[1:3]])
    assert near(joined.quat, OURS[:3].quat)
    assert near(Rotation.identity(2).as_matrix(), np.eye(3))
    mean, wanted = OURS[:5].mean(), THEIRS[:5].mean()
    assert near(mean.as_matrix(), wanted.as_matrix())
    weights = np.arange(1.0, 6.0, dtype="float32")
    mean, wanted = OURS[:5].mean(weights), THEIRS[:5].mean(weights)
    assert near(mean.as_matrix(), wanted.as_matrix())


def test_random_rotations_are_rotations() -> None:
    matrices = Rotation.random(traceir.random.key(0), 50).as_matrix()
    assert near(matrices @ np.swapaxes(matrices, 1, 2), np.eye(3))
    assert near(np.linalg.det(matrices), 1)
    assert np.abs(np.mean(matrices, axis=0)).max() < 0.3
    assert Rotation.random(traceir.random.key(0)).single


def test_between_rotations() -> None:
    times = np.arange(20.0)
    asked = np.linspace(0, 18.9, 37).astype("float32")
    ours, theirs = Slerp.init(times, OURS)(asked), SciPySlerp(times, THEIRS)(asked)
    assert near(ours.as_matrix(), theirs.as_matrix())
    assert Slerp.init(times, OURS)(2.5).single


def test_a_small_rotation_has_a_derivative() -> None:
    def turn(v: Any) -> Any:
        return Rotation.from_rotvec(v).as_rotvec()

    assert near(traceir.jacobian(turn)(np.zeros(3, "float32")), np.eye(3))


def test_refused() -> None:
    for seq in ("xx", "xY", "abc", ""):
        with raises_rule("face.choice", ValueError, "seq="):
            Rotation.from_euler(seq, np.zeros(max(len(seq), 1)))
    with raises_rule("face.choice", ValueError, "seq="):
        OURS.as_euler("xy")
    with raises_rule("face.shape", TypeError, "the last extent is 4"):
        Rotation.from_quat(np.zeros(3))
    with raises_rule("face.shape", TypeError, "matrices of"):
        Rotation.from_matrix(np.zeros((2, 3)))
    with raises_rule("face.shape", TypeError, "angles of"):
        Rotation.from_euler("xyz", np.zeros(2))
    with raises_rule("face.shape", TypeError, "weights of"):
        OURS.mean(np.ones(2))
    with raises_rule("face.shape", TypeError, "times of"):
        Slerp.init(np.zeros(2), OURS)
    for call in (lambda: len(OURS[0]), lambda: OURS[0][0]):
        with pytest.raises(TypeError, match="a single rotation"):
            call()
