"""Certificates as data: written, read, checked again; a number that is changed is found."""

from __future__ import annotations

import json
from pathlib import Path as File
from typing import Any

import certificate_claims as claims
import numpy as np
import path_claims
import pytest
from robots import arm

from constraints import Implicit, Pose, Position, Problem, Report, project
from constraints.certificates import Certificate, certify, certify_path
from constraints.certificates.path_certificate import PathCertificate
from constraints.errors import FileContentError, WrongObjectError
from constraints.files import load_certificate, save_certificate
from constraints.functions import stack
from constraints.functions.affine import Identity
from liegroups import Rn


def of_a_configuration() -> Certificate:
    problem, q, sides = claims.well_posed(1)
    return certify(problem, q, sides)


def of_a_path() -> PathCertificate:
    x = Identity(Rn(2))
    problem = Problem(Rn(2), [Implicit.equal(x[0] * x[0] + x[1] * x[1], [1.0])])
    angles = np.linspace(0.0, 0.4, 4)
    return certify_path(path_claims.path_through(problem, np.column_stack((np.cos(angles), np.sin(angles)))))


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


@pytest.mark.parametrize("make", [of_a_configuration, of_a_path])
def test_every_number_that_is_changed_for_the_worse_is_found(make: Any, tmp_path: File) -> None:
    file = tmp_path / "certificate.json"
    save_certificate(make(), file)
    good = json.loads(file.read_text(encoding="utf-8"))

    def with_changes(change: Any) -> None:
        data = json.loads(json.dumps(good))
        entry = data["certificate"]
        change(entry, entry["numbers"] if "numbers" in entry else entry["legs"][1]["numbers"])
        file.write_text(json.dumps(data), encoding="utf-8")
        load_certificate(file)

    with_changes(lambda entry, numbers: None)
    wrong: list[Any] = [
        lambda e, n: e.update(r=0.1 * e["r"]),
        lambda e, n: e.update(R=10.0 * e["R"]),
        lambda e, n: n.update(variation=1.0),
        lambda e, n: n.update(size=1e-12),
        lambda e, n: n["residual_upper"].__setitem__(0, 1.0),
        lambda e, n: n["jacobian_lower"].__setitem__(0, [-9.0] * len(n["jacobian_lower"])),
        lambda e, n: n["preconditioner"].__setitem__(0, [0.0] * len(n["preconditioner"])),
        lambda e, n: n["residual_lower"].append(0.0),
    ]
    for change in wrong:
        with pytest.raises(FileContentError, match="do not prove it"):
            with_changes(change)
    with pytest.raises(FileContentError, match="lower"):
        with_changes(lambda e, n: n.update(residual_lower="lower"))
    with pytest.raises(FileContentError, match="of"):
        with_changes(lambda e, n: e.update(of="nothing"))


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
