"""Certificates of closed mechanisms: rank and mobility proved where closures have enclosures, the rest by name."""

from __future__ import annotations

import numpy as np
import pytest
from enclosure_cases import bent, box_of, sampled

from constraints.certificates import CertificateStatus
from constraints.loops import Assembly, assemble_position
from constraints.models import mechanisms


def assembled(name: str) -> Assembly:
    mechanism = getattr(mechanisms, name)()
    robot, rng = mechanism.robot, np.random.default_rng(0)
    while True:
        start = robot.space.integrate(robot.neutral, 0.3 * rng.normal(size=robot.nv))
        found = assemble_position(mechanism.constraint_set(), start)
        if found.success:
            return found


@pytest.mark.parametrize(("name", "mobility"), [("stewart_platform", 6), ("slider_crank", 1)])
def test_mobility_is_what_the_rows_leave_where_their_rank_is_proved(name: str, mobility: int) -> None:
    found = assembled(name)
    certificate = found.certify()
    assert certificate.status is CertificateStatus.PROVED, certificate
    assert certificate.check() == []
    assert found.constraint_set.robot.nv - certificate.rows == mobility
    assert certificate.r < 1e-3


def test_axes_have_no_enclosure_and_say_so() -> None:
    found = assembled("four_bar").certify()
    assert found.status is CertificateStatus.NOT_PROVED
    assert "rows of a rotation" in found.reason


@pytest.mark.parametrize("name", ["stewart_platform", "slider_crank"])
def test_nothing_is_outside_of_the_enclosures_of_closures(name: str) -> None:
    found, rng = assembled(name), np.random.default_rng(1)
    for owner in found.constraint_set.stack:
        f = owner.measured
        box = box_of(f, rng, -3.0, -1.0, found.q)
        enclosure = f.enclosure(box)
        assert sampled(f, box, enclosure, rng, 20, judged=0).outside == 0
        assert bent(enclosure.bend, np.zeros(f.inputs.nv)).contains(f.jacobian(found.q))
