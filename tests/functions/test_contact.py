"""Contact surfaces: polygons, rows of the contact, its complement, both together, and the explicit form."""

from __future__ import annotations

import functools
import itertools
import math
import pickle

import enclosure_cases as cases
import fifty_digits as digits
import numpy as np
import pinocchio as pin
import pytest
from robots import arm
from scipy.special import hyp2f1

from constraints import (
    ConvexShapeContact,
    ConvexShapeContactComplement,
    ConvexShapeContactHold,
    Implicit,
    Position,
    Problem,
    Projector,
    Robot,
    Status,
    Surface,
    explicit_contact,
)
from constraints.certificates import certify
from constraints.errors import (
    DtypeError,
    DuplicateNameError,
    ModelError,
    NotFiniteError,
    OptionError,
    SizeError,
    UndefinedError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.functions import TangentBox
from constraints.functions.contact.contact_pose import PoseOfContact
from constraints.functions.enclosures.smooth import LARGEST_TILT, OF_TILTS
from constraints.testing import check_function
from liegroups import SE3

PENTAGON = [[-0.4, -0.3, 0.1], [0.3, -0.4, 0.1], [0.6, 0.1, 0.1], [0.1, 0.5, 0.1], [-0.5, 0.3, 0.1]]
KINDS = (ConvexShapeContact, ConvexShapeContactComplement, ConvexShapeContactHold)
FACE = [[-0.05, -0.1, 0.0], [-0.05, 0.1, 0.0], [0.05, 0.1, 0.0], [0.05, -0.1, 0.0]]


@functools.cache
def boxes() -> Robot:
    """Two free-flyers, "below" and "above", whose joints are placed somewhere."""
    model = pin.Model()
    rng = np.random.default_rng(3)
    for name in ("below", "above"):
        joint = model.addJoint(
            0, pin.JointModelFreeFlyer(), pin.XYZQUATToSE3(SE3.random(rng, np.full(7, -1.0), np.full(7, 1.0))), name
        )
        model.addJointFrame(joint)
    return Robot(model, "boxes")


def rectangle(at: pin.SE3, width: float, depth: float) -> np.ndarray:
    """A rectangle in the plane of a placement, its normal along z."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * [width / 2, depth / 2, 0]
    return corners @ at.rotation.T + at.translation


@functools.cache
def floors() -> tuple[Surface, Surface]:
    """Two faces of the lower box: the top and a side."""
    frame = boxes().frame("below")
    top, side = pin.SE3(np.eye(3), np.array([0, 0, 0.5])), pin.SE3(pin.utils.rotate("x", 1.2), np.array([0, -0.9, 0.2]))
    return Surface("top", frame, rectangle(top, 1.0, 0.8)), Surface("side", frame, rectangle(side, 0.6, 0.4))


@functools.cache
def soles() -> tuple[Surface, Surface]:
    """Two faces of the upper box: the bottom and an end."""
    frame = boxes().frame("above", pin.SE3(pin.utils.rotate("z", 0.3), np.array([0.01, 0.02, 0.0])))
    bottom = pin.SE3(pin.utils.rotate("x", math.pi), np.array([0, 0, -0.1]))
    end = pin.SE3(pin.utils.rotate("y", math.pi / 2), np.array([0.3, 0, 0]))
    return Surface("bottom", frame, rectangle(bottom, 0.5, 0.2)), Surface("end", frame, rectangle(end, 0.2, 0.2))


def placed(pose: pin.SE3, floor: Surface, sole: Surface, seed: int = 0) -> np.ndarray:
    """A configuration in which the sole has that pose seen from the floor (both x axes into the floor)."""
    q = boxes().random(np.random.default_rng(seed))
    data = boxes().model.createData()
    pin.forwardKinematics(boxes().model, data, q)
    parent = boxes().model.jointPlacements[2]
    oMs = data.oMi[floor.joint] * floor.inward * pose
    q[7:] = pin.SE3ToXYZQUAT(parent.actInv(oMs * sole.outward.inverse()))
    return q


def contact_pose(y: float, z: float, turn: float = 0.0, height: float = 0.0) -> pin.SE3:
    return pin.SE3(pin.utils.rotate("x", turn), np.array([-height, y, z]))


# Polygons


def test_frames_of_a_surface():
    """The normal points to where vertices are seen counter-clockwise; the origin is their mean; `inward` looks down."""
    surface = Surface("floor", arm().frame("universe"), PENTAGON)
    corners = np.array(PENTAGON)
    np.testing.assert_allclose(surface.outward.translation, corners.mean(axis=0))
    np.testing.assert_allclose(surface.outward.rotation[:, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(surface.inward.rotation[:, 0], [0, 0, -1], atol=1e-15)
    for frame in (surface.outward, surface.inward):
        np.testing.assert_allclose(frame.rotation.T @ frame.rotation, np.eye(3), atol=1e-15)
        assert np.linalg.det(frame.rotation) > 0
    in_frame = np.c_[np.zeros(5), surface.polygon] @ surface.inward.rotation.T + surface.inward.translation
    np.testing.assert_allclose(in_frame[::-1], corners, atol=1e-15)
    assert surface.joint == 0


@pytest.mark.parametrize(
    ("points", "error", "said"),
    [
        ([[0, 0, 0], [1, 0, 0]], SizeError, "3 rows"),
        ([[0, 0], [1, 0], [1, 1]], SizeError, "3 rows"),
        ([[0, 0, 0], [1, 0, 0], [1, 1, np.nan]], NotFiniteError, "floor"),
        ("corners", DtypeError, "floor"),
        ([[0, 0, 0], [1, 0]], WrongObjectError, "vertices"),
    ],
)
def test_bad_polygons_are_refused(points, error, said):
    with pytest.raises(error, match=said):
        Surface("floor", arm().frame("universe"), points)


# Rows


def test_rows_of_the_contact_take_a_pose_apart():
    """Truth from plain pinocchio: swing times twist is the rotation, point and rest make the translation."""
    floor, sole = floors()[0], soles()[0]
    hold = ConvexShapeContactHold(boxes(), floor, sole, 0.01)
    rng = np.random.default_rng(1)
    for i in range(200):
        pose = pin.XYZQUATToSE3(SE3.random(rng, np.full(7, -1.0), np.full(7, 1.0)))
        h = hold.value(placed(pose, floor, sole, i))
        twist = math.atan2(h[8], h[7])
        swing = np.array([0.0, h[3], h[4]])
        np.testing.assert_allclose(pin.exp3(swing) @ pin.utils.rotate("x", twist), pose.rotation, atol=2e-9)
        assert np.linalg.norm(swing) == pytest.approx(math.acos(pose.rotation[0, 0]), abs=1e-7)
        np.testing.assert_allclose([h[0] - 0.01, h[1] + h[5], h[2] + h[6]], pose.translation, atol=1e-12)
        y, z = np.abs(pose.translation[1:])
        inside = y <= 0.5 and z <= 0.4
        assert (np.abs(h[1:3]).max() == 0.0) == inside
        assert math.hypot(*h[1:3]) == pytest.approx(math.hypot(max(y - 0.5, 0), max(z - 0.4, 0)), abs=1e-12)


def test_contact_and_complement_are_the_rows_of_the_hold():
    for margin, pair in ((0.0, None), (0.2, ("side", "end"))):
        functions = [kind(boxes(), floors(), soles(), margin, pair) for kind in KINDS]
        q = boxes().random(np.random.default_rng(5))
        contact, complement, hold = (f.linearise(q) for f in functions)
        np.testing.assert_array_equal(np.r_[contact.value, complement.value], hold.value)
        np.testing.assert_array_equal(np.r_[contact.jacobian, complement.jacobian], hold.jacobian)


@pytest.mark.parametrize("start", [(0.5, 0.1), (0.2, 0.4), (0.5, 0.4)], ids=["edge", "other edge", "corner"])
def test_the_value_is_continuous_where_the_contact_crosses_an_edge(start):
    """Property 22: the value changes no more than the contact point moves, whichever way it leaves the polygon."""
    floor, sole = floors()[0], soles()[0]
    for function in (
        ConvexShapeContact(boxes(), floor, sole),
        ConvexShapeContactComplement(boxes(), floor, sole),
        ConvexShapeContactHold(boxes(), floor, sole),
    ):
        for direction in np.linspace(0.0, 2 * math.pi, 17):
            step = 1e-7 * np.array([math.cos(direction), math.sin(direction)])
            before, after = (
                function.value(placed(contact_pose(start[0] + k * step[0], start[1] + k * step[1], 0.4), floor, sole))
                for k in (-1, 1)
            )
            assert np.linalg.norm(after - before) <= 2.0 * 1e-7 * math.sqrt(2.0) + 1e-12


def test_the_value_is_continuous_where_the_object_turns_by_half_a_turn():
    """Tilted objects too: the logarithm of the pose would jump there."""
    floor, sole = floors()[0], soles()[0]
    hold = ConvexShapeContactHold(boxes(), floor, sole)
    for tilt in (0.0, 1e-6, 0.3, 2.0):
        values = []
        for turn in (math.pi - 1e-7, math.pi + 1e-7):
            pose = contact_pose(0.1, 0.2, turn)
            pose.rotation = pin.exp3(np.array([0.0, tilt * 0.6, tilt * 0.8])) @ pose.rotation
            values.append(hold.value(placed(pose, floor, sole)))
        assert np.abs(values[1] - values[0]).max() < 1e-6


def test_an_object_that_stands_on_its_head_is_turned():
    """Exactly upside down the direction in which to turn is a choice: the projection leaves."""
    floor, sole = floors()[0], soles()[0]
    pose = contact_pose(0.1, 0.2, 0.3)
    pose.rotation = pin.utils.rotate("z", math.pi) @ pose.rotation
    problem = Problem(boxes(), [Implicit.zero(ConvexShapeContact(boxes(), floor, sole))], frozen=["below"])
    q = placed(pose, floor, sole)
    assert problem.residual(q) == pytest.approx(math.pi)
    assert Projector(problem).project(q).success


# Pairs


def test_the_pair_with_the_smallest_error_counts():
    """The pair found is the one with the smallest norm of its own contact; the value is that contact's."""
    contact = ConvexShapeContact(boxes(), floors(), soles())
    assert contact.pairs == tuple(itertools.product(("top", "side"), ("bottom", "end")))
    single = {pair: ConvexShapeContact(boxes(), floors(), soles(), pair=pair) for pair in contact.pairs}
    rng = np.random.default_rng(2)
    found = set()
    for _ in range(60):
        q = boxes().random(rng)
        values = {pair: function.value(q) for pair, function in single.items()}
        nearest = min(values, key=lambda pair: np.linalg.norm(values[pair]))
        assert contact.pair_at(q) == nearest
        np.testing.assert_array_equal(contact.value(q), values[nearest])
        found.add(nearest)
    assert len(found) == 4


def test_names_of_pairs_are_checked():
    with pytest.raises(UnknownNameError, match="top"):
        ConvexShapeContact(boxes(), floors(), soles(), pair=("tpo", "bottom"))
    with pytest.raises(UnknownNameError, match="bottom"):
        ConvexShapeContact(boxes(), floors(), soles(), pair=("top", "botom"))
    with pytest.raises(WrongObjectError, match="two names"):
        ConvexShapeContact(boxes(), floors(), soles(), pair="top")  # pyright: ignore[reportArgumentType]
    with pytest.raises(DuplicateNameError, match="top"):
        ConvexShapeContact(boxes(), [floors()[0], floors()[0]], soles())
    with pytest.raises(SizeError, match="at least one"):
        ConvexShapeContact(boxes(), [], soles())
    with pytest.raises(OptionError, match="margin"):
        ConvexShapeContact(boxes(), floors(), soles(), -1e-3)
    with pytest.raises(UnknownNameError, match="bottom"):
        ConvexShapeContact(boxes(), floors(), soles()).surfaces_of(("top", "back"))
    with pytest.raises(ModelError, match="below"):
        ConvexShapeContact(arm(), floors(), soles())


# Explicit


@pytest.mark.parametrize("leaf", range(4))
def test_explicit_placement_on_each_leaf(leaf):
    """Property 22: two boxes with 2 x 2 faces, 4 leaves, 100 starts each: the explicit form always succeeds, the
    supporting box does not move by a bit, the relative pose is the reference to 1e-6."""
    contact = ConvexShapeContact(boxes(), floors(), soles())
    floor, sole = floors()[leaf // 2], soles()[leaf % 2]
    rng = np.random.default_rng(leaf)
    pose = contact_pose(rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2), rng.uniform(-3.0, 3.0))
    q0 = placed(pose, floor, sole, leaf)
    assert contact.pair_at(q0) == (floor.name, sole.name)
    hold = ConvexShapeContactHold(boxes(), floors(), soles(), pair=contact.pair_at(q0))
    problem = Problem(boxes(), [explicit_contact(hold, name="stands")])
    assert problem.reduced_size == 0
    rhs = problem.rhs_from(q0)
    projector = Projector(problem)
    data = boxes().model.createData()
    pin.forwardKinematics(boxes().model, data, q0)
    reference = data.oMi[1].actInv(data.oMi[2])
    successes = 0
    for _ in range(100):
        start = boxes().random(rng)
        result = projector.project(start, rhs)
        successes += result.success
        assert result.q[:7].tobytes() == start[:7].tobytes()
        pin.forwardKinematics(boxes().model, data, result.q)
        apart = reference.actInv(data.oMi[1].actInv(data.oMi[2]))
        assert np.abs(pin.log6(apart).vector).max() < 1e-6
        assert problem.is_satisfied(result.q, rhs=rhs)
        assert np.linalg.norm(contact.value(result.q)) < 1e-6
    assert successes == 100


def test_the_explicit_form_and_the_rows_agree_with_a_margin():
    """A configuration that satisfies the rows gives the right-hand side that leads back to it."""
    floor, sole = floors()[0], soles()[0]
    hold = ConvexShapeContactHold(boxes(), floor, sole, 0.05)
    explicit = explicit_contact(hold)
    q = placed(contact_pose(0.2, -0.1, 1.0, height=0.05), floor, sole)
    problem = Problem(boxes(), [explicit])
    assert problem.is_satisfied(q, rhs=problem.rhs_from(q), threshold=1e-9)
    moved = q.copy()
    moved[7:10] += 0.5
    back = Projector(problem).project(moved, problem.rhs_from(q)).q
    np.testing.assert_allclose(boxes().space.difference(q, back), 0.0, atol=1e-9)
    assert Projector(problem).project(moved).success  # the default: at the centre of the floor


def test_a_place_outside_the_floor_is_no_contact():
    """A right-hand side outside the polygon ends in a status that says so, not in a success; one that is read from a
    configuration outside is the nearest place inside."""
    floor, sole = floors()[0], soles()[0]
    problem = Problem(boxes(), [explicit_contact(ConvexShapeContactHold(boxes(), floor, sole))])
    q = placed(contact_pose(0.7, 0.0), floor, sole)
    inside = problem.rhs_from(q)
    assert inside.of(0)[5] == 0.5
    assert Projector(problem).project(q, inside).success
    outside = inside.replace(0, np.r_[np.zeros(5), 0.7, 0.0, 1.0, 0.0])
    assert Projector(problem).project(q, outside).status is Status.UNDEFINED


def test_an_explicit_contact_needs_one_pair_and_a_free_object():
    with pytest.raises(OptionError, match=r"top.*bottom"):
        explicit_contact(ConvexShapeContactHold(boxes(), floors(), soles()))
    with pytest.raises(WrongObjectError, match="ConvexShapeContactHold"):
        explicit_contact(ConvexShapeContact(boxes(), floors()[0], soles()[0]))  # pyright: ignore[reportArgumentType]
    table = Surface("table", arm().frame("universe"), PENTAGON)
    foot = Surface("foot", arm().frame("tool"), FACE)
    with pytest.raises(WrongObjectError, match="free-flyer"):
        explicit_contact(ConvexShapeContactHold(arm(), table, foot))


def test_the_pose_of_a_contact_has_its_jacobian():
    check_function(explicit_contact(ConvexShapeContactHold(boxes(), floors()[0], soles()[0], 0.1)).output_function())
    rhs_map = explicit_contact(ConvexShapeContactHold(boxes(), floors()[0], soles()[0], 0.1)).rhs_map
    assert rhs_map is not None
    rng = np.random.default_rng(0)
    places = [rhs_map.inputs.random(rng, np.full(9, -0.35), np.full(9, 0.35)) for _ in range(10)]
    check_function(rhs_map, places, tolerance=1e-8)


def test_contacts_pickle():
    contact = ConvexShapeContact(boxes(), floors(), soles(), 0.01)
    q = boxes().random(np.random.default_rng(0))
    copy = pickle.loads(pickle.dumps(contact))
    np.testing.assert_array_equal(copy.value(q), contact.value(q))
    assert copy.pair_at(q) == contact.pair_at(q)


# Enclosures


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("y", "z"), [(0.1, 0.1), (0.499, 0.1), (0.5, 0.3), (0.52, 0.43)], ids=["in", "edge", "on", "corner"]
)
def test_nothing_is_outside_of_an_enclosure_near_the_floor(kind, y, z):
    """Inside of the polygon, across its edge and its corner; tilted by nothing, by little and by much."""
    rng = np.random.default_rng(4)
    contact = kind(boxes(), floors()[0], soles()[0], 0.01)
    for i, tilt in enumerate((0.0, 1e-7, 0.01, 0.04, 1.5)):
        pose = contact_pose(y, z, rng.uniform(-3.0, 3.0), 0.01)
        box = TangentBox(
            contact.inputs, placed(pose * pin.SE3(pin.utils.rotate("y", tilt), np.zeros(3)), *_pair(0)), 3e-3
        )
        enclosure = contact.enclosure(box)
        assert cases.sampled(contact, box, enclosure, rng, 20, judged=0).outside == 0
        v = cases.step_in(box, rng, i % 2 == 0)
        assert not cases.outside_in_digits(contact, box, enclosure, v, int(rng.integers(12)))
        assert not cases.outside_in_digits(contact, box, enclosure, np.zeros(12), 0)


