"""Changed copies of collision models: shapes that are held, appear, vanish or move; pairs and margins."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from liegroups.arguments import as_mapping, as_name, as_tuple, expect

from ..paths.relative_motion import CollisionPair
from ..robot import Frame
from ..workspace import Kept
from .changes import (
    Contents,
    PairRules,
    among_joints,
    moved_solids,
    numbers_called,
    with_held,
    with_margins,
    with_shapes,
    without_pairs,
    without_solids,
)
from .clouds import PointCloud
from .pairs import margins_of_joints
from .shapes import Shape
from .words import why_empty

_log = logging.getLogger(__package__)

_Model = TypeVar("_Model", bound="ChangedCopies")


class ChangedCopies(ABC):
    """What makes changed copies of a collision model; the model itself stays as it is."""

    _has: Contents
    _rules: PairRules
    _among: Kept[Any]

    @abstractmethod
    def _changed(self: _Model, has: Contents, moved: Sequence[int] = ()) -> _Model:
        """The same model with other contents, as `CollisionModel` makes it.

        Args:
            has: solids and pairs.
            moved: numbers of the solids that are elsewhere, where all others and the margins are as before.
        """

    def attached(
        self: _Model,
        shape: Shape | PointCloud,
        frame: Frame | str,
        *,
        placement: Any = None,
        touching: Iterable[str] = (),
        name: str | None = None,
    ) -> _Model:
        """The same model with a shape that a frame holds, as a glass in a hand.

        All its pairs are checked, also those with neighbouring joints and those that the SRDF disables for the link of
        the frame; but not those with solids on the same joint, nor with what it may touch.

        Args:
            shape: what is held.
            frame: what holds it, in place of the shape's own frame.
            placement: of the shape on the frame (`pinocchio.SE3`, 4 x 4 matrix, seven numbers); the shape's own if
                absent.
            touching: names of links and of shapes that it may touch, as the fingers; a `*` at the end as in `without`.
            name: of the shape, in place of its own.

        Raises:
            UnknownFrameError: the robot has no such frame.
            UnknownNameError: `touching` names neither a link with solids nor a shape.
            DuplicateError: the model has a shape with this name.
            WrongObjectError: not a shape.

        Example:
            >>> from constraints.collisions import CollisionModel, Shape
            >>> from constraints.models import sample_arm
            >>> model = CollisionModel(sample_arm(), [Shape("post", "Cylinder", (0.05, 1.0))])
            >>> model.attached(Shape("glass", "Cylinder", (0.04, 0.12)), "tool").names
            ('post', 'glass')
        """
        expect(shape, (Shape, PointCloud), "shape to be held", "a Shape or a PointCloud")
        held = replace(
            shape,
            frame=frame,
            placement=shape.placement if placement is None else placement,
            name=shape.name if name is None else name,
        )
        named = as_tuple(touching, "what a held shape may touch", "names of links or of shapes", ordered=False)
        may = {
            i for pattern in named for i in numbers_called(self._has.solids, as_name(pattern, "touching"), links=True)
        }
        return self._changed(with_held(self._rules, self._has, held, may))

    def added(self: _Model, *shapes: Shape | PointCloud) -> _Model:
        """The same model with more shapes, as if it had been built with them: obstacles that appear.

        Their pairs have the margin of the model. Covers of the others are not made again.

        Raises:
            UnknownFrameError, DuplicateError, WrongObjectError: as of a new model.
        """
        return self._changed(with_shapes(self._rules, self._has, shapes))

    def removed(self: _Model, *names: str) -> _Model:
        """The same model without some shapes (or without all whose names begin like this, `"shelf/*"`).

        Raises:
            UnknownNameError: no shape has this name.
        """
        gone = {i for name in names for i in numbers_called(self._has.solids, name)}
        other = self._changed(without_solids(self._has, gone))
        other._say_if_empty()
        return other

    def moved(self: _Model, placements: Mapping[str, Any]) -> _Model:
        """The same model with some shapes elsewhere: obstacles that move, or a held shape that slips.

        It costs 0.1 ms, and the first question to it as much again: covers, and what asks coal, are shared.

        Args:
            placements: by name of the shape, on the frame that carries it (`pinocchio.SE3`, 4 x 4 matrix, seven
                numbers).

        Raises:
            UnknownNameError: no shape has this name.
            OptionError: the shape is part of a link, as a file says.
            WrongObjectError, SizeError, NotFiniteError, NotNormalizedError: not a placement.
        """
        given = as_mapping(placements, "placements of shapes", "from names of shapes to placements")
        new = moved_solids(self._rules.robot, self._has.solids, given)
        solids = tuple(new.get(i, solid) for i, solid in enumerate(self._has.solids))
        return self._changed(self._has._replace(solids=solids), tuple(new))

    def without(self: _Model, *pairs: tuple[str, str]) -> _Model:
        """The same model without some pairs of shapes (or of all shapes whose names begin like this, `"ur5/*"`).

        Raises:
            UnknownNameError: no shape has this name.
        """
        other = self._changed(without_pairs(self._has, pairs))
        other._say_if_empty()
        return other

    def with_margins(self: _Model, margins: Mapping[tuple[str, str], float]) -> _Model:
        """The same model with other margins [m] for pairs of shapes; of pairs that overlap, the last one holds.

        Raises:
            UnknownNameError: no shape has this name.
            OptionError: a margin that is no number, a pair that is given twice, or one that is not checked.
        """
        return self._changed(with_margins(self._has, margins))

    def among(self: _Model, pairs: Iterable[CollisionPair]) -> _Model:
        """The same model for some pairs of joints only: the result of `graph.collision_pairs`.

        Their margins come on top of those of the model.

        Raises:
            WrongObjectError: something that is no CollisionPair.
            UnknownJointError: the robot has no joint with this name.
            OptionError: a margin that is no number, or a pair with two margins.
        """
        given = as_tuple(pairs, "pairs of joints", "CollisionPairs (graph.collision_pairs)")
        return self._among.get(given, partial(self._of_joints, given))

    def _of_joints(self: _Model, pairs: tuple[CollisionPair, ...]) -> _Model:
        """What `among` gives: one model for all that lead to the same margins."""
        kept = margins_of_joints(pairs, ("universe", *self._rules.robot.joint_names))
        has = among_joints(self._rules, self._has, kept)
        return self._among.get(frozenset(has.margins.items()), partial(self._changed, has))

    def _say_if_empty(self) -> None:
        """A warning if no pair is checked."""
        if not self._has.margins:
            words = "collision model of %s: no pair of shapes is checked, so every configuration is free (%s)"
            _log.warning(words, self._rules.robot.name, why_empty(self._has))
