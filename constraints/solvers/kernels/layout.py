"""The layout of a packed problem: what stands where in its integers, as names for numbers.

A packed problem is two arrays and a size: integers `I` (tables), floats `F` (constants), and how much memory `W` a
projection works in. Kernels get the three, and find everything through the header, the first entries of `I`. "At" is an
index: of `I` for tables, of `F` for constants, of `W` for what changes.
"""

from __future__ import annotations

# The header: entries of I.

HEADER = 80
"""Its length."""

(
    NQ,  # size of a configuration
    LIVE,  # columns that steps move; they come first
    COMPUTED,  # columns of computed dofs; they come next
    LEVELS,  # levels with rows, most important first
    MANDATORY,  # so many of them must hold
    LEVEL_TABLE,  # at in I: a record of LEVEL_SIZE a level
    TWINS,  # at in I: record of the level of all explicit constraints' errors
    DOUBTFUL,  # the same of those whose outputs may miss their error
    Q,  # at in W: the configuration that functions read
    Q_NOW,  # the iterate
    Q_START,  # as it came
    Q_READY,  # normalised, clamped, with constant outputs
    Q_BEST,  # the best iterate
    Q_NEXT,  # where an iterate is taken from
    Q_TRIAL,  # memory for candidates
    RHS,  # at in W: right-hand sides
    RHS_SIZE,
    TWISTS,  # at in W: six numbers a column, the twist of each joint's dof in the world
    STEP,  # at in W: the step, by live column
    STEP_TRIAL,
    NORMAL,  # at in W: matrix of the damped step
    DUAL,  # at in W: its right side and solution
    ERROR_TRIAL,  # at in W: errors that are to be solved for
    TO_BOUND,  # at in W: by live column
    HELD,  # at in W: 1 where a column is held at a bound
    SCORE,  # at in W: by mandatory level
    SCORE_BEST,
    SCORE_REFERENCE,
    STATE,  # at in W: the record of STATE_SIZE numbers
    PREPARE,  # at in I: tape that right-hand sides go through, once a projection
    CONSTANTS,  # at in I: where constant outputs are written, once a start
    GENERATIONS,  # at in I: count, then records of GENERATION_SIZE
    FINAL_JOINTS,  # at in I: joints that levels need, and no generation placed after it wrote the last time
    ALL_JOINTS,  # at in I: all joints that anything needs
    EXPLICIT_JACOBIAN,  # at in W: E, derivative of computed dofs, by column
    CHAIN,  # at in I: what the chain rule replaces
    UNITS,  # at in I: count, then (at in q, size) of blocks of unit norm
    MOVES,  # at in I: count, then (kind, at in q, columns at in I) of what steps move
    BOX,  # at in I: count, then entries of q that steps keep in bounds
    BOX_LIMITS,  # at in F: lower, upper of each
    LIMITS,  # at in F: lower bounds of live columns, then upper ones; infinite without
    ENTRIES,  # at in I: entry of q of each live column, 0 where that is none
    IS_OPEN,  # 1 where no live column has a bound
    UNKEPT,  # at in I: as BOX, entries that steps do not keep in their bounds
    UNKEPT_LIMITS,
    ALL_BOUNDED,  # as BOX, all entries with bounds
    ALL_LIMITS,
    TURNING,  # as BOX, joints that may be shifted by whole turns
    TURNING_LIMITS,
    SCALE,  # at in F: root of the inverse cost of each live column; 0 where all cost alike
    TABLE,  # at in F: table of restart configurations
    TABLE_ROWS,
    DRAWN,  # at in I: count, then entries of q that restarts draw
    CRC,  # at in I: table of the check sum
    LEAVING,  # at in I: as BOX, bounded translations of computed bodies
    LEAVING_LIMITS,
    COMPUTES,  # 1 where there are explicit constraints
    MAPS,  # 1 where outputs are computed anew for each configuration
    RESTARTS,  # 1 where a try may be followed by another one
    OPTIONAL,  # 1 where the last level need not hold
    MAX_ITERATIONS,
    SCREEN,
    PASSES,
    STALL_COUNT,
    THRESHOLDS,  # at in F: record of options
    BODIES,  # at in I: count, then (size, translation in q, rotation in q, first column) of free bodies with bounds
    BODY_BOX,  # as BOX, their translations
    BODY_LIMITS,
    ALIGNED_LIMITS,  # as LIMITS and ENTRIES, where the coordinates of their translations are columns
    ALIGNED_ENTRIES,
    CAPS,  # at in W: cap of each lower level
    RESIDUALS,  # at in W: of each level, now
    RESIDUALS_BEFORE,  # and one iteration before
    ABOVE,  # at in W: rows of the levels above, by row
    FACTORS,  # the same as reflectors
    REFLECTED,  # at in W: factor of each reflector
    ROTATED,  # at in W: rows of a level in coordinates of the null space
    PART,  # at in W: step of a lower level
    TRACE,  # at in W: records of nq + 2 numbers, the iterates; 0 where they are not kept
) = range(79)

# Options in F, from THRESHOLDS on.
THRESHOLD, DAMPING, CAP, STALL_RATIO = range(4)