def test_rows_inside_of_the_polygon_are_zero_on_all_of_a_box():
    contact = ConvexShapeContact(boxes(), floors()[0], soles()[0])
    found = contact.enclosure(TangentBox(contact.inputs, placed(contact_pose(0.1, 0.1), *_pair(0)), 1e-3))
    assert found.error[1:3].max() < 1e-299
    assert not found.jacobian.magnitude[1:3].any()
    assert (
        contact.enclosure(TangentBox(contact.inputs, placed(contact_pose(0.499, 0.1), *_pair(0)), 3e-3))
        .error[1:3]
        .any()
    )


def test_a_contact_is_certified_and_no_row_of_it_is_left_out():
    """Well inside both rows of the polygon hold on all of a box. Just inside of an edge they hold at the start, and the
    other row asks for a place just outside, where they do not: nothing may be proved."""
    floor, sole = floors()[0], soles()[0]
    contact = Implicit.zero(ConvexShapeContact(boxes(), floor, sole), name="contact")
    middle = Position(boxes(), boxes().frame("above", sole.outward), boxes().frame("below", floor.inward))
    for y, is_proved in ((0.2, True), (0.5, False)):
        aim = Implicit.equal(middle[1:], [y + 1e-10, 0.1], name="place")
        found = certify(Problem(boxes(), [contact, aim]), placed(contact_pose(y - 1e-10, 0.1), floor, sole))
        assert found.success == is_proved
        assert found.check() == [] or not is_proved
    assert (
        found.reason
        == "on the boxes that were tried: row 1 of 'contact' holds at the centre only, and has no slope there"
    )


