"""Contacts in fifty digits: the nearest point of a polygon, the rows, and their derivatives."""

from __future__ import annotations

import math

import fifty_digits as digits
import numpy as np
import pinocchio as pin
import pytest

from constraints import Surface
from constraints.errors import ModelError
from constraints.functions.contact.contact_rows import contact_error, touch, write_contact, write_place
from constraints.robot import Frame
from liegroups import SE3

PENTAGON = np.array([[-0.4, -0.3, 0.1], [0.3, -0.4, 0.1], [0.6, 0.1, 0.1], [0.1, 0.5, 0.1], [-0.5, 0.3, 0.1]])
FLOOR = Surface("floor", Frame("world", 0), PENTAGON)
MARGIN = 0.03


TILTS = [
    0.0,
    1e-9,
    1e-5,
    1e-4,
    0.01,
    0.0299,
    0.0301,
    0.035,
    1.0,
    1.5,
    1.6,
    2.09,
    2.1,
    3.0,
    math.pi - 1e-2,
    math.pi - 1e-4,
]
PLACES = [(0.1, 0.05), (-0.3, -0.1), (0.1, -0.9), (0.8, -0.3), (0.5, 0.7), (-0.6, 0.9), (-0.9, 0.0), (0.2, 0.35)]
PLACES += [(0.1, 1.3), (0.9, -1.5)]  # in front of two edges


@pytest.mark.parametrize("tilt", TILTS, ids=str)
def test_rows_and_their_derivatives_in_fifty_digits(tilt: float) -> None:
    """Inside, beside edges and beyond corners; both sides of every switch between formulas."""
    rng = np.random.default_rng(int(1e3 * tilt))
    for k, place in enumerate(PLACES):
        direction, turn = rng.uniform(-math.pi, math.pi, 2)
        swing = tilt * np.array([0.0, math.cos(direction), math.sin(direction)])
        R = np.asarray(pin.exp3(swing) @ pin.utils.rotate("x", turn))
        if tilt == 0.0:
            R = np.asarray(pin.utils.rotate("x", turn))
        pose = pin.SE3(R, np.r_[0.2 * k - 0.5, place])
        at = touch(pose, FLOOR)
        contact, where = np.zeros(5), np.zeros(4)
        by_contact, by_place = np.zeros((5, 6)), np.zeros((3, 6))
        write_contact(at, MARGIN, contact, by_contact)
        write_place(at, where, by_place)
        exact = digits.exact(R), digits.exact(pose.translation)
        rows, near, (c, sine) = digits.contact_rows(*exact, FLOOR.polygon, MARGIN)
        slopes = np.zeros((8, 6))
        for i, step in enumerate(digits.exact(np.eye(6)) / digits.mp.mpf(10) ** 20):
            ends = (digits.leaf_moved(SE3, exact, s * step) for s in (1, -1))
            ahead, behind = (digits.contact_rows(S, p, FLOOR.polygon, MARGIN) for S, p in ends)
            turned = c * (ahead[2][1] - behind[2][1]) - sine * (ahead[2][0] - behind[2][0])
            slopes[:, i] = np.r_[ahead[0] - behind[0], ahead[1] - behind[1], turned] * digits.mp.mpf(10) ** 20 / 2
        np.testing.assert_allclose(contact, rows.astype(float), rtol=1e-14, atol=1e-15 if tilt < 3.1 else 1e-12)
        np.testing.assert_allclose(where[:2], near.astype(float), rtol=0, atol=1e-15)
        np.testing.assert_allclose(where[2:], [float(c), float(sine)], rtol=0, atol=1e-14 / (1e-8 + math.cos(tilt / 2)))
        scale = np.abs(slopes).max(axis=1, keepdims=True)
        assert np.all(np.abs(np.vstack((by_contact, by_place)) - slopes) <= 4e-12 * np.maximum(scale, 1.0)), place
        assert contact_error(at, MARGIN) == pytest.approx(float(np.linalg.norm(contact)), rel=1e-14)
        bare, place_alone = np.zeros(5), np.zeros(4)
        write_contact(at, MARGIN, bare, None)
        write_place(at, place_alone, None)
        np.testing.assert_array_equal(np.r_[bare, place_alone], np.r_[contact, where])


