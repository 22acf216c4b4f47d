"""Certificates of paths: what is proved of their pieces, together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from liegroups.arguments import as_tuple, expect
from liegroups.arrays import Matrix

from ...collisions.model import CollisionModel
from ...errors import SizeError, SpaceMismatchError
from ...paths.path import Path
from ..certificate import CertificateStatus
from ..path_certificate import PathCertificate, Stuck
from ..path_check import LegPremises
from ..search import coordinate_names, of_users
from .path_search import PathLimits, PieceSearch


def certify_path(
    path: Path, collisions: CollisionModel | Sequence[CollisionModel] | None = None, *, limits: PathLimits | None = None
) -> PathCertificate:
    r"""Prove that a path does not jump: one continuous curve of exact solutions leads along each piece, or several.

    Between two stops the way is straight in the space. Around it Krawczyk's form of Newton-Kantorovich's theorem is
    proved for all times at once, and where two legs meet, that their curves are the same (`path_check.py`;
    `docs/certificates.md`). What cannot be proved is halved, with a new stop on the constraints.

    Args:
        path: the path; right-hand sides may move, straight in their spaces, and not by a function of time.
        collisions: what must be free on the whole curve, or one model for each piece; by default nothing is looked at.
        limits: when to give up.

    Returns:
        The certificate, PROVED, or NOT_PROVED with the first part that is not proved and the reason.

    Raises:
        WrongObjectError: an argument of another type.
        SpaceMismatchError: a collision model of another robot.

    Source: R. Krawczyk (1969); C. Beltran, A. Leykin, Robust certified numerical homotopy tracking, 2013; B. Martin, A.
    Goldsztejn, L. Granvilliers, C. Jermann, Certified parallelotope continuation for one-manifolds, 2013.
    """
    expect(path, Path, "path to be certified")
    limits = expect(limits or PathLimits(), PathLimits, "limits of a certificate of a path", "PathLimits")
    searches, models = list[PieceSearch](), _models(path, collisions)
    for piece, model in zip(path.pieces, models, strict=True):
        searches.append(PieceSearch(piece, model, limits, limits.legs - sum(len(s.proved) for s in searches)))
        searches[-1].run()
        if len(searches) > 1:
            searches[-2].go_on(searches[-1])
        if searches[-1].reason:
            break
    return _together(path, searches, collisions is not None)


def _models(
    path: Path, collisions: CollisionModel | Sequence[CollisionModel] | None
) -> Sequence[CollisionModel | None]:
    """One for each piece.

    Raises:
        WrongObjectError, SizeError, SpaceMismatchError: what is wrong with them.
    """
    what, count, space = "collisions of a certificate", len(path.pieces), path.pieces[0].problem.space
    if collisions is None:
        return (None,) * count
    one = "a CollisionModel, one for each piece, or None"
    models = (collisions,) * count if isinstance(collisions, CollisionModel) else as_tuple(collisions, what, one)
    if len(models) != count:
        raise SizeError(what, f"{count}, one for each piece", len(models))
    for model in models:
        if expect(model, CollisionModel, what, one).robot.space != space:
            raise SpaceMismatchError(what, space.name, model.robot.space.name)
    return models


def _together(path: Path, searches: list[PieceSearch], looked: bool) -> PathCertificate:
    """The certificate of a whole path.

    Args:
        path: the path.
        searches: on its pieces, in order; nothing is looked at behind the first one with a reason.
        looked: whether collisions were looked at.
    """
    last, begun, goes_on = searches[-1], np.cumsum((0.0, *path.durations)).tolist(), False
    legs, times, stops, moved = list[LegPremises](), [np.zeros(0)], list[Matrix](), 0.0
    for search, t0, duration in zip(searches, begun, path.durations, strict=False):
        legs += [proof.leg._replace(joined=i > 0 or goes_on) for i, proof in enumerate(search.proved)]
        parts = [proof.part for proof in search.proved]
        if parts:
            times.append(t0 + duration * np.array([parts[0].t0, *(part.t1 for part in parts)])[goes_on:])
            stops.append(np.array([parts[0].q0, *(part.q1 for part in parts)])[goes_on:])
        goes_on = search.onward is not None
        moved = max(moved, search.moved)
    stuck, status = None, CertificateStatus.PROVED
    if last.reason:
        k, at = len(searches) - 1, last.stuck
        status = CertificateStatus.NOT_PROVED
        first, length = begun[k], path.durations[k]
        stuck = Stuck(k, first + length * at.t0, first + length * at.t1, at.q0, at.q1)
    space, rows = last.space, [search.legs.rows for search in searches]
    every = (
        tuple(dict.fromkeys(name for search in searches for name in search.names_of_active)),
        coordinate_names(space, np.flatnonzero(np.any([s.legs.held for s in searches], axis=0)).tolist()),
        tuple(dict.fromkeys([*(name for each in rows for name in of_users(each)), *(["coal's distances"] * looked)])),
    )
    return PathCertificate(
        status, last.reason, stuck,
        max(search.distance for search in searches) if legs or not last.reason else float("inf"),
        min((leg.numbers.size for leg in legs), default=0.0),
        moved, np.concatenate(times), np.concatenate(stops or [np.zeros((0, space.nq))]), tuple(legs), *every,
    )  # fmt: skip