def test_what_has_no_enclosure_says_why():
    upside_down = contact_pose(0.0, 0.0) * pin.SE3(pin.utils.rotate("y", 3.1), np.zeros(3))
    for kind in KINDS:
        contact = kind(boxes(), floors()[0], soles()[0])
        if kind is not ConvexShapeContactComplement:
            with pytest.raises(UndefinedError, match="stand on its head"):
                contact.enclosure(TangentBox(contact.inputs, placed(upside_down, *_pair(0)), 0.1))
        several = kind(boxes(), floors(), soles())
        assert (
            several.enclosure(TangentBox(several.inputs, placed(contact_pose(0.3, 0.0), *_pair(0)), 1e-3)) is not None
        )
        with pytest.raises(UndefinedError, match="which of its pairs"):
            several.enclosure(TangentBox(several.inputs, placed(contact_pose(0.5, 0.0), *_pair(0)), 0.2))


def test_poses_of_contacts_are_enclosed():
    """Tilted and off the plane as well: right-hand sides may be anything."""
    rng = np.random.default_rng(6)
    pose = PoseOfContact(floors()[0], 0.02)
    for size in (0.0, 1e-6, 1e-3, 0.05):
        for tilt in (0.0, 0.3, 1.2):
            phi = rng.uniform(-3.0, 3.0)
            h = np.r_[0.1, 0.02, -0.03, tilt * rng.uniform(-1.0, 1.0, 2), 0.2, 0.1, math.cos(phi), math.sin(phi)]
            box = TangentBox(pose.inputs, h, size)
            enclosure = pose.enclosure(box)
            assert cases.sampled(pose, box, enclosure, rng, 10, judged=1).outside == 0
            assert not cases.outside_in_digits(pose, box, enclosure, np.zeros(8), int(rng.integers(8)))
    with pytest.raises(UndefinedError, match="outside of the surface 'top'"):
        pose.enclosure(TangentBox(pose.inputs, np.r_[np.zeros(5), 0.49, 0.0, 1.0, 0.0], 0.02))


def test_the_series_of_a_tilt_are_right_in_50_digits():
    """A hundredth of what the enclosure takes, from no tilt to the largest one."""
    largest = 0.5 * (1.0 - math.cos(LARGEST_TILT))
    for x in [0.0, 1e-300, *np.geomspace(1e-16, largest, 60).tolist()]:
        for a, c in ((1.0, 1.5), (2.0, 2.5), (3.0, 3.5)):
            assert abs(digits.mp.mpf(float(hyp2f1(a, a, c, x))) / digits.mp.hyp2f1(a, a, c, x) - 1) < 0.01 * OF_TILTS


def _pair(i: int) -> tuple[Surface, Surface]:
    return floors()[i], soles()[i]
