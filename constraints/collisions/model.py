"""Collisions of configurations and paths: coal, through pinocchio's geometry."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arguments import as_flag, as_tuple, expect
from liegroups.arrays import ArrayLike, BoolVector, Vector
from liegroups.frozen import set_fields

from ..errors import ConstraintError, OptionError, SpaceMismatchError, UnknownNameError
from ..keywords import closed
from ..paths.path import Path
from ..paths.relative_motion import CollisionPair, two_names
from ..ranges import whole_number
from ..robot import Robot
from ..robot.arguments import as_robot
from ..robot.files.packages import as_folders
from ..robot.model.pinocchio import pin
from ..solvers.projection.batch_arguments import starts_of
from ..words import counted
from .along import first_met
from .checking import Checker, Covers, memory_of
from .pairs import (
    SAMPLES,
    LeftOut,
    LeftOutReason,
    WhyOut,
    always_in_words,
    as_distance,
    ask_of_margins,
    check_limits,
    in_words,
    left_out,
    margins_of_joints,
    margins_of_shapes,
)
from .shapes import Shape, solids_of

_log = logging.getLogger(__package__)


class NoFreeConfigurationError(ConstraintError):
    """No random configuration was free of collisions; `pairs` has those that collided in all of them."""

    def __init__(self, tries: int, pairs: Sequence[tuple[str, str]], reason: str) -> None:
        self.tries, self.pairs = tries, tuple(pairs)
        super().__init__(f"none of {tries} random configurations is free of collisions: {reason}")


class Collision(NamedTuple):
    """Two shapes in collision.

    Attributes:
        a, b: their names.
        time: on a path [s]; None at a configuration.
    """

    a: str
    b: str
    time: float | None = None


@final
@closed("`without`, `with_margins` and `among` give changed copies")
class CollisionModel:
    """The shapes of a robot and of the objects around it, and which pairs must not collide. Immutable.

    All pairs of shapes on different joints are checked, except: pairs on a joint and its parent (neighbours touch; in
    the world only the base of the same robot is a neighbour), pairs of links whose collisions the robot's SRDF
    disables, and pairs that `without` leaves out. A model without any pair to check, for which every configuration is
    free, logs a warning with the reason when it is built.

    Args:
        robot: the robot, or the system of robots and objects.
        shapes: solids of objects, floors, tools.
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

    pairs: tuple[tuple[str, str], ...]

    def __init__(
        self,
        robot: Robot,
        shapes: Iterable[Shape] = (),
        urdfs: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | None = None,
        packages: Iterable[str | os.PathLike[str]] = (),
        *,
        margin: float = 0.0,
        margins: Mapping[tuple[str, str], float] | None = None,
        ignored: Iterable[tuple[str, str]] = (),
        srdf: bool = True,
    ) -> None:
        self.robot = as_robot(robot, "robot of a collision model")
        self._shapes = as_tuple(shapes, "shapes of a collision model", "Shape")
        self._urdfs = urdfs
        self._packages = as_folders(packages)
        self._srdf = as_flag(srdf, "srdf of a collision model")
        geometry, links = solids_of(self.robot, self._shapes, urdfs, self._packages)
        solids = list(geometry.geometryObjects)
        self._covers = Covers(geometry)
        self.names: tuple[str, ...] = tuple(str(solid.name) for solid in solids)
        self.joints: tuple[str, ...] = tuple(str(self.robot.model.names[solid.parentJoint]) for solid in solids)
        distance = as_distance(margin, "margin of a collision model")
        out = left_out(self.robot, solids, links, self._srdf)
        together = [pair for pair in combinations(range(len(solids)), 2) if pair not in out]
        self._take_pairs(geometry, dict.fromkeys(together, distance), out)
        if ignored != () or margins is not None:
            pairs = as_tuple(ignored, "ignored pairs of a collision model", "pairs of names of shapes", ordered=False)
            chosen = self.without(*pairs).with_margins({} if margins is None else margins)
            self._take_pairs(geometry, chosen._margins, chosen._out)
        else:
            self._say_if_empty()

    def _take_pairs(
        self, geometry: Any, margins: dict[tuple[int, int], float], out: dict[tuple[int, int], WhyOut]
    ) -> None:
        """Look at these pairs of shapes, with their margins; the others are left out."""
        self._geometry, self._margins, self._out = geometry.copy(), margins, out
        ask_of_margins(geometry, margins)
        self._geometry.removeAllCollisionPairs()
        for i, j in margins:
            self._geometry.addCollisionPair(pin.CollisionPair(i, j))
        set_fields(self, pairs=tuple((self.names[i], self.names[j]) for i, j in margins))
        self._checker = Checker(self.robot, self._geometry, self._covers, margins)

    def without(self, *pairs: tuple[str, str]) -> CollisionModel:
        """The same model without some pairs of shapes (or of all shapes whose names begin like this, `"ur5/*"`).

        Raises:
            UnknownNameError: no shape has this name.
        """
        left: set[frozenset[int]] = set()
        for a, b in (two_names(pair, "pair of shapes", "two names") for pair in pairs):
            left |= {frozenset((i, j)) for i in self._called(a) for j in self._called(b)}
        kept = {pair: margin for pair, margin in self._margins.items() if frozenset(pair) not in left}
        other = self._with(kept)
        other._say_if_empty()
        return other

    def with_margins(self, margins: Mapping[tuple[str, str], float]) -> CollisionModel:
        """The same model with other margins [m] for pairs of shapes; of pairs that overlap, the last one holds.

        Raises:
            UnknownNameError: no shape has this name.
            OptionError: a margin that is no number, a pair that is given twice, or one that is not checked.
        """
        changed = dict(self._margins)
        for (a, b), distance in margins_of_shapes(margins).items():
            asked = {frozenset((i, j)) for i in self._called(a) for j in self._called(b)}
            if not (chosen := [pair for pair in changed if frozenset(pair) in asked]):
                out = in_words([verdict for pair, verdict in self._out.items() if frozenset(pair) in asked], True)
                why = f"left out: {out}" if out else "a shape makes no pair with itself"
                raise OptionError(f"margin of '{a}' and '{b}': no such pair is checked ({why})")
            changed |= dict.fromkeys(chosen, distance)
        return self._with(changed)

    def among(self, pairs: Iterable[CollisionPair]) -> CollisionModel:
        """The same model for some pairs of joints only, with their margins: the result of `graph.collision_pairs`.

        Raises:
            WrongObjectError: something that is no CollisionPair.
            UnknownJointError: the robot has no joint with this name.
            OptionError: a margin that is no number, or a pair with two margins.
        """
        kept = margins_of_joints(pairs, ("universe", *self.robot.joint_names))
        chosen: dict[tuple[int, int], float] = {}
        for i, j in self._margins:
            margin = kept.get(frozenset((self.joints[i], self.joints[j])))
            if margin is not None:
                chosen[i, j] = margin
        return self._with(chosen, LeftOutReason.NOT_ASKED)

    @property
    def joint_pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of joints with pairs of shapes that are checked, each once."""
        return tuple(dict.fromkeys((self.joints[i], self.joints[j]) for i, j in self._margins))

    def _say_if_empty(self) -> None:
        """A warning if no pair is checked."""
        if self.pairs:
            return
        why = f"left out: {in_words(self._out.values(), True)}; `left_out` names them"
        if len(self.names) < 2:
            has = f"only one shape, '{self.names[0]}'" if self.names else "no shape"
            why = f"it has {has}; a Robot brings no shapes, give them by shapes= and urdfs="
        words = "collision model of %s: no pair of shapes is checked, so every configuration is free (%s)"
        _log.warning(words, self.robot.name, why)

    def _called(self, pattern: str) -> list[int]:
        names = enumerate(self.names)
        found = [i for i, n in names if n == pattern or (pattern.endswith("*") and n.startswith(pattern[:-1]))]
        if not found:
            star = "*" in pattern[:-1]
            words = f"no shape is named {pattern!r}: a `*` stands at the end of a name only" if star else ""
            raise UnknownNameError("shape", pattern, self.names, words)
        return found

    def _with(
        self, margins: dict[tuple[int, int], float], why: LeftOutReason = LeftOutReason.BY_HAND
    ) -> CollisionModel:
        """The model of some of the pairs; the others are left out for a reason."""
        return self._rearranged(margins, self._out | {p: WhyOut(why) for p in self._margins if p not in margins})

    def _rearranged(self, margins: dict[tuple[int, int], float], out: dict[tuple[int, int], WhyOut]) -> CollisionModel:
        other = object.__new__(CollisionModel)  # copy.copy would read the files again
        other.__dict__ |= self.__dict__
        other._take_pairs(self._geometry, margins, out)
        return other

    # Asking.

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

    def collisions(self, q: ArrayLike) -> tuple[Collision, ...]:
        """The pairs that collide at a configuration (nq,)."""
        return tuple(Collision(*self.pairs[k]) for k in self._checker.met(self.robot.space.check(q)))

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
        data, solids, _ = memory_of(self.robot.model, self._geometry, tuple(self._margins.values()))
        left = list(range(len(self.pairs)))
        rng = np.random.default_rng(seed)
        for q in (self.robot.random(rng) for _ in range(samples)):
            pin.computeCollisions(self.robot.model, data, self._geometry, solids, q, False)
            met = [k for k in left if solids.collisionResults[k].isCollision()]
            for k in set(left).difference(met):
                solids.deactivateCollisionPair(k)
            left = met
            if not left:
                break
        return tuple(self.pairs[k] for k in left)

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
        found = np.empty((count, self.robot.nq))
        for i in range(count):
            draws = (self.robot.random(rng) for _ in range(tries))
            q = next((q for q in draws if self.is_free(q)), None)
            if q is None:
                pairs = self.always_colliding()
                raise NoFreeConfigurationError(tries, pairs, always_in_words(pairs) or self._most_met(rng))
            found[i] = q
        return found[0] if size is None else found

    def _most_met(self, rng: np.random.Generator) -> str:
        """The pair that meets most often, where none always does."""
        met = Counter((c.a, c.b) for _ in range(SAMPLES) for c in self.collisions(self.robot.random(rng)))
        (a, b), count = met.most_common(1)[0]
        return f"no pair collides in all of them, '{a}' and '{b}' in {count} of {SAMPLES}"

    def first_collision(self, path: Path, max_angle: float = 0.05, max_length: float = 0.01) -> Collision | None:
        """The first pair that collides on a path, with its time; None if the path is free.

        Between two samples it looks at equal parts of their time, as many as keep the two limits on the straight way
        from one to the other; constraints bend this way, so that some parts are a little longer. A collision with a
        shape thinner than that motion may be missed. Use a margin against this.

        Args:
            path: the path.
            max_angle, max_length: limits [rad], [m].

        Raises:
            OptionError: a limit that is not a positive number.
            FailedError: a configuration between two samples is not reached.
            SpaceMismatchError: a path in another space than the robot's.
        """
        expect(path, Path, "path of a collision check")
        check_limits(max_angle, max_length)
        space = path.pieces[0].problem.space
        if space != self.robot.space:
            raise SpaceMismatchError("path of a collision check", self.robot.space.name, space.name)
        met = first_met(self._checker, path, max_angle, max_length)
        return None if met is None else Collision(*self.pairs[met.pair], met.time)

    # Reading.

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The pairs of shapes that are not checked, and why."""
        return tuple(LeftOut(self.names[i], self.names[j], *verdict) for (i, j), verdict in self._out.items())

    def describe(self) -> str:
        """The model in words: shapes, checked pairs, and how many pairs are left out for each reason."""
        shapes, joints = counted(len(self.names), "shape"), counted(len(set(self.joints)), "joint")
        looked = f"{counted(len(self.pairs), 'pair')} {'is' if len(self.pairs) == 1 else 'are'} checked"
        lines = [f"{shapes} on {joints}, {looked}", f"  left out: {in_words(self._out.values(), True) or 'none'}"]
        if self.robot.disabled_collisions:
            used = "" if self._srdf else ", not used (srdf=False)"
            lines.append(f"  SRDF: {counted(len(self.robot.disabled_collisions), 'pair')} of links{used}")
        if any(distances := sorted(set(self._margins.values()))):
            lines.append(f"  margins: {', '.join(f'{distance:g}' for distance in distances)} m")
        return "\n".join(lines)

    def __repr__(self) -> str:
        out = f"; left out: {in_words(self._out.values(), False)}" if self._out else ""
        return f"CollisionModel({counted(len(self.names), 'shape')}, {counted(len(self.pairs), 'pair')}{out})"

    @staticmethod
    def _rebuilt(arguments: tuple[Any, ...], srdf: bool, margins: Any, out: Any) -> CollisionModel:
        return CollisionModel(*arguments, srdf=srdf)._rearranged(margins, out)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.robot, self._shapes, self._urdfs, self._packages)
        return CollisionModel._rebuilt, (arguments, self._srdf, self._margins, self._out)
