"""Bounds: boxes on plain numbers, never on entries of unit vectors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pinocchio as pin
import pytest
from robots import humanoid, mixed_model, mixed_tree

from constraints.errors import NotFiniteError, OptionError, SizeError, UnknownJointError, WrongObjectError
from constraints.robot import Bounds, Robot
from constraints.robot.bounds import outside_bounds
from liegroups import SE3, SO3, Rn
from liegroups.errors import EmptyIntervalError

SPACE = Rn(2) * SE3 * SO3


def unit_entries(space) -> np.ndarray:
    mask = np.zeros(space.nq, dtype=bool)
    for block in space.unit_blocks:
        mask[block] = True
    return mask


def test_none_contains_everything():
    bounds = Bounds.none(SPACE)
    assert bounds.contains(np.full(SPACE.nq, 1e250))
    assert bounds.violations(np.full(SPACE.nq, 1e250)) == ()
    assert np.isinf(bounds.tangent_lower).all()
    assert np.isinf(bounds.tangent_upper).all()


def test_entries_of_unit_vectors_have_no_bounds_whatever_the_model_says():
    model = mixed_model()
    rng = np.random.default_rng(0)
    low = rng.uniform(-2.0, -1.0, model.nq)
    model.lowerPositionLimit, model.upperPositionLimit = low, -low
    robot = Robot(model)
    unit = unit_entries(robot.space)
    assert unit.any()
    assert (robot.bounds.lower[unit] == -np.inf).all()
    assert (robot.bounds.upper[unit] == np.inf).all()
    assert (robot.bounds.lower[~unit] == low[~unit]).all()
    assert (robot.bounds.upper[~unit] == -low[~unit]).all()


@pytest.mark.parametrize("large", [1e300, np.finfo(float).max, np.inf])
def test_largest_floats_are_no_bounds(large):
    bounds = Bounds(Rn(3), np.array([-large, -large, 0.0]), np.array([large, 1.0, large]))
    assert bounds.lower.tolist() == [-np.inf, -np.inf, 0.0]
    assert bounds.upper.tolist() == [np.inf, 1.0, np.inf]


def test_tangent_bounds_are_those_of_the_plain_numbers():
    robot = mixed_tree()
    rng = np.random.default_rng(1)
    low = rng.uniform(-2.0, -1.0, robot.nq)
    bounds = Bounds(robot.space, low, -low)
    bounded = np.isfinite(bounds.tangent_lower)
    assert (bounded == np.isfinite(bounds.tangent_upper)).all()
    # The tangent columns with bounds are those along which q moves like a vector, one entry by one column.
    q = robot.random(rng)
    for column in range(robot.nv):
        step = np.zeros(robot.nv)
        step[column] = 0.1
        moved = robot.space.integrate(q, step) - q
        if bounded[column]:
            (entry,) = np.flatnonzero(np.abs(moved) > 1e-12)
            assert moved[entry] == pytest.approx(0.1)
            assert bounds.tangent_lower[column] == bounds.lower[entry]
            assert bounds.tangent_upper[column] == bounds.upper[entry]
    assert not bounded[robot.velocity_slice_of("free")].any()
    assert not bounded[robot.velocity_slice_of("planar")].any()
    assert bounded[robot.velocity_slice_of("composite")].tolist() == [True] * 3 + [False] * 3


def test_what_is_outside_says_its_unit_where_the_space_knows_it():
    model = pin.Model()
    joint = 0
    kinds = {"root": pin.JointModelFreeFlyer(), "slide": pin.JointModelPZ(), "turn": pin.JointModelRX()}
    for name, kind in kinds.items():
        joint = model.addJoint(joint, kind, pin.SE3.Identity(), name)
    space = Robot(model, "crane").space
    box = Bounds(space, np.full(space.nq, -0.25), np.full(space.nq, 0.25))
    q = space.neutral + np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.75])
    said = ["'root[0]' 0.75 m above its bound", "'slide' 0.75 m below its bound", "'turn' 0.5 rad above its bound"]
    assert [str(violation) for violation in box.violations(q)] == said
    assert str(Bounds(Rn(1), np.zeros(1), np.ones(1)).violations([1.5])[0]) == "'R1' 0.5 above its bound"


def test_contains_violations_and_clip_agree():
    robot = humanoid()
    rng = np.random.default_rng(2)
    for _ in range(50):
        q = robot.random(rng)
        assert robot.bounds.contains(q)
        assert robot.bounds.violations(q) == ()
        assert (robot.bounds.clip(q) == q).all()
        entry = int(rng.choice(robot.slice_of("larm3_joint").start + np.arange(3)))
        for side, sign in ((robot.bounds.upper, 1.0), (robot.bounds.lower, -1.0)):
            out = q.copy()
            out[entry] = side[entry] + sign * 0.25
            (found,) = robot.bounds.violations(out)
            assert found.joint == robot.joint_names[entry - 6]
            assert found.entry == entry
            assert found.amount == pytest.approx(sign * 0.25)
            assert not robot.bounds.contains(out)
            assert robot.bounds.contains(out, tolerance=0.2501)
            assert robot.bounds.violations(out, tolerance=0.2501) == ()
            assert robot.bounds.clip(out)[entry] == side[entry]
            assert out[entry] != side[entry]


def test_a_coordinate_on_its_bound_is_inside():
    bounds = Bounds(Rn(1), np.zeros(1), np.ones(1))
    for x, tolerance in ((0.0, 0.0), (1.0, 0.0), (-0.25, 0.25), (1.25, 0.25)):
        assert bounds.contains([x], tolerance)
        assert bounds.violations([x], tolerance) == ()
    assert outside_bounds(()) == []
    assert outside_bounds(bounds.violations([1.5])) == ["  outside the bounds of the robot: 'R1' 0.5 above its bound"]
    assert Bounds(Rn(2), np.zeros(2), np.array([0.0, 1.0])).frozen.tolist() == [True, False]
    bigger = bounds.on(SO3 * Rn(1))
    assert (bigger.lower == [*[-np.inf] * 4, 0.0]).all()
    assert (bigger.upper == [*[np.inf] * 4, 1.0]).all()
    with pytest.raises(SizeError, match="lower bounds"):
        bounds.on(Rn(1) * SO3 * Rn(1))
    with pytest.raises(NotFiniteError, match="upper bounds"):
        Bounds(Rn(2), np.zeros(2), np.array([0.0, np.nan]))
    for lower, upper in ((1e300, 1e301), (-1e301, -1e300)):
        with pytest.raises(EmptyIntervalError):
            Bounds(Rn(1), np.array([lower]), np.array([upper]))


def test_replace_names_joints():
    robot = humanoid()
    bounds = robot.bounds.replace({"root_joint": (-1.0, [1.0, 2.0, 3.0]), "chest_joint": (-0.1, np.array([0.2]))})
    assert bounds.lower[:7].tolist() == [-1.0] * 3 + [-np.inf] * 4
    assert bounds.upper[:7].tolist() == [1.0, 2.0, 3.0] + [np.inf] * 4
    chest = robot.slice_of("chest_joint")
    assert (bounds.lower[chest], bounds.upper[chest]) == (-0.1, 0.2)
    others = np.ones(robot.nq, dtype=bool)
    others[:7] = others[chest] = False
    assert (bounds.lower[others] == robot.bounds.lower[others]).all()
    assert robot.bounds.lower[chest] != -0.1


def test_arrays_are_copies_and_read_only():
    lower, upper = np.zeros(2), np.ones(2)
    bounds = Bounds(Rn(2), lower, upper)
    lower[0] = 0.5
    assert bounds.lower[0] == 0.0
    for array in (bounds.lower, bounds.upper, bounds.tangent_lower, bounds.tangent_upper):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 3.0


def test_pickle_and_deepcopy_keep_the_box():
    bounds = humanoid().bounds
    for other in (pickle.loads(pickle.dumps(bounds)), copy.deepcopy(bounds)):
        assert (other.lower == bounds.lower).all()
        assert (other.upper == bounds.upper).all()
        assert not other.lower.flags.writeable


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"chest_join": (0, 1)}, UnknownJointError, ["chest_join", "chest_joint"]),
        ({"chest_joint": (1.0, -1.0)}, EmptyIntervalError, ["chest_joint", "1", "-1"]),
        ({"chest_joint": (np.nan, 1.0)}, NotFiniteError, ["chest_joint"]),
        ({"chest_joint": (np.inf, np.inf)}, EmptyIntervalError, ["chest_joint"]),
        ({"chest_joint": ([0.0, 0.0], 1.0)}, SizeError, ["chest_joint", "lower"]),
        ({"root_joint": (0.0, [1.0] * 7)}, SizeError, ["root_joint", "upper", "3"]),
        ({"chest_joint": ("a", 1.0)}, WrongObjectError, ["chest_joint", "number"]),
        ({"chest_joint": 1.0}, WrongObjectError, ["chest_joint", "pair"]),
        ({"chest_joint": (0, 1, 2)}, WrongObjectError, ["chest_joint", "pair"]),
        ([1, 2], WrongObjectError, ["mapping", "list"]),
    ],
)
def test_bad_bounds_are_refused_by_name(change, error, words):
    with pytest.raises(error) as caught:
        humanoid().with_bounds(change)
    for word in words:
        assert word in str(caught.value)


def test_a_joint_without_plain_numbers_takes_no_bounds():
    with pytest.raises(OptionError, match="spherical"):
        mixed_tree().with_bounds({"spherical": (-1, 1)})


def test_arrays_of_the_wrong_size_are_refused():
    with pytest.raises(SizeError, match="lower bounds"):
        Bounds(Rn(3), np.zeros(2), np.ones(3))


def test_configurations_of_the_wrong_size_are_refused():
    bounds = Bounds.none(Rn(3))
    for ask in (bounds.contains, bounds.violations, bounds.clip):
        with pytest.raises(SizeError, match="3 numbers"):
            ask(np.zeros(2))


def test_the_model_with_crossed_limits_is_refused_with_the_joint_named():
    model = mixed_model()
    upper = np.array(model.upperPositionLimit)
    upper[2] = -np.inf
    model.upperPositionLimit = upper
    with pytest.raises(EmptyIntervalError, match="rz"):
        Robot(model)
