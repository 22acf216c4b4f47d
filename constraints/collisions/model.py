"""Collisions of configurations and paths: coal, through pinocchio's geometry."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, final

import numpy as np

from liegroups.arguments import as_flag, as_tuple, expect
from liegroups.arrays import ArrayLike, BoolVector, Vector
from liegroups.frozen import set_fields

from ..errors import SpaceMismatchError, TruthValueError
from ..keywords import closed
from ..paths.path import Path
from ..ranges import whole_number
from ..robot import Robot
from ..robot.arguments import as_robot
from ..robot.files.packages import as_folders
from ..solvers.projection.batch_arguments import starts_of
from ..words import counted
from ..workspace import Kept
from .along import along
from .changes import Contents, PairRules
from .checking import Checker, JointsOnDemand
from .clouds import PointCloud
from .copies import ChangedCopies
from .pairs import SAMPLES, LeftOut, as_distance, as_resolution, ask_of_margins, left_out
from .reading import extended, solids_of
from .sampling import free_one
from .shapes import Shape
from .words import bare_parts, described, in_words

_log = logging.getLogger(__package__)


class Collision(NamedTuple):
    """Two shapes in collision.

    Attributes:
        a, b: their names.
        time: on a path [s]; None at a configuration.
    """

    a: str
    b: str
    time: float | None = None


class Grazing(NamedTuple):
    """Two shapes that come so near that they are not proved apart, on a part of a path.

    Attributes:
        a, b: their names.
        begin, end: times on the path [s].
    """

    a: str
    b: str
    begin: float
    end: float


@final
@dataclass(frozen=True, eq=False)
class PathCheck:
    """What a collision check along a path found.

    Args:
        collision: the first one, or None.
        grazing: before it, where two shapes are so near that contact less deep than half the resolution may be missed.
        looked: number of configurations that were looked at.
    """

    collision: Collision | None
    grazing: tuple[Grazing, ...]
    looked: int

    if not TYPE_CHECKING:

        def __bool__(self) -> NoReturn:
            """Refused: a check is neither true nor false.

            Raises:
                TruthValueError: says what to ask.
            """
            raise TruthValueError("PathCheck", "`check.collision is None`")


KEPT = 64
"""So many models of some of its pairs a model keeps, ready to be asked."""
RESOLUTION = 1e-3
"""Parts of a path in which two solids come nearer by less than this are not halved [m]."""


@final
@closed("`without`, `with_margins`, `among`, `attached`, `added`, `removed` and `moved` give changed copies")
class CollisionModel(ChangedCopies):
    """The shapes of a robot and of the objects around it, and which pairs must not collide. Immutable.

    All pairs of shapes on different joints are checked, except: pairs on a joint and its parent (neighbours touch; in
    the world only the base of the same robot is a neighbour), pairs of links whose collisions the robot's SRDF
    disables, and pairs that `without` leaves out. A model without any pair to check, for which every configuration is
    free, logs a warning with the reason when it is built; likewise a model of a system with parts that have no solid.

    Args:
        robot: the robot, or the system of robots and objects.
        shapes: solids of objects, floors, tools; point clouds.
        urdfs: URDF files (path, `package://` address, XML text) with collision geometry: one, or one for each part of a
            system by its name.
        packages: folders in which meshes are searched.
        margin: shapes closer than this count as in collision [m]; negative lets them overlap by that much.
        margins: other margins, by pair of names of shapes.
        ignored: pairs of names of shapes that may collide.
        srdf: whether pairs of links with disabled collisions (`robot.disabled_collisions`) are left out.

    Attributes:
        names, joints: of all shapes, and of the joints that carry them ("universe" is the world).
        pairs: names of the pairs that are checked.

    Raises:
        FileError: a file that is missing or cannot be read.
        ModelError: a file without collision geometry, or with some that cannot be read.
        DuplicateError: two shapes with the same name.
        UnknownNameError: a pair with a name that no shape has.
        OptionError: a margin that is no number, or of a pair that is not checked.
        UnknownFrameError: a shape on a frame that the robot does not have.
    """

    names: tuple[str, ...]
    joints: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]

    def __init__(
        self,
        robot: Robot,
        shapes: Iterable[Shape | PointCloud] = (),
        urdfs: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | None = None,
        packages: Iterable[str | os.PathLike[str]] = (),
        *,
        margin: float = 0.0,
        margins: Mapping[tuple[str, str], float] | None = None,
        ignored: Iterable[tuple[str, str]] = (),
        srdf: bool = True,
    ) -> None:
        self.robot = as_robot(robot, "robot of a collision model")
        given = as_tuple(shapes, "shapes of a collision model", "Shape")
        self._urdfs = urdfs
        self._packages = as_folders(packages)
        distance = as_distance(margin, "margin of a collision model")
        self._rules = PairRules(self.robot, as_flag(srdf, "srdf of a collision model"), distance)
        self._joints = JointsOnDemand(self.robot)
        solids = solids_of(self.robot, given, urdfs, self._packages)
        pairs = list(combinations(range(len(solids)), 2))
        out = left_out(self.robot, solids, pairs, self._rules.srdf)
        self._take(Contents(solids, {pair: distance for pair in pairs if pair not in out}, out))
        if ignored != () or margins is not None:
            left = as_tuple(ignored, "ignored pairs of a collision model", "pairs of names of shapes", ordered=False)
            self._take(self.without(*left).with_margins({} if margins is None else margins)._has)
        else:
            self._say_if_empty()
        if solids:
            for bare in bare_parts(self._has, self.robot):
                _log.warning("collision model of %s: %s", self.robot.name, bare)

    def _take(self, has: Contents, moved: Sequence[int] = ()) -> None:
        """Look at these solids and pairs.

        Args:
            has: the solids and pairs.
            moved: numbers of the solids that are elsewhere, where all others and the margins are as before.
        """
        solids, margins, *_ = self._has = has
        self._among: Kept[CollisionModel] = Kept(KEPT)
        if moved:
            self._checker = Checker(self._joints, solids, margins, (self._checker, moved))
            return
        ask_of_margins(solids, margins)
        names = tuple(solid.name for solid in solids)
        set_fields(
            self,
            names=names,
            joints=tuple(str(self.robot.model.names[solid.joint]) for solid in solids),
            pairs=tuple((names[i], names[j]) for i, j in margins),
        )
        self._checker = Checker(self._joints, solids, margins)

    @property
    def joint_pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of joints with pairs of shapes that are checked, each once."""
        return tuple(dict.fromkeys((self.joints[i], self.joints[j]) for i, j in self._has.margins))

    def _changed(self, has: Contents, moved: Sequence[int] = ()) -> CollisionModel:
        other = object.__new__(CollisionModel)  # copy.copy would read the files again
        set_fields(other, **vars(self))
        other._take(has, moved)
        return other

    # Asking.

    @property
    def contents(self) -> Contents:
        """Solids and pairs: for this room."""
        return self._has

    @property
    def checker(self) -> Checker:
        """What this model asks with: for rooms above, of configurations that are known to be points."""
        return self._checker

    def is_free(self, q: ArrayLike) -> bool:
        """Whether no pair collides at a configuration (nq,)."""
        return bool(self._checker.free(self.robot.space.check(q)[None])[0])

    def is_free_batch(self, Q: ArrayLike) -> BoolVector:
        """Whether no pair collides, at each of many configurations.

        The verdicts are those of `is_free`, at a fraction of the time: of an arm 3 to 5 us a row.

        Args:
            Q: configurations (n, nq).

        Returns:
            (n,).

        Raises:
            SizeError, NotFiniteError, NotNormalizedError: what is wrong with a row.
        """
        return self._checker.free(starts_of(self.robot.space, Q))

    def collisions(self, q: ArrayLike, most: int | None = None) -> tuple[Collision, ...]:
        """The pairs that collide at a configuration.

        Args:
            q: configuration (nq,).
            most: so many pairs are enough; all of them by default.

        Raises:
            OptionError: `most` is not a whole number from 1.
        """
        count = None if most is None else whole_number(most, "most of pairs that collide", 1)
        return tuple(Collision(*self.pairs[k]) for k in self._checker.met(self.robot.space.check(q), count))

    def always_colliding(self, samples: int = SAMPLES, seed: int = 0) -> tuple[tuple[str, str], ...]:
        """The pairs that collide in all of some random configurations: they collide wherever the robot is.

        These pairs touch by design: leave them out by `without`, or give the robot the SRDF that disables them.

        Args:
            samples: number of configurations, drawn by `robot.random`.
            seed: of the generator.

        Raises:
            OptionError: `samples` is not a whole number from 1, or `seed` not one from 0.
        """
        whole_number(samples, "samples of pairs that always collide", 1)
        whole_number(seed, "seed of pairs that always collide", 0)
        rng = np.random.default_rng(seed)
        Q = np.array([self.robot.random(rng) for _ in range(samples)])
        return tuple(self.pairs[k] for k in self._checker.always_met(Q))

    def random_free(self, rng: np.random.Generator, size: int | None = None, tries: int = 1000) -> Vector:
        """Random configurations without collisions, drawn by `robot.random` until they are free.

        Args:
            rng: generator.
            size: number of configurations; one if absent.
            tries: most draws for each.

        Returns:
            (nq,), or (size, nq).

        Raises:
            NoFreeConfigurationError: none was free; names the pairs that always collide, or the most frequent one.
            OptionError, WrongObjectError: an invalid argument.
        """
        count = whole_number(1 if size is None else size, "size of random free configurations", 0)
        whole_number(tries, "tries of random free configurations", 1)
        found = np.array([free_one(self, rng, tries) for _ in range(count)]).reshape(count, self.robot.nq)
        return found[0] if size is None else found

    def first_collision(self, path: Path, resolution: float = RESOLUTION) -> Collision | None:
        """The first pair that collides on a path, with its time; None if the path is free.

        It is the `collision` of `check_path`, which says more.

        Args:
            path: the path.
            resolution: contact that is not deeper than half of this may be missed [m].

        Raises:
            OptionError, FailedError, SpaceMismatchError: as `check_path`.
        """
        return self.check_path(path, resolution).collision

    def check_path(self, path: Path, resolution: float = RESOLUTION) -> PathCheck:
        r"""Where a path collides, and where it comes so near to a collision that it is not proved free.

        Each part of the path, from one configuration that is looked at to the next, is free where

        .. math:: d > m

        for all pairs: d is how much farther than its margin a pair is apart in the middle of the part, and m bounds how
        much nearer it comes from there to either end, by the motion of each joint and the reach of what it carries.
        Other parts are halved, for the pairs that are in doubt alone, until a pair comes nearer by less than the
        resolution. So a shape is found however thin it is, and open space is looked at between the samples nowhere.

        Between two configurations that are looked at, a path is as long as the straight way and what constraints bend
        it by, as the configurations beside tell: a constraint that makes it turn within one part is not foreseen.

        Args:
            path: the path.
            resolution: parts in which a pair comes nearer by less are not halved [m]. What is missed between them is
                contact that is not deeper than half of it; these parts are in `grazing`.

        Raises:
            OptionError: a resolution that is not a positive number.
            FailedError: a configuration between two samples is not reached.
            SpaceMismatchError: a path in another space than the robot's.

        Source: F. Schwarzer, M. Saha, J.-C. Latombe, Adaptive dynamic collision checking for single and multiple
        articulated robots in complex environments, IEEE Transactions on Robotics 21 (2005).
        """
        expect(path, Path, "path of a collision check")
        limit, space = as_resolution(resolution), path.pieces[0].problem.space
        if space != self.robot.space:
            raise SpaceMismatchError("path of a collision check", self.robot.space.name, space.name)
        found = along(self._checker, tuple(self._has.margins), path, limit)
        met = None if found.met is None else Collision(*self.pairs[found.met.pair], found.met.time)
        grazing = tuple(Grazing(*self.pairs[part.pair], part.begin, part.end) for part in found.close)
        return PathCheck(met, grazing, found.looked)

    # Reading.

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The pairs of shapes that are not checked, and why."""
        return tuple(LeftOut(self.names[i], self.names[j], *verdict) for (i, j), verdict in self._has.out.items())

    def describe(self) -> str:
        """The model in words: shapes, checked pairs, and how many pairs are left out for each reason."""
        return described(self._has, self.robot, self._rules.srdf)

    def __repr__(self) -> str:
        out = f"; left out: {in_words(self._has.out.values(), False)}" if self._has.out else ""
        return f"CollisionModel({counted(len(self.names), 'shape')}, {counted(len(self.pairs), 'pair')}{out})"

    @staticmethod
    def _rebuilt(fields: dict[str, Any], given: tuple[tuple[Any, str], ...], pairs: tuple[Any, ...]) -> CollisionModel:
        made = object.__new__(CollisionModel)
        set_fields(made, **fields, _joints=JointsOnDemand(fields["robot"]))
        read = solids_of(made.robot, (), made._urdfs, made._packages)
        kept = [solid for solid in read if solid.name not in pairs[-1]]
        solids = extended(made.robot, kept, [shape for shape, _ in given])
        held = [replace(solid, link=link) for solid, (_, link) in zip(solids[len(kept) :], given, strict=True)]
        made._take(Contents((*kept, *held), *pairs))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("robot", "_urdfs", "_packages", "_rules", "_closed")
        given = tuple((solid.source, solid.link) for solid in self._has.solids if solid.source is not None)
        return CollisionModel._rebuilt, ({name: getattr(self, name) for name in names}, given, self._has[1:])