# The record of a level in I.
(
    ROWS,  # number of rows
    ERROR,  # at in W
    JACOBIAN,  # at in W: by column, ROWS numbers each
    BLOCKS,  # at in I: count, then records of BLOCK_SIZE
    TAPE,  # at in I: count, then instructions
    CLEARED,  # 1 where columns are written that no instruction declares, so that all are cleared first
    OUTPUTS,  # at in I: count, then (computed dof, count of rows ..) of the chain rule
    ONE_SIDED,  # at in I: count, then (row, at in W unclipped) of rows with an interval; 0 where there is none
    SIDES,  # at in F: lower, upper limit of each
    UNCLIPPED,  # at in W: Jacobian of each, by row
) = range(10)
LEVEL_SIZE = 10

# The record of a block of rows in I: one constraint.
(
    VALUE,  # at in W: value of the function
    BLOCK_JACOBIAN,  # at in W: its Jacobian, by column
    STRIDE,  # numbers from one column of it to the next
    GROUP,  # at in I: leaves of its group
    FLAT,  # 1 where it is R^n
    SIDE,  # at in W: its right-hand side
    TANGENT,  # number of tangent rows
    COLUMNS,  # at in I: count, then columns
    LOG,  # at in W: memory for all errors
    WHERE,  # at in I: row of the level of each tangent row, -1 where masked; 0 where all stand in place
    INTERVALS,  # at in F: lower, upper, scale of each row; 0 where all rows are plain
    FIRST,  # its first row in the level
    COUNT,  # its rows that count
    TURNS,  # at in I: count, then first rows of rotation vectors of which any of the same rotation will do
    SCALED,  # at in W: its scaled rows before they are clipped; 0 where they are not kept
) = range(15)
BLOCK_SIZE = 15

# A generation of explicit constraints in I.
(JOINTS, GENERATION_TAPE, WRITES) = range(3)
GENERATION_SIZE = 3

# An instruction in I.
(OPERATION, X, Y, J, JS, COLS, A, B, C, D, NUMBERS) = range(11)
INSTRUCTION_SIZE = 11

# A joint in I.
(JOINT_KIND, PARENT, ENTRY, PLACED, CONSTANT, JOINT_COLUMNS) = range(6)
JOINT_SIZE = 6

# What closures and contacts measure of a pose, in I.
(
    MAP,  # which of the maps below
    MAP_ROWS,  # its rows
    LINEAR_ROWS,  # so many of them, the first ones, see the linear velocity
    FIRST_ANGULAR,  # they see the angular velocity from this one on
    DIRECTIONS,  # number of translations along given directions
    ROTATION_MAP,  # which rows of the rotation follow
    MAP_GROUP,  # at in I: leaves of SE(3)
    MAP_COLUMNS,  # at in I: count, then 0 to 5
) = range(8)

# Maps of poses, and rows of rotations.
(SPLIT, SCREW, LOG_POSE, TURNED_LOG, ROD, LOCAL_POINT) = range(6)
(NO_ROTATION, TURN, SWING, CROSS) = range(4)

# A pair of surfaces that may touch, in I.
(
    FLOOR_POSE,  # at in W: poses of the two joints
    OBJECT_POSE,
    SURFACES,  # at in F: placements of the two surfaces on them
    PLACES,  # at in W: poses of the floor's surface, of the object's, and of this one seen from that
    EDGES,  # at in F: first vertex, direction and length of each edge of the floor's polygon
    EDGE_COUNT,
    SIGNS,  # at in I: for each column of the function 1 where it moves the object, -1 for the floor, 0 for both or none
) = range(7)
PAIR_SIZE = 7

# What is asked of a function.
(VALUES, WITH_JACOBIAN) = range(2)

# Kinds of joints.
(REVOLUTE, CONTINUOUS, PRISMATIC, HELICAL, SPHERICAL, PLANAR, FREE, TRANSLATION, ELLIPSOID) = range(9)

# Groups: what a leaf of a space is.
(VECTOR, SO2, SO3, SE2, SE3) = range(5)

# Operations.
(
    POSE,
    POSE_R3XSO3,
    POSITION,
    ORIENTATION,
    TRANSFORMATION,
    ROTATION,  # the last function of two frames
    CENTER,
    AFFINE,
    COPY,
    PRODUCT,
    TWIN,
    CHAIN_RULE,
    SELECT,
    POSE_FROM_ROWS,
    POSE_MAP,
    SUM,
    LOGARITHM,
    POLYNOMIAL,
    BETWEEN_FEET,
    CONTACT,
    CONTACT_PLACE,
    CONTACT_HOLD,
    POSE_OF_CONTACT,
) = range(23)

# The state of a projection, from STATE on.
(
    ITERATIONS,
    TRIES,
    BEST_TRY,
    STATUS,
    RESIDUAL,
    MERIT,
    RESUMED,  # 1 where it goes on from what Q has
    TRACED,  # so many iterates were kept
) = range(8)
STATE_SIZE = 8

# Statuses.
(CONVERGED, STALLED, MAX_ITERATIONS_SPENT, STATIONARY, OUT_OF_BOUNDS, UNDEFINED) = range(6)
NO_POINT = 6
"""The start is no point of the space: it has a number that is not finite, or a unit block of another norm."""

# What is done on a leaf before a projection onto it.
(HAS_SOURCE, HAS_READER) = (1, 2)