def test_on_its_head_an_object_has_the_rows_of_one_nearly_so() -> None:
    """The direction in which it tilts is a choice, y; there is no turn about the normal."""
    for turn in (0.3, -2.0):
        tables = []
        for rest in (0.0, 3e-9):
            R = pin.utils.rotate("y", math.pi - rest) @ pin.utils.rotate("x", turn)
            value, rows = np.zeros(5), np.zeros((5, 6))
            write_contact(touch(pin.SE3(R, np.array([0.1, 0.2, 0.1])), FLOOR), MARGIN, value, rows)
            tables.append((value, rows))
        np.testing.assert_allclose(tables[0][0][3:], [math.pi, 0.0], atol=1e-8)
        np.testing.assert_allclose(tables[0][0], tables[1][0], atol=1e-8)
    R = np.diag([-1.0, 1.0, -1.0])
    value, rows = np.zeros(4), np.zeros((3, 6))
    write_place(touch(pin.SE3(R, np.array([0.0, 0.1, 0.2])), FLOOR), value, rows)
    assert value.tolist() == [0.1, 0.2, 1.0, 0.0]
    np.testing.assert_allclose(rows[2, 3:], [1.0, 0.0, 0.0], atol=1e-15)


# Polygons


def regular(n: int, step: int = 1) -> np.ndarray:
    angles = 2.0 * math.pi * step * np.arange(n) / n
    return np.column_stack([np.cos(angles), np.sin(angles), np.zeros(n)])


BOW = np.array([[0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]], dtype=float)
DENT = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [1, 0.5, 0], [0, 2, 0]], dtype=float)
TWICE = np.insert(regular(4), 2, regular(4)[1], axis=0)
SHALLOW = np.insert(regular(4), 2, [-0.499, 0.499, 0.0], axis=0)
SHORT = np.insert(regular(4), 2, regular(4)[1] + [0.0, 5e-10, 0.0], axis=0)
LINE = np.array([[0, 0, 0], [1, 0, 0], [3, 0, 0]], dtype=float)


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e4])
def test_a_polygon_is_judged_alike_at_all_sizes(size: float) -> None:
    """What is refused of a unit polygon, and what is not, is of its shadow in micrometres or kilometres too."""
    frame = Frame("world", 0)
    R = np.asarray(pin.exp3(np.array([0.4, -0.7, 1.1])))

    def surface(points: np.ndarray) -> Surface:
        return Surface("face", frame, size * points @ R.T)

    for good in (PENTAGON, regular(3), regular(7), regular(40), np.insert(regular(4), 2, [-0.5, 0.5, 0.0], axis=0)):
        found = surface(good)
        np.testing.assert_allclose(found.normal, R[:, 2], atol=1e-9)
        np.testing.assert_allclose(surface(good[::-1]).normal, -R[:, 2], atol=1e-9)
        around = [size * point @ R.T for point in good]
        assert len(found.polygon) == len(good)
        centre = np.mean(around, axis=0)
        for placement in (found.outward, found.inward):
            np.testing.assert_allclose(placement.translation, centre, atol=1e-12 * size)
        first = (around[1] - around[0]) / np.linalg.norm(around[1] - around[0])
        np.testing.assert_allclose(found.inward.rotation[:, 1], first, atol=1e-9)
    for bad, said in ((BOW, "edges must not cross"), (DENT, "convex: it turns inwards at vertex 3"),
                      (SHALLOW, "convex: it turns inwards at vertex 2"),
                      (LINE, "must not lie on a line"),
                      (regular(5, 2), "convex: its edges cross"), (TWICE, "vertices 1 and 2 must differ"),
                      (SHORT, "vertices 1 and 2 must differ")):  # fmt: skip
        with pytest.raises(ModelError, match=f"^surface 'face'.*{said}"):
            surface(bad)
    closed = np.vstack((regular(4), regular(4)[:1]))
    with pytest.raises(ModelError, match="vertices 4 and 0 must differ"):
        surface(closed)
    for lift, is_flat in ((0.5e-4, True), (8e-4, False)):
        bent = regular(4)
        bent[2, 2] += lift
        if is_flat:
            surface(bent)
        else:
            with pytest.raises(ModelError, match=r"must be flat: vertex \d is .* off the plane"):
                surface(bent)


def test_a_surface_says_where_it_is() -> None:
    assert str(FLOOR) == "surface 'floor' fixed in the world: 5 vertices, normal [0, 0, 1]"
    held = Surface("sole", Frame("foot", 2, joint_name="ankle"), regular(3)[::-1])
    assert repr(held) == "<surface 'sole' on joint 'ankle': 3 vertices, normal [0, 0, -1]>"
    assert (FLOOR.joint, held.joint) == (0, 2)
