"""Hinges, closures, contacts, constraint sets, assembly."""

from __future__ import annotations

import functools

import numpy as np
from bad_values import Good, Kind, at_least_zero, free, key, number, placement, point, positive, thing, vector
from explicit_samples import arm_and_box
from robots import two_arms

from constraints.loops import (
    AssemblyOptions,
    Axes,
    Baumgarte,
    Closure,
    ConstraintSet,
    Form,
    Hinge,
    PointClosure,
    PointContact,
    RodClosure,
    SurfaceContact,
    assemble_position,
    assemble_velocity,
    to_joint,
)

ROBOT = two_arms()
TOOL, TIP = (
    Kind("left_tool", (lambda c: c.name(["left_tool"]), lambda c: c.thing("None Frame str"))),
    free("right_tool"),
)
ENDS = (free(ROBOT), free("left_tool"), TIP)
AXES = (np.array([1.0, 1.0, 0.0]), np.zeros(3))


@functools.cache
def hands() -> ConstraintSet:
    """A closure."""
    return ConstraintSet(ROBOT, [PointClosure(ROBOT, "left_tool", "right_tool", name="hands")])


def of_hinges(good: Good) -> None:
    z = vector(3, [0.0, 0.0, 1.0])
    for about in (Hinge.pin, Hinge.slider, Hinge.cylindrical, Hinge.planar, Hinge.two_sliders):
        name = "normal" if about in (Hinge.planar, Hinge.two_sliders) else "axis"
        good(about, z).but(name, **{name: AXES})
    good(Hinge.helical, free([0.0, 0.0, 1.0]), number(0.1)).but("pitch", pitch=[0.0])
    call = good(Hinge.universal, free([1.0, 0.0, 0.0]), free([0.0, 1.0, 0.0]))
    call.but("universal", second=[[0.6, 0.8, 0.0], [1.0, 0.0, 0.0]])
    wrong = [[Hinge.pin()] * 2, "pin", 3, [None], None, thing("Hinge").within(lambda x: [x])]
    good(Hinge.custom, free([Hinge.slider(), Hinge.pin()])).but("sub-hinge", subhinges=wrong)
    for hinge in (Hinge.ball(), Hinge.planar(), Hinge.free()):
        good(hinge.placement, point(hinge.space)).blamed(coordinates="hinge coordinates")


def of_closures(good: Good) -> None:
    for kind in (Closure, PointClosure):
        end = ("frame", "predecessor", "successor")
        call = (
            good(kind, ROBOT, TOOL, TIP, target=thing("None")).but("name", name=[thing("str")]).blamed(predecessor=end)
        )
        call.but(end, predecessor=[placement()], successor=[TOOL, placement()]).but("joint", successor=["left_tool"])
    good(Closure, *ENDS, Hinge.pin(), form=Form.DERIVATIVE)
    rates = Hinge.custom([Hinge.pin(), Hinge.slider()])
    good(Closure, *ENDS, free(Hinge.pin()), form=free(Form.RATES), name=free("own")).but("own", hinge=[rates])
    good(RodClosure, *ENDS, positive(1.0))
    masks = [[True] * 5, "xyz", 3, [2] * 6, [True] * 7, np.zeros((2, 6)), [[1.0], [1.0, 2.0]]]
    good(Closure.masked, *ENDS, free([True] * 6)).but("mask", mask=masks)
    wrong = [np.zeros((1, 6)), np.eye(6)[:, :5], np.ones((2, 6)), "x", np.full((1, 6), np.nan), [[1.0], [1.0, 2.0]]]
    good(Closure.along, *ENDS, free(np.eye(6))).but(("axis", "axes"), axes=wrong)
    good(to_joint, Closure(arm_and_box(), "arm/tool", "box/root_joint", Hinge.pin()))


def of_contacts(good: Good) -> None:
    for kind, anchor in ((PointContact, vector(3)), (SurfaceContact, placement())):
        call = good(kind, ROBOT, TOOL, anchor=anchor, axes=Axes.LOCAL, form=Form.DERIVATIVE)
        call.but("name", name=[thing("str")])
    good(PointContact, free(ROBOT), free("left_tool"), vector(3, [0.0, 0.0, 1.0])).but("normal", normal=AXES)


def of_sets(good: Good) -> None:
    rows, neutral = hands(), free(ROBOT.neutral)
    call = good(ConstraintSet, ROBOT, free([])).but("constraints of a set", owners=[3, None, "hands", print])
    call.but("constraint 0", owners=[thing().within(lambda x: [x])])
    names = key("hands").within(lambda x: [x])
    call = good(rows.switched, free([]), free([])).but(("constraint", "hands"), on=[names], off=[names])
    call.but(("constraint", "position"), off=[[2], [7], [-9]])
    call = good(rows.stabilised, free(0.1), free("hands")).but(("constraint", "hands"), which=[key("hands")])
    call.but(("gain", "time", "stabilisation"), gains=["x", None, [], [1.0, 2.0], np.nan, print, 1j, {}])
    call.but("time", gains=[0.0, -0.1, -1.0, -5, np.nan])
    good(rows.position_error, point(ROBOT.space))
    good(rows.drift, neutral, vector(ROBOT.nv)).blamed(v=("v", "velocity"))
    gain = at_least_zero(1.0)
    good(Baumgarte, gain, gain).blamed(position_gain="position gain", velocity_gain="velocity gain")
    good(rows.row_name, free(0)).but("row", row=[3, -1, 99])


def of_assembly(good: Good) -> None:
    rows, n, q0 = hands(), ROBOT.nv, point(ROBOT.space)
    call = good(assemble_position, rows, q0, weights=vector(n, np.ones(n)), rhs=rows.rhs_at(0.0))
    call.blamed(weights=("weights", "joint")).but(
        ("joint", "frozen"), driven=[key(*ROBOT.joint_names).within(lambda x: [x])]
    )
    call.but("stay_on_branch", stay_on_branch=[-1.0, "x", [1.0], np.nan])
    call.but("tolerance", tolerance=[positive(1e-9)]).but("max_iterations", max_iterations=[-1, 2.5, "x"])
    good(assemble_velocity, rows, free(ROBOT.neutral), vector(n))
    good(AssemblyOptions, tolerance=positive(1e-9), max_iterations=40)
