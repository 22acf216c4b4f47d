"""Certificates in files: numbers, that are checked again when they are read."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from liegroups.arguments import expect

from ..certificates.certificate import Certificate, CertificateStatus
from ..certificates.check import Premises
from ..certificates.path_certificate import PathCertificate, Stuck
from ..certificates.path_check import LegPremises
from .documents import read_document, write_document
from .entries import FLAG, INTEGER, NUMBER, NUMBERS, PLAIN, TEXT, Entry, member, record, several, vector
from .json_values import JsonValue

MOST_LEGS_OF_A_PATH = 1_000_000
"""Legs that a certificate in a file may have."""


def _optional(entry: Entry) -> Entry:
    return Entry(
        lambda thing: None if thing is None else entry.write(thing),
        lambda data: None if data.value is None else entry.read(data),
    )


_EXTENDED = replace(NUMBER, read=JsonValue.extended)
_NAMES = PLAIN["names"]
_VECTOR = vector()
_PREMISES = record(
    Premises, preconditioner=NUMBERS, residual_lower=_VECTOR, residual_upper=_VECTOR, jacobian_lower=NUMBERS,
    jacobian_upper=NUMBERS, variation=NUMBER, size=NUMBER, displaced=_VECTOR, spread=NUMBERS, margins=_VECTOR,
    rates=NUMBERS,
)  # fmt: skip
_AT_STOPS = Entry(lambda ends: np.asarray(ends).tolist(), lambda data: np.array([x.matrix() for x in data.items(2)]))
_LEG = record(LegPremises, numbers=_PREMISES, pull=NUMBER, at_stops=_AT_STOPS, joined=FLAG, ends=NUMBERS)
_OF_STATUS = {"status": member(CertificateStatus), "reason": TEXT, "r": _EXTENDED, "R": NUMBER}
_OF_NAMES = {"active": _NAMES, "held": _NAMES, "rests_on": _NAMES}
_CERTIFICATE = record(
    Certificate, **_OF_STATUS, q=_VECTOR, center=_VECTOR, condition=_EXTENDED, rows=INTEGER, **_OF_NAMES, open=_NAMES,
    basis=NUMBERS, numbers=_optional(_PREMISES),
)  # fmt: skip
_PATH_CERTIFICATE = record(
    PathCertificate, **_OF_STATUS, **_OF_NAMES, moved=NUMBER, times=_VECTOR, stops=NUMBERS,
    stuck=_optional(record(Stuck, piece=INTEGER, begin=NUMBER, end=NUMBER, start=_VECTOR, goal=_VECTOR)),
    legs=several(_LEG, MOST_LEGS_OF_A_PATH),
)  # fmt: skip


def certificate_data(certificate: Certificate | PathCertificate) -> dict[str, Any]:
    """A certificate as data."""
    if isinstance(certificate, PathCertificate):
        return {"of": "path", **_PATH_CERTIFICATE.write(certificate)}
    return {"of": "configuration", **_CERTIFICATE.write(certificate)}


def certificate_from_data(data: JsonValue) -> Certificate | PathCertificate:
    """The certificate of an entry of a file, checked.

    Raises:
        FileContentError: it is none, or says PROVED and its numbers do not prove it; names what does not hold.
    """
    kinds = {"configuration": _CERTIFICATE, "path": _PATH_CERTIFICATE}
    found: Certificate | PathCertificate = kinds[data.entry("of").word(list(kinds))].read(data.without("of"))
    wrong: list[str] = data.build(found.check)
    if found.status not in (CertificateStatus.PROVED, CertificateStatus.NOT_PROVED):
        data.refuse(f"says {found.status.name}, which is no status of a certificate")
    if found.success and wrong:
        data.refuse(f"says PROVED, but its numbers do not prove it: {wrong[0]}")
    return found


def save_certificate(certificate: Certificate | PathCertificate, path: str | os.PathLike[str]) -> None:
    """Write a certificate: all numbers that its check needs, with all their digits.

    Args:
        certificate: of a configuration or of a path.
        path: the file, .json.

    Raises:
        WrongObjectError: no certificate.
        FileError: the file cannot be written.
    """
    expect(certificate, (Certificate, PathCertificate), "certificate to be saved", "a Certificate or PathCertificate")
    write_document(path, "certificate", {"certificate": certificate_data(certificate)})


def load_certificate(path: str | os.PathLike[str]) -> Certificate | PathCertificate:
    """Read a certificate, and check it.

    What is proved follows from the numbers in the file. That they are those of a problem is only shown by proving it
    anew, `certify(problem, certificate.q)`.

    Raises:
        FileError: the file cannot be read whole, or holds something else; the place in it is named.
        FileContentError: it says PROVED, and its numbers do not prove it.
    """
    _, data = read_document(path, "certificate")
    return certificate_from_data(data.only("certificate").entry("certificate"))
