"""The page of counterparts: every name of four sources has a row; what it points to exists."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest
from docs.pages import cells_of

DOORS = ("loops", "dynamics", "robot", "reduced")
"""Where a name without a module is looked up."""

# Identifiers of the header, those of the language and of the standard library left out.

RBDL = """
    ConstraintSet ConstraintType ContactConstraint LoopConstraint ConstraintTypeLast
    AddContactConstraint AddLoopConstraint Copy SetSolver Bind size clear
    linear_solver bound constraintType name contactConstraintIndices loopConstraintIndices body point normal
    body_p body_s X_p X_s constraintAxis T_stab_inv err errd acceleration force impulse v_plus
    H C gamma G A b x Gi GSpi GSsi GSJ GT_qr GT_qr_Q Y Z qddot_y qddot_z
    K a QDDot_t QDDot_0 f_t f_ext_constraints point_accel_0 d_pA d_a d_u d_IA d_U d_d d_multdof3_u

    CalcConstraintsPositionError CalcConstraintsJacobian CalcConstraintsVelocityError CalcConstrainedSystemVariables
    CalcAssemblyQ CalcAssemblyQDot
    ForwardDynamicsConstraintsDirect ForwardDynamicsConstraintsRangeSpaceSparse ForwardDynamicsConstraintsNullSpace
    ForwardDynamicsContactsKokkevis
    ComputeConstraintImpulsesDirect ComputeConstraintImpulsesRangeSpaceSparse ComputeConstraintImpulsesNullSpace
    SolveConstrainedSystemDirect SolveConstrainedSystemRangeSpaceSparse SolveConstrainedSystemNullSpace

    body_id body_point world_normal constraint_name normal_acceleration
    id_predecessor id_successor X_predecessor X_successor axis solver
    Model model Q QDot Tau CS QDDot update_kinematics QInit QDotInit weights tolerance max_iter QDotMinus QDotPlus
    c qddot lambda

    LinearSolver LinearSolverColPivHouseholderQR HouseholderQR VectorNd MatrixNd Vector3d SpatialVector SpatialTransform
    RBDL_DLLAPI RBDL_USE_SIMPLE_MATH
    ForwardDynamicsContacts ForwardDynamicsContactsDirects
    SolveContactSystemRangeSpaceSparse SolveContactSystemNullSpace
"""
RBDL_3 = """
    AddCustomConstraint enableBaumgarteStabilization calcForces calcImpulses calcPositionError calcVelocityError
    calcBaumgarteStabilizationForces f_ext SetActuationMap isConstrainedSystemFullyActuated
    InverseDynamicsConstraints InverseDynamicsConstraintsRelaxed
"""
KARANA = """
    LoopConstraintCutJoint LoopConstraintBase create name mb Multibody constraint_f_to_f FrameToFrame
    htype HingeBase HingeType subhinge_types SubhingeBase SubhingeType
    hasHinge hinge FramePairHinge errorFrameToFrame poseError velError accelError nResiduals
    spExternalForceFromT T no_accumulate getInterBodyForceTAFwdDyn CoordData toPhysicalHinge PhysicalHinge lc reverse
    _poseResidual _velResidual _accelResidual _updateInvDynT _discard _computeQMats QMats
    _constraintSpForceTToTarget _constraintSpForceTToSource tgt_f _error_f2f _hinge_type
    Vec SpatialVector ks_ptr
"""
KARANA_AROUND = """
    LOCKED PIN SLIDER HELICAL UJOINT HOOKE CYLINDRICAL PLANAR GIMBAL BALL BALL_QUAT TRANSLATIONAL FULL6DOF CUSTOM
    getSubhingeTypes source_Q target_Q rel_Q constrainsQ LoopConstraintConVel
    ConstraintKinematicsSolver solveQ solveU solveUdot
"""
ROBOTRAN = """
    dirdynared invdynared mbs_Mred mbs_Rred mbs_Rred_core mbs_comp_LUdcmp_mJv mbs_close_geo mbs_step_close_geo
    mbs_anim_close_geo mbs_close_kin mbs_calc_hJ mbs_calc_jdqd mbs_calc_force get_ball_force get_rod_force
    get_link_force MbsAux MbsData MbsSensor s mbs_aux mbs_data sens ancestor ball_id rod_id link_id body_1_id
    pt_1_id body_2_id pt_2_id trsh forces_I frc trq q qd qdd iqv time lambda Fl hu qv nqv mJv ind_mJv Jac q_save nqu
    Mr Rred Qc MBS_INFO_SUCCESS
"""
ROBOTRAN_AROUND = """
    mbs_part rowperm threshold visualise verbose qu nqc qc nhu hv q_closed DonePart NRerr MAX_NR_ITER -50 Bvuc Mruc
    Fruc M F c bp phi Qq Qa nqa qa user_LinkForces user_ExtForces Fxfrc user_JointForces user_Link3DForces mbs_equil
    mbs_run_equil static method solvemethod smooth relax itermax equitol senstol 501 nquch quch xch_ptr
    mbs_equil_substitution nxe xe_ptr fxe mbs_equil_addition mbs_print_equil Gr Kr relincr absincr lintol A
    mbs_modal mode_ampl save2file
