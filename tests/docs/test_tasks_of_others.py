"""The page of other libraries' constraints and tasks: each of their names has a row, and each line for it runs."""

from __future__ import annotations

import importlib
import re

import numpy as np
import pytest
from docs.pages import text_of
from docs.test_i_want_to import names

import constraints.functions as functions
from constraints import Implicit, Position, Problem, RightHandSide
from constraints.collisions import Clearance

PAGE = text_of("tasks_of_others")
THEIRS = {
    "pink": """
        ComTask DampingTask FrameTask JointCouplingTask JointVelocityTask LinearHolonomicTask LowAccelerationTask
        ManipulabilityTask OmniwheelTask PostureTask RelativeFrameTask RollingTask
        PositionBarrier BodySphericalBarrier SelfCollisionBarrier
        AccelerationLimit ConfigurationLimit FloatingBaseVelocityLimit VelocityLimit
    """,
    "mink": """
        AxisAlignTask ComTask DampingTask DofFreezingTask EqualityConstraintTask FrameTask
        KineticEnergyRegularizationTask LookAtTask PostureTask RelativeFrameTask
        CollisionAvoidanceLimit ConfigurationLimit FreeJointVelocityLimit VelocityLimit
    """,
    "placo": """
        AxisAlignTask AxisPlaneTask CentroidalMomentumTask CoMTask DistanceTask FrameTask GearTask JointsTask
        KineticEnergyRegularizationTask ManipulabilityTask MimicTask OrientationTask PositionTask RegularizationTask
        RelativeFrameTask RelativeOrientationTask RelativePositionTask WheelTask
        AvoidSelfCollisionsConstraint CoMPolygonConstraint ConeConstraint JointSpaceHalfSpacesConstraint YawConstraint
    """,
    "PyRoKi": """
        pose_cost pose_cost_with_base pose_cost_analytic_jac pose_cost_numerical_jac limit_cost limit_velocity_cost
        rest_cost rest_with_base_cost smoothness_cost manipulability_cost self_collision_cost world_collision_cost
        five_point_velocity_cost five_point_acceleration_cost five_point_jerk_cost limit_constraint
        limit_velocity_constraint limit_acceleration_constraint limit_jerk_constraint world_collision_constraint
    """,
    "Drake": """
        AngleBetweenVectorsConstraint AngleBetweenVectorsCost ComInPolyhedronConstraint ComPositionConstraint
        DistanceConstraint GazeTargetConstraint MinimumDistanceLowerBoundConstraint
        MinimumDistanceUpperBoundConstraint OrientationConstraint OrientationCost PointToLineDistanceConstraint
        PointToPointDistanceConstraint PolyhedronConstraint PositionConstraint PositionCost UnitQuaternionConstraint
    """,
    "HPP": """
        ActiveSetDifferentiableFunction AffineFunction ComBetweenFeet ConfigurationConstraint ConvexShapeContact
        ConvexShapeContactComplement DifferentiableFunctionSet DifferentiableFunctionStack Difference
        DistanceBetweenBodies DistanceBetweenPointsInBodies ImplicitFunction LockedJoint Manipulability
        MinManipulability OfParameterSubset Orientation Position QPStaticStability RelativeCom RelativeOrientation
        RelativePose RelativePosition RelativeTransformation StaticStability Transformation
    """,
}
"""Constraints, tasks, limits and barriers, by the libraries' doors and folders of headers; base classes left out."""
ROWS = [row for row in re.findall(r"^\| (.*?) \| (.*) \|$", PAGE, re.MULTILINE) if row[0] not in ("There", "---")]


def said() -> dict[str, list[str]]:
    """The names in the left column, by library."""
    found = {library: list[str]() for library in THEIRS}
    for cell, _ in ROWS:
        for part in cell.split("; "):
            library, _, listed = part.partition(" ")
            found[library] += re.findall(r"`(\w+)`", listed)
    return found


@pytest.mark.parametrize("library", THEIRS)
def test_each_name_has_one_row(library: str) -> None:
    assert sorted(said()[library]) == sorted(THEIRS[library].split())


def test_the_lists_of_an_installed_library_are_its_own() -> None:
    """Of pink, where it is installed: what its doors offer, without what others are made from."""
    pytest.importorskip("pink")
    offered = set[str]()
    for room in ("tasks", "barriers", "limits"):
        offered |= set(importlib.import_module(f"pink.{room}").__all__)
    assert offered - {"Task", "Barrier", "Limit"} == set(THEIRS["pink"].split())


def test_each_line_runs() -> None:
    """Constraints are evaluated too, at a configuration where they are defined."""
    space = names()
    robot = space["robot"]
    space |= {name: getattr(functions, name) for name in dir(functions) if not name.startswith("_")}
    space |= {"p": Position(robot, "tool"), "other": Position(robot, "elbow"), "Clearance": Clearance}
    ran, rng = 0, np.random.default_rng(0)
    for theirs, cell in ROWS:
        for code in re.findall(r"`([^`]+)`", cell):
            if re.fullmatch(r"[\w.]+=?|\w+=[\w.]+", code):
                continue
            made = eval(code, space)
            if isinstance(made, Implicit):
                problem = Problem(made.function.inputs, [made])
                assert isinstance(problem.rhs, RightHandSide), theirs
                assert np.isfinite(made.function.value(problem.space.random(rng))).all(), code
            ran += 1
    assert ran >= 38
