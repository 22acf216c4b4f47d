"""Spaces, their elements, segments of their coordinates."""

from __future__ import annotations

import operator

import numpy as np
from bad_values import Good, free, point, thing, vector

from constraints import rigid_transform
from liegroups import SE3, SO2, SO3, Element, ProductSpace, R3xSO3, Rn, Segments, Space

SPACES = (Rn(3), SO2, SO3, SE3, R3xSO3, SE3 * Rn(2), SO2 * Rn(1) * SO3)


def of_spaces(good: Good) -> None:
    for space in SPACES:
        calls_of(good, space)
    good(rigid_transform, rpy=vector(3))
    call = good(rigid_transform, vector(3), free(np.eye(3)))
    call.but("rotation", rotation=[np.zeros((3, 3)), 2.0 * np.eye(3), [0.0, 0.0, 0.0], "z", 3, {}])
    good(Rn, free(3)).but(("dimension", "Rn", "integer", "R^n"), n=[-1, 1.5, "3", None, [2], -7])
    good(operator.pow, free(SE3), free(2)).but("power", b=[-1, 0.5, "2", None, [2], -3])
    call = good(ProductSpace, [SO3, Rn(2)], free(["a", "b"])).blamed(spaces=("factor", "space"))
    call.but("names", names=[["a"], ["a", "b", "c"], []]).but("same", names=[["same", "same"]])
    drawn = SE3 * Rn(2)
    sizes = [np.zeros(n) for n in (0, 1, 8, 10)]
    call = good(drawn.random, free(np.random.default_rng(0)), free(np.zeros(9)), free(np.ones(9)))
    call.but("bound", lower=sizes, upper=sizes).given("lower bound", lower=np.full(9, 1.0), upper=np.full(9, -1.0))
    whole = SE3 * Rn(4)
    good(Segments.of, free(whole), free(1)).but("factor", factors0=["SE33", 2, -1, "", 7, 1.5, None])
    good(Segments.of, free(whole), free(1), free(0)).but("twice", factors1=[1])
    call = good(Segments.coordinates, free(whole), free([7, 8])).but("twice", v_indices=[[7, 8, 7]])
    call.but("coordinate", v_indices=[[6, -1], [6, 10], [6, 99]])
    call.but("cut", v_indices=[[0], [0, 1, 2], [5, 6], [0, 1, 2, 3, 4]])
    call.but(("coordinate", "segments"), v_indices=["x", None, 3, [1.5], ["a"], [None], print, [7, 8.5]])
    good(Segments, free((0, 1)), free((0, 1)), free(Rn(2))).but("indices", q=[(0,), (0, 1, 2)])
    part = Segments.of(whole, 0)
    good(operator.or_, free(part), free(part)).but("segments", b=[Segments.coordinates(Rn(10), [2, 7])])


def calls_of(good: Good, space: Space) -> None:
    e, others = free(Element(space.neutral, space)), [thing("Space None"), Element(Rn(9).neutral, Rn(9))]
    good(space.check, point(space), free("elbow pose")).blamed(q="elbow pose")
    good(space.check_tangent, vector(space.nv), free("speed")).blamed(v="speed")
    good(Element, point(space), space).blamed(q="element")
    good(operator.add, e, vector(space.nv)).blamed(b="tangent vector")
    for combined in (operator.sub, operator.mul):
        good(combined, e, e).but("element", b=others)
    good(Element.is_close, e, e).but("element", other=others)
    sizes = [np.ones(n).astype(kind) for n in (space.nq + 1, space.nq + 2, 0) for kind in (float, int, np.float32)]
    n, q, v = space.nq, free(space.neutral), free(np.zeros(space.nv))
    wrong = [*sizes, ["x"] * n, [None] * n, {}, print, "abc", object(), [1j] * n, [True] * n]
    good(space.integrate, q, v).but("configuration", q=wrong).but("tangent", v=wrong)
    for of_two in (space.difference, space.compose):
        good(of_two, q, q).but("configuration", q0=wrong, q1=wrong)
    for of_one in (space.log, space.inverse, space.adjoint):
        good(of_one, q).but("configuration", q=wrong)
    good(space.exp, v).but("tangent", v=wrong)
    good(space.error, q, q, v).but("point", q0=wrong, q1=wrong)
