"""Time of each function: its value, its value with its Jacobian, its drift; and of the same thing in plain pinocchio.

    python benchmarks/functions.py [--robot ur5] [--robot talos] [--json FILE] [--check]
    python benchmarks/functions.py --projection      # what projections cost onto functions that users write, on Panda

Times are medians in microseconds of a processor, of single evaluations, each at a new configuration, kinematics
included, as in a step of the solver: a point is moved in its workspace, and the function evaluated into memory that is
there. The plain ones call pinocchio's algorithms and its `SE3` objects, as one writes them by hand; the two take turns.
A function without a counterpart there has none beside it. Before anything is timed the results of both are compared.
The last column is what SciPy, LAPACK or coal takes alone, where a function asks them: least squares, a
pseudo-inverse, a hull, a distance. The last lines name what costs more than 3 times pinocchio's kinematics, those of
`Position`, and 20 us.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import bench_setup
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from plain_functions import Plain, plain_functions, solver_alone
from projected_functions import costs
from timing import in_bursts

import constraints as lc
import constraints.functions as fn
from constraints import Base, ConstraintError, Function, Robot, Workspace
from constraints.collisions import Clearance, CollisionModel, Shape
from constraints.models import sample_arm
from constraints.point import place, place_motion
from liegroups import SE3, R3xSO3, Rn

Vector = NDArray[np.float64]
Row = dict[str, Any]

POINTS = 50
"""Configurations that are gone through."""
FOLDER = "package://example-robot-data/robots"
ROBOTS: dict[str, tuple[str, Base, str, str]] = {
    "ur5": (f"{FOLDER}/ur_description/urdf/ur5_joint_limited_robot.urdf", Base.FIXED, "elbow_joint", "wrist_3_joint"),
    "talos": (
        f"{FOLDER}/talos_data/robots/talos_reduced.urdf", Base.FREE_FLYER, "leg_left_6_joint", "arm_right_7_joint"
    ),
}  # fmt: skip
"""Model, base, and two joints: frame a and frame b are on them."""
EXEMPT = "StaticStability", "ContactForces", "StaticTorques", "SupportPolygon", "ConvexShapeContact", "Clearance"
"""By how their names begin: stability, by least squares, by forces and torques of contacts, by a polygon; contacts,
distances. What nnls, LAPACK, Qhull and coal take alone is shown beside."""
BALL = Shape("ball", "Sphere", (0.1,), placement=[1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
SQUARE = [[0.1, 0.1, 0.0], [-0.1, 0.1, 0.0], [-0.1, -0.1, 0.0], [0.1, -0.1, 0.0]]


@dataclass(frozen=True, eq=False)
class Bench:
    """One robot with its frames and configurations."""

    robot: Robot
    a: str
    b: str
    qs: list[Vector]
    vs: list[Vector]

    @staticmethod
    def of(name: str) -> Bench:
        """One of `ROBOTS`."""
        source, base, a, b = ROBOTS[name]
        robot, rng = Robot.from_urdf(source, base=base, name=name), np.random.default_rng(0)
        qs = [robot.random(rng) for _ in range(POINTS)]
        return Bench(robot, a, b, qs, [rng.uniform(-1.0, 1.0, robot.nv) for _ in qs])


def functions(bench: Bench) -> dict[str, Function]:
    """Each shipped function by name, frames a and b of the bench in it."""
    robot, a, b = bench.robot, bench.a, bench.b
    floor, sole = lc.Surface("floor", robot.frame("universe"), SQUARE), lc.Surface("sole", robot.frame(b), SQUARE)
    grounds = [fn.Support(robot.frame(name), SQUARE, friction=0.5) for name in (a, b)]
    pose, position = lc.Pose(robot, b), lc.Position(robot, b)
    A = np.eye(3, robot.nv, robot.nv - 3)
    return {
        "Position": position,
        "Orientation": lc.Orientation(robot, b),
        "Rotation": lc.Rotation(robot, b),
        "Transformation": lc.Transformation(robot, b),
        "Pose": pose,
        "Pose, R3xSO3": lc.Pose(robot, b, outputs=R3xSO3),
        "Position, relative": lc.Position(robot, b, reference=a),
        "Orientation, relative": lc.Orientation(robot, b, reference=a),
        "Rotation, relative": lc.Rotation(robot, b, reference=a),
        "Transformation, relative": lc.Transformation(robot, b, reference=a),
        "Pose, relative": lc.Pose(robot, b, reference=a),
        "Pose, relative, R3xSO3": lc.Pose(robot, b, reference=a, outputs=R3xSO3),
        "CenterOfMass": lc.CenterOfMass(robot),
        "CenterOfMass, three joints": lc.CenterOfMass(robot, list(robot.joint_names[-3:])),
        "CenterOfMass, relative": lc.CenterOfMass(robot, reference=a),
        "ComBetweenFeet": lc.ComBetweenFeet(robot, a, b, a),
        "StaticStability": fn.StaticStability(robot, grounds),
        "ContactForces": fn.ContactForces(robot, grounds),
        "SupportPolygon": fn.SupportPolygon(robot, grounds),
        "StaticTorques": fn.StaticTorques(robot, grounds),
        "ConvexShapeContact": lc.ConvexShapeContact(robot, floor, sole),
        "ConvexShapeContactComplement": lc.ConvexShapeContactComplement(robot, floor, sole),
        "ConvexShapeContactHold": lc.ConvexShapeContactHold(robot, floor, sole),
        "Affine": lc.Affine(A, None, robot.space),
        "Polynomial": fn.Polynomial([1.0, 2.0, 3.0, 4.0], A[0], 0.5, robot.space),
        "Identity": fn.Identity(robot.space),
        "Constant": fn.Constant(SE3.neutral, SE3, robot.space),
        "FromCallable": Function.from_callable(np.sin, Rn(robot.nv), Rn(robot.nv), lambda q: np.diag(np.cos(q))),
        "Composition: Affine @ Position": lc.Affine([[1.0, 2.0, 3.0]]) @ position,
        "Difference: Pose - Pose": pose - lc.Pose(robot, a),
        "Stacked: Pose, CenterOfMass": lc.Stacked([pose, lc.CenterOfMass(robot)]),
        "Sum: Position, CenterOfMass": fn.Sum([position, lc.CenterOfMass(robot)], [0.5, 0.5]),
        "Restriction: of Transformation": lc.Transformation(robot, b).restricted([2, 3, 4]),
        "direction": fn.direction(robot, b, "z", reference=a),
        "AngleAbout": fn.AngleAbout(robot, b, "z"),
        "across, of a point": fn.across(position, "z"),
        "on a cylinder": fn.norm(fn.across(position, "z")) - 0.1,
        "off_segment": fn.off_segment(position, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        "in_polygon": fn.in_polygon(position, [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        "gaze": fn.gaze(lc.Position(robot, b, reference=a), "z", 0.5),
        "limit_distance": fn.limit_distance(robot),
        "Manipulability, of Position": fn.Manipulability(position),
        "SmallestSingularValue, of Position": fn.SmallestSingularValue(position),
        "Clearance, one pair": Clearance(CollisionModel(robot, [BALL, Shape("hand", "Capsule", (0.05, 0.2), b)])),
        "Lifted: Pose on robot x R2": pose.on(robot.space * Rn(2)),
    }


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A function with the memory that a step of the solver would have."""

    function: Function
    qs: list[Vector]
    vs: list[Vector]

    def calls(self) -> dict[str, Callable[[int], Any]]:
        """Value, value with Jacobian, and drift at configuration i; each returns its result."""
        f, qs, vs = self.function, self.qs, self.vs
        workspace, other = Workspace(), Workspace()
        point = place(f.inputs, qs[0], workspace)
        value, jacobian = np.zeros(f.outputs.nq), np.zeros((f.outputs.nv, f.inputs.nv))
        drift = np.zeros(f.outputs.nv)

        def of_value(i: int) -> Vector:
            point.move(qs[i])
            f.evaluate(point, value)
            return value

        def of_jacobian(i: int) -> Any:
            point.move(qs[i])
            f.evaluate(point, value, jacobian)
            return jacobian

        def of_drift(i: int) -> Vector:
            f.drift(place_motion(f.inputs, qs[i], vs[i], other), drift)
            return drift

        return {"value": of_value, "jacobian": of_jacobian, "drift": of_drift}

    @staticmethod
    def at_points(function: Function, bench: Bench) -> Evaluation:
        """On the configurations of the bench, cut or filled up to the space of the function."""
        nq, nv = function.inputs.nq, function.inputs.nv
        qs, vs = ([np.resize(x, n) for x in xs] for xs, n in ((bench.qs, nq), (bench.vs, nv)))
        return Evaluation(function, qs, vs)