"""
CROCODDYL = """
    DifferentialActionModelContactFwdDynamicsTpl DifferentialActionModelContactFwdDynamics Base state actuation
    contacts costs constraints JMinvJt_damping enable_force calc calcDiff createData Data
    DifferentialActionDataAbstract checkData data cast NewScalar Scalar quasiStatic maxiter tol x u get_ng get_nh
    get_ng_T get_nh_T get_g_lb get_g_ub g_lb_ g_ub_ nu_ state_ get_actuation ActuationModelAbstract get_contacts
    ContactModelMultiple get_costs CostModelSum get_constraints ConstraintModelManager ConstraintModelAbstract
    get_pinocchio StateMultibody get_armature set_armature get_damping_factor set_damping_factor print VectorXs
    MatrixXs MathBase
"""
CROCODDYL_PYTHON = """
    ng nh nr ng_T nh_T g_lb g_ub nu u_lb u_ub has_control_limits pinocchio copy
"""
"""What the class has in Python beside the names of its header."""
SECTIONS = {
    "RBDL": RBDL + RBDL_3,
    "Karana": KARANA + KARANA_AROUND,
    "Robotran": ROBOTRAN + ROBOTRAN_AROUND,
    "Crocoddyl": CROCODDYL + CROCODDYL_PYTHON,
}


NAME = re.compile(r"([A-Za-z_][\w.]*)(?:\((\w+=(?:, \w+=)*)\))?")
"""How names of ours are written: `Name`, `Class.attribute`, `module.name`, `name(argument=, other=)`."""

WORDS = frozenset(("AddBody", "pinocchio.SE3"))
"""Code in the last column that is neither a name of ours nor of the source."""


def rows_of(section: str) -> list[list[str]]:
    """Cells of the table of a section, without its head and the lines that name a group."""
    return [row for row in cells_of("counterparts", section) if row[0] != section and not row[0].startswith("**")]


def code_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def resolved(written: str) -> object:
    """What `Name`, `Class.attribute`, `module.name` or `name(argument=, other=)` is.

    Of an attribute that only instances have, its annotation.
    """
    match = NAME.fullmatch(written)
    assert match is not None, "neither a dotted name nor name(argument=)"
    head, *tail = match[1].split(".")
    doors = [importlib.import_module(f"constraints.{door}") for door in DOORS]
    homes = [door for door in doors if hasattr(door, head) and not inspect.ismodule(getattr(door, head))]
    assert len({id(getattr(home, head)) for home in homes}) <= 1, "in several of the doors, and not the same"
    path = "constraints"
    thing: object = importlib.import_module(path)
    if homes:
        thing = getattr(homes[0], head)
    else:
        tail = [head, *tail]
    for part in tail:
        if inspect.ismodule(thing):
            path = f"{thing.__name__}.{part}"
            thing = getattr(thing, part) if hasattr(thing, part) else importlib.import_module(path)
            continue
        assert inspect.isclass(thing), f"'{part}' is of something that is neither a module nor a class"
        thing = attribute(thing, part)
    if match[2]:
        assert callable(thing)
        known = inspect.signature(thing).parameters
        asked = re.findall(r"(\w+)=", match[2])
        assert set(asked) <= set(known), f"its arguments are {', '.join(known)}"
    return thing


def attribute(owner: type, name: str) -> object:
    if hasattr(owner, name):
        return getattr(owner, name)
    for base in owner.__mro__:
        known = inspect.get_annotations(base)
        if name in known:
            return known[name]
    raise AttributeError(f"{owner.__name__} has no '{name}'")


@pytest.mark.parametrize("section", SECTIONS)
def test_every_name_of_the_source_has_one_row(section: str):
    """Dynamics 11: every name of the RBDL header and of the Karana class, and none that they do not have."""
    names = [name for row in rows_of(section) for name in code_in(row[0])]
    assert sorted(names) == sorted(SECTIONS[section].split())


@pytest.mark.parametrize("section", SECTIONS)
def test_every_row_says_what_is_ours_and_what_differs(section: str):
    """Dynamics 11: ours is names in code and nothing else, or "none"; the difference is never left out."""
    for row in rows_of(section):
        assert len(row) == 3, row
        ours = re.sub(r"`[^`]+`", "", row[1]).strip(", ")
        assert ours == ("" if code_in(row[1]) else "none"), row
        assert row[2].endswith("."), row


def pointers() -> list[str]:
    """Names of ours: the code in the middle column, and in the last one that which is a name, and not of the source."""
    found = {code for section in SECTIONS for row in rows_of(section) for code in code_in(row[1])}
    for section, names in SECTIONS.items():
        said = {code for row in rows_of(section) for code in code_in(row[2])} - {*names.split()} - WORDS
        found |= {code for code in said if NAME.fullmatch(code)}
    return sorted(found)


@pytest.mark.parametrize("written", pointers())
def test_what_a_row_points_to_exists(written: str):
    """Dynamics 11: every name of ours, with its arguments."""
    resolved(written)


@pytest.mark.parametrize(
    "wrong",
    [
        "NoSuchName",
        "ConstraintSet.nothing",
        "dynamics.nothing",
        "forward_dynamics(nothing=)",
        "Closure(robot=, nothing=)",
        "Closure()",
        "a sentence",
    ],
)
def test_names_that_do_not_exist_are_seen(wrong: str):
    with pytest.raises((AssertionError, AttributeError, ImportError)):
        resolved(wrong)
