"""Certificates as data: written, read, checked again; a number that is changed is found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import certificate_claims as claims
import numpy as np
import path_claims
import pytest
from robots import arm, ur5

from constraints import Bounds, Implicit, Options, Pose, Position, Problem, Report, project
from constraints.certificates import Certificate, CertificateStatus, certify, certify_path
from constraints.certificates.path_certificate import PathCertificate
from constraints.errors import FileContentError, WrongObjectError
from constraints.files import load_certificate, save_certificate
from constraints.files.certificates import certificate_data
from constraints.files.documents import text_of
from constraints.functions import stack
from constraints.functions.affine import Identity
from constraints.paths import MovingRightHandSide, Path
from constraints.paths.path import Piece
from liegroups import Rn

NOT_PROVED = CertificateStatus.NOT_PROVED


def of_a_configuration() -> Certificate:
    problem, q, sides = claims.well_posed(1)
    return certify(problem, q, sides)


def of_a_path() -> PathCertificate:
    return certify_path(path_claims.path_through(path_claims.circle(), path_claims.arc(0.0, 0.4, 4)))


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b) if isinstance(a, np.ndarray | float) else a == b


@pytest.mark.parametrize("make", [of_a_configuration, of_a_path])
def test_a_certificate_is_read_as_it_was_written(make: Any, tmp_path: File) -> None:
    found, file = make(), tmp_path / "certificate.json"
    save_certificate(found, file)
    again = load_certificate(file)
    assert type(again) is type(found)
    assert all(same(value, getattr(again, name)) for name, value in vars(found).items())
    assert again.check() == []


def test_what_is_not_proved_is_kept_with_its_reason(tmp_path: File) -> None:
    robot = arm()
    far = certify(Problem(robot, [Implicit.equal(Position(robot, "tool"), [9.0, 0.0, 0.0])]), robot.neutral)
    jumps = certify_path(path_claims.between_elbows(0))
    nothing = certify(Problem(Rn(1), [Implicit.below(Identity(Rn(1)), 5.0)]), [1.0])
    for i, found in enumerate((far, jumps, nothing)):
        save_certificate(found, tmp_path / f"{i}.json")
        again = load_certificate(tmp_path / f"{i}.json")
        assert str(again) == str(found)
        assert again.success == found.success


def test_words_in_the_place_of_numbers_and_other_kinds_are_refused(tmp_path: File) -> None:
    file = tmp_path / "certificate.json"
    save_certificate(of_a_path(), file)
    for where, key, words in ((("legs", 1, "numbers"), "residual_lower", "lower"), ((), "of", "of")):
        data = json.loads(file.read_text(encoding="utf-8"))
        entry = data["certificate"]
        for step in where:
            entry = entry[step]
        entry[key] = "lower"
        (tmp_path / "other.json").write_text(json.dumps(data), encoding="utf-8")
        with pytest.raises(FileContentError, match=words):
            load_certificate(tmp_path / "other.json")


def of_two_curves() -> PathCertificate:
    """Two pieces that ask for different things: on circles whose radii differ by 1e-12."""
    problem, Q = path_claims.circle(), path_claims.arc(0.0, 0.4, 5)
    other = problem.check_rhs(problem.rhs.vector + 1e-12)
    sides = (MovingRightHandSide(problem.rhs), MovingRightHandSide(other))
    times = np.array([0.0, 0.5, 1.0])
    parts = zip(sides, (Q[:3], Q[2:]), strict=True)
    found = certify_path(Path(tuple(Piece(problem, side, part, times, Options.local()) for side, part in parts)))
    assert (found.success, found.curves) == (True, 2)
    return found


def of_a_humanoid() -> Certificate:
    problem, q, sides = claims.well_posed(3)
    return certify(problem, problem.space.integrate(q, claims.noise(3, problem, 1e-6)), sides)


def at_a_bound() -> Certificate:
    x = Identity(Rn(3))
    circle = Implicit.equal(x[0] * x[0] + x[1] * x[1], [1.0])
    found = certify(
        Problem(Rn(3), [circle], Bounds(Rn(3), np.full(3, -2.0), np.array([2.0, 2.0, 0.5]))), [1.0, 0.1, 0.6]
    )
    assert found.held
    return found


def _without(entry: Any, first: int, last: int) -> None:
    """Without some legs, and the stops at their ends."""
    del entry["legs"][first:last], entry["stops"][first:last], entry["times"][first:last]


def _curve_elsewhere(entry: Any) -> None:
    """The second curve is 1e-3 farther, and so are its stops."""
    for ends in [entry["stops"][3:], *(leg["ends"] for leg in entry["legs"][2:])]:
        for end in ends:
            end[0] += 1e-3


TAMPERED: list[tuple[Any, str, Any]] = [
    (of_a_path, "no legs", lambda e: e.update(legs=[])),
    (of_a_path, "no legs", lambda e: e.update(legs=[], stops={"shape": [0, 2]}, times=[])),
    (of_a_path, "stops are not the ends", lambda e: e["legs"].pop()),
    (of_a_path, "begin where the leg before ends", lambda e: e["legs"].pop(1)),
    (of_a_path, "begin where the leg before ends", lambda e: _without(e, 1, 2)),
    (of_a_path, "begin where the leg before ends", lambda e: e["legs"].reverse()),
    (of_a_path, "begin where the leg before ends", lambda e: e["legs"][0].update(joined=True)),
    (of_a_path, "stops are not the ends", lambda e: e["legs"][1].update(joined=False)),
    (of_a_path, "stops are not the ends", lambda e: e["stops"][-1].__setitem__(0, e["stops"][-1][0] + 1.0)),
    (of_a_path, "stops are not the ends", lambda e: e["stops"][1].__setitem__(1, e["stops"][1][1] + 1e-15)),
    (of_a_path, "no two configurations", lambda e: e["legs"][1].update(ends=[0.0, 1.0])),
    (of_a_path, "times", lambda e: e["times"].reverse()),
    (of_a_path, "times", lambda e: e.update(times=[0.0] * 4)),
    (of_a_path, "times", lambda e: e.update(times=[0.1, 0.2, 0.3, 0.4])),
    (of_a_path, "times", lambda e: e["times"].pop()),
    (of_a_path, "moved", lambda e: e.update(moved=-1.0)),
    (of_a_path, "R = 0", lambda e: e.update(R=0.0)),
    (of_a_path, "stretch", lambda e: e["legs"][0]["numbers"].update(spread=[[0.5]])),
    (of_a_path, "pull", lambda e: e["legs"][0].update(pull=0.0)),
    (of_a_path, "no reason", lambda e: e.update(reason="why")),
    (of_two_curves, "times", lambda e: e["times"].__setitem__(3, e["times"][3] + 0.1)),
    (of_two_curves, "its curve begins", _curve_elsewhere),
    (of_two_curves, "stops are not the ends", lambda e: e["legs"][2].update(joined=True)),
    (of_a_configuration, "from the center", lambda e: e.update(q=[0.0] * len(e["q"]))),
    (of_a_configuration, "from the center", lambda e: e["q"].__setitem__(2, e["q"][2] + 1e-9)),
    (of_a_configuration, "center has shape", lambda e: e["center"].pop()),
    (of_a_configuration, "no space", lambda e: (e["q"].pop(), e["center"].pop())),
    (of_a_configuration, "orthonormal", lambda e: e.update(basis=[[0.0] * 5] * 7)),
    (of_a_configuration, "basis has shape", lambda e: e.update(basis=[[0.0] * 4] * 7)),
    (of_a_configuration, "spread", lambda e: e["numbers"].update(spread=[[0.0] * 5] * 7)),
    (of_a_configuration, "rows is 0", lambda e: e.update(rows=0)),
    (of_a_configuration, "held", lambda e: e.update(held=["j1"])),
    (of_a_configuration, "no reason", lambda e: e.update(open=["row 0 of 'tool'"])),
    (of_a_humanoid, "from the center", lambda e: e["q"].__setitem__(0, e["q"][0] + 0.01)),
    (of_a_humanoid, "from the center", lambda e: e.update(q=[0.0] * len(e["q"]))),
    (of_a_humanoid, "spread", lambda e: e["numbers"].update(spread=[[0.0] * len(x) for x in e["numbers"]["spread"]])),
    (at_a_bound, "held", lambda e: e["held"].extend(["a", "b"])),
]


@pytest.mark.parametrize("make", dict.fromkeys(entry[0] for entry in TAMPERED))
def test_a_file_that_contradicts_itself_is_refused(make: Any, tmp_path: File) -> None:
    file = tmp_path / "certificate.json"
    save_certificate(make(), file)
    text = file.read_text(encoding="utf-8")
    assert load_certificate(file).success
    for _, words, change in (entry for entry in TAMPERED if entry[0] is make):
        data = json.loads(text)
        change(data["certificate"])
        file.write_text(json.dumps(data), encoding="utf-8")
        with pytest.raises(FileContentError, match=f"do not prove it: .*{words}"):
            load_certificate(file)


def test_a_quaternion_and_its_negative_are_one_configuration() -> None:
    found = of_a_humanoid()
    q = found.q.copy()
    q[3:7] *= -1.0
    assert replace(found, q=q).check() == []
    q[3:7] = found.q[[4, 3, 5, 6]]
    assert "from the center" in replace(found, q=q).check()[0]


def test_a_report_holds_the_certificate_of_its_own_result(tmp_path: File) -> None:
    robot, file = ur5(), tmp_path / "report.json"
    far = project(robot, [Implicit.equal(Position(robot, "tool0"), [9.0, 0.0, 0.0])], robot.neutral)
    near = project(robot, [Implicit.equal(Position(robot, "tool0"), [0.3, 0.2, 0.3])], robot.neutral + 0.5).or_raise()
    for other in (near.certify(), of_a_configuration()):
        assert other.success
        with pytest.raises(WrongObjectError, match="of the same q bit for bit, got one of another configuration"):
            far.report(file, other)
    assert not file.exists()
    far.report(file, far.certify())
    assert Report.load(file).certificate is not None
    near.report(file, near.certify())
    data, own = json.loads(file.read_text(encoding="utf-8")), near.certify()
    for other in (far.certify(), of_a_configuration(), replace(own, basis=np.zeros((7, 0)), status=NOT_PROVED)):
        file.write_text(text_of({**data, "certificate": certificate_data(other)}), encoding="utf-8")
        with pytest.raises(FileContentError, match=r"\$\.certificate: is one of another configuration"):
            Report.load(file)


def test_reports_keep_a_certificate(tmp_path: File) -> None:
    robot, rng = arm(), np.random.default_rng(0)
    f = Pose(robot, "tool")
    result = project(robot, [Implicit.equal(f, f.value(robot.random(rng)))], robot.random(rng)).or_raise()
    file = tmp_path / "report.json"
    result.report(file, result.certify())
    report = Report.load(file)
    assert report.certificate is not None
    assert report.certificate.check() == []
    assert report.differences(report.reproduce()) == ()
    text = file.read_text(encoding="utf-8")
    data = json.loads(text)
    data["certificate"]["numbers"]["variation"] = 2.0
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(FileContentError, match="contraction"):
        Report.load(file)
    result.report(file)
    assert Report.load(file).certificate is None
    with pytest.raises(WrongObjectError, match="certificate of a report"):
        result.report(file, "proved")  # type: ignore[arg-type]


def test_only_certificates_are_saved(tmp_path: File) -> None:
    with pytest.raises(WrongObjectError, match="certificate to be saved"):
        save_certificate(stack(Identity(Rn(1))), tmp_path / "x.json")  # type: ignore[arg-type]


def test_a_status_that_is_none_of_a_certificate_is_refused(tmp_path: File) -> None:
    problem, q, sides = claims.well_posed(0)
    save_certificate(certify(problem, q, sides), tmp_path / "c.json")
    text = (tmp_path / "c.json").read_text(encoding="utf-8")
    assert '"PROVED"' in text
    for name in ("REFUTED", "COMPLETE"):
        (tmp_path / "c.json").write_text(text.replace('"PROVED"', f'"{name}"'), encoding="utf-8")
        with pytest.raises(FileContentError, match=f"says {name}, which is no status of a certificate"):
            load_certificate(tmp_path / "c.json")