def agree(calls: dict[str, Callable[[int], Any]], plain: Plain) -> float:
    """Largest difference of the two, over a few configurations."""
    worst = 0.0
    for what, other in plain.items():
        for i in range(5):
            ours, theirs = np.array(calls[what](i)), np.array(other(i))
            if what == "value" and ours.size in (4, 7) and ours[-4:] @ theirs[-4:] < 0.0:
                theirs[-4:] *= -1.0  # one rotation
            worst = max(worst, float(np.abs(ours - theirs).max()))
    return worst


def at_all(call: Callable[[int], Any]) -> None:
    """A call at all configurations."""
    for i in range(POINTS):
        call(i)


def measure(bench: Bench, rounds: int, repeats: int) -> list[Row]:
    """One row a function.

    Raises:
        AssertionError: a function and its plain counterpart disagree.
    """
    rows: list[Row] = []
    plain = plain_functions(bench.robot.model, bench.a, bench.b, bench.qs, bench.vs)
    for name, function in functions(bench).items():
        calls = Evaluation.at_points(function, bench).calls()
        others = plain.get(name, {})
        apart = agree(calls, others)
        assert apart < 1e-9, f"{name} and its plain counterpart differ by {apart:.3g}"
        row: Row = {"robot": bench.robot.name, "function": name, "exact_drift": function.has_exact_drift}
        named = (
            calls | {f"{what}_plain": others.get(what) for what in calls} | {"solver": solver_alone(function, bench.qs)}
        )
        over_all = {what: partial(at_all, call) for what, call in named.items() if call is not None}
        times = in_bursts(over_all, rounds, repeats)
        rows.append(row | {what: float(np.median(times[what])) / POINTS if what in times else None for what in named})
    return rows


def line(row: Row) -> str:
    """A row of the table."""
    cells = [f"{row['robot']:6} {row['function']:32}"]
    for what in ("value", "jacobian", "drift"):
        plain = row[f"{what}_plain"]
        mark = "~" if what == "drift" and not row["exact_drift"] else " "
        cells.append(f"{row[what]:8.1f}{mark}{'' if plain is None else f'{plain:7.1f}':7}")
    cells.append("" if row["solver"] is None else f"{row['solver']:7.1f}")
    return " ".join(cells).rstrip()


def dear(rows: list[Row]) -> list[str]:
    """Functions of a robot that cost more than is allowed, with times and limits, of `EXEMPT` ones too."""
    said = list[str]()
    for what in ("value", "jacobian"):
        limit = 3.0 * next(row[f"{what}_plain"] for row in rows if row["function"] == "Position") + 20.0
        for row in rows:
            if row[what] > limit:
                mark = " (exempt)" if row["function"].startswith(EXEMPT) else ""
                own = "" if row["solver"] is None else f", of which the solver's own {row['solver']:.1f}"
                said.append(
                    f"{row['robot']}: {what} of {row['function']}{mark}: {row[what]:.1f} us{own}, limit {limit:.1f}"
                )
    return said


def main() -> int:
    parser = bench_setup.command(__doc__, "json", "check")
    parser.add_argument("--robot", action="append", choices=sorted(ROBOTS), help="only this one; may be repeated")
    parser.add_argument("--projection", action="store_true", help="projections onto functions of users")
    options = parser.parse_args()
    rounds, repeats = (1, 1) if options.check else (9, 4)
    if options.projection:
        panda = Robot.from_urdf(f"{FOLDER}/panda_description/urdf/panda.urdf", name="panda")
        return 0 if costs(panda, "panda_hand", "panda_link4", 300, 15) else 1
    if options.check:
        costs(sample_arm(), "tool", "elbow", 3, 1)
    rows, late = list[Row](), list[str]()
    print(f"{'':39} {'value':>8} {'plain':>7} {'+ J':>8} {'plain':>7} {'drift':>8} {'plain':>7} {'solver':>7}   [us]")
    for name in options.robot or sorted(ROBOTS, reverse=True):
        try:
            bench = Bench.of(name)
        except ConstraintError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
        some = measure(bench, rounds, repeats)
        print("\n".join(map(line, some)))
        rows += some
        late += dear(some)
    print("\n".join(["~: by differences along the manifold", *late]))
    bench_setup.write(options.json, {"unit": "us", "pinocchio": pin.__version__, "times": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
