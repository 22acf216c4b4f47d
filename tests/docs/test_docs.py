"""The pages of docs/: their Python runs and prints what they say, and their tables leave nothing out."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import pydoc
import re
from dataclasses import fields
from pathlib import Path

import pytest
from docs.pages import DOCS, ROOT, blocks, cells_of, text_of
from samples import SAMPLES

import constraints
from constraints import Function, Options, Projector
from constraints.__main__ import main
from constraints.rows.row_owner import RowOwner

PAGES = (
    *("../README", "index", "tutorial", "concepts", "options", "statuses", "choosing", "command_line"),
    *(f"howto/{p.stem}" for p in sorted((DOCS / "howto").glob("*.md"))),
)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    """Done when: each how-to page's code runs in CI."""
    monkeypatch.chdir(tmp_path)
    for block, printed in blocks.run(DOCS / f"{page}.md"):
        if block.text is None:
            assert printed == "", f"{page}.md, line {block.line}: what it prints is not on the page"
        else:
            assert blocks.differences(block.text, printed, block.roughly) == [], f"{page}.md, line {block.line}"


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_python_is_found(page):
    assert len(blocks.blocks(text_of(page))) == text_of(page).count("```python")


def test_differences_are_seen():
    """The comparison of pages with what is printed passes last digits, times and small numbers, nothing else."""
    said = "CONVERGED (residual 3.51e-05, 3 iterations)\n0.450 in 1.2 ms\n"
    assert blocks.differences(said, "CONVERGED (residual 1.2e-06, 4 iterations)\n0.451 in 9 ms\n") == []
    for other in (
        "STALLED (residual 3.51e-05, 3 iterations)\n0.450 in 1.2 ms\n",
        "CONVERGED (residual 3.51e-05, 3 iterations)\n0.48 in 1.2 ms\n",
        "CONVERGED (residual 0.01, 3 iterations)\n0.450 in 1.2 ms\n",
        "CONVERGED (residual 3.51e-05, 3 iterations)\n",
    ):
        assert blocks.differences(said, other) != []
    assert blocks.differences("4 of 13 dofs\n", "5 of 13 dofs\n") != []
    assert blocks.differences("rank 3, 0.2 off\n", "rank 3, 0.9 off\n", roughly=True) == []
    assert blocks.differences("a 0.1\nb 0.1\n", "b 0.1\na 0.1\n") != []
    assert blocks.differences("a 0.1\nb 0.1\n", "b 0.1\na 0.1\n", roughly=True) == []
    assert blocks.differences("rank 3, 0.2 off\n", "rank 4, 0.2 off\n", roughly=True) != []


def test_commands_of_the_page_on_sidecars_print_what_it_says(tmp_path, monkeypatch, capsys):
    """Welcome: the command on the page, and what it says of a pair that is welded instead of pinned."""
    monkeypatch.chdir(tmp_path)
    blocks.run(DOCS / "howto/loop_sidecar.md")
    page = text_of("howto/loop_sidecar")
    (command, said), *_ = re.findall(
        r"^```sh\npython -m constraints ([^\n]*)\n```\n```text\n(.*?)^```", page, re.M | re.S
    )
    capsys.readouterr()
    assert main(command.split()) == 0
    assert blocks.differences(said, capsys.readouterr().out) == []
    Path("welded.yaml").write_text(Path("fourbar.yaml").read_text().replace("[3d]", "[6d]"))
    assert main(["assemble", "fourbar.urdf", "--loops", "welded.yaml"]) == 1
    printed = capsys.readouterr().out.splitlines()
    lines = page[page.index("closed 0\n") :].partition("```")[0].splitlines()
    assert [line for line in printed if line in lines] == lines


def test_a_page_is_run_up_to_a_neighbour_that_is_not_installed(tmp_path, monkeypatch):
    """Welcome: the page on OMPL is checked where OMPL is, and its first half everywhere."""
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```python\nfrom ompl import base\n```\n\n```python\nprint(2)\n```\n")
    monkeypatch.setattr(blocks, "find_spec", lambda name: None)
    assert [printed for _, printed in blocks.run(page)] == ["1\n"]


def test_every_page_is_in_a_table_of_contents_and_every_link_leads_somewhere():
    linked: set[Path] = set()
    for path in DOCS.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            names = [re.sub(r"^.*<(.*)>$", r"\1", line.strip()) for line in tree.splitlines() if line.strip()]
            linked |= {(path.parent / name).resolve() for name in names if not name.startswith(":")}
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            assert "://" in target or (path.parent / target).exists(), f"{path.name} links to {target}"
    pages = {path.with_suffix("").resolve() for path in DOCS.rglob("*.md")} - {(DOCS / "index").resolve()}
    assert pages <= linked, sorted(str(page) for page in pages - linked)


def test_names_with_their_folders_are_there():
    """`constraints.models.load`, `models.files.mjcf.from_qpos`: no page calls a value `models`."""
    pages = {path.name: path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
    named = {
        (page, name) for page, text in pages.items() for name in re.findall(r"`((?:constraints|models)\.[\w.]+)", text)
    }
    assert len(named) > 20
    for page, name in sorted(named):
        found = pydoc.locate(f"constraints.{name.removeprefix('constraints.')}")
        assert found is not None, f"{page}: {name}"


def test_every_option_is_explained():
    table = text_of("options")
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert {field.name for field in fields(Options)} <= named
    for row in rows:  # defaults are those of the class
        for name, default in zip(*(re.findall(r"[\w.()-]+", cell) for cell in row.split("|")[1:3]), strict=False):
            if hasattr(Options, name) and default != "FullSteps()":
                assert eval(default) == getattr(Options, name), name


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_in_the_gallery_with_its_picture(example):
    assert re.search(rf"\((gallery/)?{example.stem}\.png\)", text_of("gallery"))
    assert f"examples/{example.name}`" in text_of("gallery")
    assert "--plot OUT.png" in example.read_text(encoding="utf-8") or "options.plot" in example.read_text()


def test_pictures_are_small():
    for picture in (
        *DOCS.glob("gallery/*.png"),
        *(DOCS / f"{name}.png" for name in ("concepts", "geometry", "pick_and_place")),
    ):
        assert picture.stat().st_size <= 150_000, picture.name


# What someone who knows another library looks for: names of the classes and functions of the sources that the library
# was designed after. They are looked up in the left column of their section.

HPP = """
    LiegroupSpace LiegroupElement LiegroupElementRef LiegroupElementConstRef Device Joint BlockIndex MatrixBlocks
    MatrixBlockView DifferentiableFunction DifferentiableFunctionSet AffineFunction Identity ConstantFunction
    Difference OfParameterSubset ActiveSetDifferentiableFunction SymbolicFunction CalculusBase FunctionExp
    MatrixOfExpressions PointInJoint VectorInJoint PointCom CrossProduct ScalarProduct ScalarMultiply
    RotationMultiply Sum JointTranspose JointFrame GenericTransformation Position RelativePosition Orientation
    RelativeOrientation Transformation RelativeTransformation OrientationSO3 RelativeOrientationSO3
    TransformationR3xSO3 RelativeTransformationR3xSO3 CenterOfMassComputation RelativeCom ComBetweenFeet ConvexShape
    ConvexShapeData ConvexShapeContact ConvexShapeContactComplement ConvexShapeContactHold StaticStability
    QPStaticStability ConfigurationConstraint DistanceBetweenBodies DistanceBetweenPointsInBodies Manipulability
    MinManipulability FunctionNotDefinedForThisValue Implicit NumericalConstraint ComparisonType ComparisonTypes_t
    Equality EqualToZero Superior Inferior ImplicitConstraintSet Explicit ExplicitNumericalConstraint
    ImplicitFunction RelativePose ExplicitConstraintSet LockedJoint HierarchicalIterative BySubstitution
    ConfigProjector ConstraintSet Backtracking Constant FixedSequence ErrorNormBased Bounds Gripper Handle
    ConstraintAndComplement Graph GraphComponent State Edge WaypointEdge LevelSetEdge StateSelector
    GuidedStateSelector Foliation FoliatedManifold Histogram LeafHistogram StateHistogram Rule
    ConstraintGraphFactory ObjectDef Validation HandleFactory GripperFactory ContactFactory Parser
    ManipulationPlanner StatesPathFinder TransitionPlanner EndEffectorTrajectory Roadmap SteeringMethod Problem
    ProblemSolver RandomShortcut rightHandSide rightHandSideFromConfig rightHandSideAt checkRightHandSide
    inequalityThreshold activeParameters activeDerivativeParameters lastIsOptional projectVectorOnKernel
    projectOnKernel oneStep isSatisfied optimize merge definesSubmanifoldOf reducedDimension implicitDof
    describeError residualError sigma solveLevelByLevel extract createGrasp createPreGrasp createGraspComplement
    createGraspAndComplement dependsOnRelPoseBetween
    ComparisonTypes apply solve value jacobian getState dIntegrate_dq dDifference_dq1 outputValue freeVariables
"""
RBDL = """
    ConstraintSet ConstraintType AddContactConstraint AddLoopConstraint AddCustomConstraint Bind Copy clear
    CalcConstraintsPositionError CalcConstraintsVelocityError CalcConstraintsJacobian CalcConstrainedSystemVariables
    CalcAssemblyQ CalcAssemblyQDot ForwardDynamicsConstraintsDirect ForwardDynamicsConstraintsRangeSpaceSparse
    ForwardDynamicsConstraintsNullSpace ForwardDynamicsContactsKokkevis ComputeConstraintImpulsesDirect
    ComputeConstraintImpulsesRangeSpaceSparse ComputeConstraintImpulsesNullSpace SolveConstrainedSystemDirect
    SolveConstrainedSystemRangeSpaceSparse SolveConstrainedSystemNullSpace InverseDynamicsConstraints
    InverseDynamicsConstraintsRelaxed gamma force impulse v_plus T_stab_inv err errd G H C
"""
CROCODDYL = """
    StateMultibody ContactModel1D ContactModel2D ContactModel3D ContactModel6D ContactModelMultiple
    ConstraintModelManager DifferentialActionModelContactFwdDynamics calc calcDiff quasiStatic ActuationModelAbstract
    CostModelSum RigidConstraintModel PointAnchorConstraintModel FrameAnchorConstraintModel constraintDynamics
    computeConstraintDynamicsDerivatives impulseDynamics getConstraintsJacobian JointLimitConstraintModel
    buildModelAndConstraintsFromMJCF LOCAL LOCAL_WORLD_ALIGNED
"""
ROBOTRAN = """
    mbs_close_geo mbs_step_close_geo mbs_anim_close_geo mbs_close_kin mbs_calc_hJ mbs_calc_jdqd mbs_comp_LUdcmp_mJv
    dirdynared invdynared mbs_Mred mbs_Rred mbs_Rred_core mbs_calc_force get_ball_force get_rod_force get_link_force
    MbsData MbsAux
"""
KARANA = """
    LoopConstraintBase LoopConstraintCutJoint LoopConstraintConVel HingeBase FramePairHinge SubhingeBase
    errorFrameToFrame poseError velError accelError toPhysicalHinge ConstraintKinematicsSolver solveQ solveU solveUdot
    spExternalForceFromT getInterBodyForceTAFwdDyn FrameToFrame LOCKED PIN SLIDER HELICAL UJOINT HOOKE CYLINDRICAL
    PLANAR GIMBAL BALL BALL_QUAT TRANSLATIONAL FULL6DOF CUSTOM
"""
DRAKE = """
    MultibodyPlant Context RigidTransform RotationMatrix RollPitchYaw CalcBiasSpatialAcceleration CalcMassMatrix
    InverseKinematics AddPositionConstraint AddOrientationConstraint AddWeldConstraint AddBallConstraint weld coupler
    AddCouplerConstraint AddDistanceConstraint CheckSatisfied EvaluatorBase Binding
"""
MUJOCO = "mjModel mjData qpos qvel equality connect weld joint polycoef anchor relpose solref site keyframe qpos0 efc_J"
PINK = """
    Configuration task FrameTask RelativeFrameTask PostureTask ComTask set_target cost gain lm_damping limits barriers
    solve_ik EqualityConstraintTask
"""
IKINE = (
    "ikine_LM inverse_kinematics Tep target_position q0 initial_position mask orientation_mode active_links_mask tol"
)
JAXLIE = "identity exp log multiply adjoint apply jlog rplus rminus normalize sample_uniform wxyz from_rpy_radians"
SECTIONS = {"HPP": HPP, "RBDL": RBDL, "Crocoddyl": CROCODDYL, "Robotran": ROBOTRAN, "Karana": KARANA}
SECTIONS |= {"Drake": DRAKE, "MuJoCo": MUJOCO, "pink and mink": PINK, "jaxlie": JAXLIE}
SECTIONS |= {"Robotics Toolbox and ikpy": IKINE}


def rows_of(section: str) -> list[list[str]]:
    """Cells of the tables of a section of the glossary, without their heads."""
    heads = (section, "HPP", "Crocoddyl, Pinocchio", "pink, mink")
    return [row for row in cells_of("glossary", section) if row[0] not in heads]


@pytest.mark.parametrize("section", SECTIONS)
def test_every_name_of_a_neighbour_is_in_the_glossary(section):
    """Done when: someone who knows HPP finds each of its class names in the glossary. And the others theirs."""
    rows = rows_of(section)
    found = {name for row in rows for name in re.findall(r"\b\w+\b", row[0])}
    assert set(SECTIONS[section].split()) <= found, sorted(set(SECTIONS[section].split()) - found)
    assert all(row[1] for row in rows)


VALUES = {"robot": "Robot"}  # a value in the right column -> its class
WORDS = frozenset(
    "a A e e1 f g evaluate initialize inner parameters frozen predecessor successor axes normal pinocchio".split()
)  # what stands there in code but is an argument, a method named before, or a library


def homes() -> list[object]:
    doors = (
        "actions errors dynamics functions rows interop loops manipulation models paths reduced robot solvers testing"
    )
    inside = ("dynamics.methods.saddle_point", "loops.mobility", "loops.hinges.hinge")
    modules = [importlib.import_module(f"constraints.{name}") for name in (*doors.split(), *inside)]
    return [constraints, Projector, *modules, importlib.import_module("liegroups")]


def exists(dotted: str) -> bool:
    """Whether a dotted name is something of the library: a public object, or an attribute or field of one."""
    head, *tail = dotted.split(".")
    if head in ("constraints", "liegroups"):
        thing: object = importlib.import_module(head)
        for i, part in enumerate(tail):
            if not hasattr(thing, part):
                importlib.import_module(".".join([head, *tail[: i + 1]]))
            thing = getattr(thing, part)
        return True
    head = VALUES.get(head, head)
    for home in homes():
        if hasattr(home, head):
            thing = getattr(home, head)
            if not tail:
                return True
            known = {*dir(thing), *getattr(thing, "__annotations__", {})}
            if tail[0] in known or re.search(rf"^ +{tail[0]}\b.*:", thing.__doc__ or "", re.MULTILINE):
                return True
    return False


@pytest.mark.parametrize("section", SECTIONS)
def test_what_the_glossary_points_to_exists(section):
    """Names of ours in the right column: `Problem.rhs_from`, `Closure(...)`, `constraints.models.load`."""
    for row in rows_of(section):
        for code in re.findall(r"`([^`]+)`", row[1]):
            dotted = re.match(r"[A-Za-z_][\w.]*", code)
            if dotted is None or code[dotted.end() :].startswith("=") or dotted[0].split(".")[0] in WORDS:
                continue
            assert exists(dotted[0].rstrip(".")), f"glossary, {row[0]}: {code}"


def test_the_glossary_misses_nothing_that_the_counterparts_have():
    """Welcome: names with a counterpart were still "not here yet" in the glossary."""
    counterparts = re.findall(r"^\| (.*?) \| (.*?) \|", text_of("counterparts"), re.MULTILINE)
    here = {name for left, ours in counterparts if ours != "none" for name in re.findall(r"`(\w+)`", left)}
    assert {"calcDiff", "dirdynared"} <= here
    rows = [row for section in ("RBDL", "Crocoddyl", "Robotran", "Karana") for row in rows_of(section)]
    missing = {name for left, ours in rows if "not here" in ours for name in re.findall(r"`(\w+)`", left)}
    assert missing
    assert not missing & here


def concrete(base: type) -> set[str]:
    """Names of the public classes of the library under a base."""
    for module in pkgutil.walk_packages(constraints.__path__, "constraints."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, todo = set[str](), [base]
    while todo:
        todo += (children := todo.pop().__subclasses__())
        found |= {
            child.__name__
            for child in children
            if child.__module__.startswith("constraints.")
            and not child.__module__.endswith("._template")
            and not child.__name__.startswith("_")
            and not inspect.isabstract(child)
        }
    return found


def table_of_functions() -> dict[str, list[str]]:
    """Name in the first column -> the cells of its row."""
    rows = [line for line in text_of("functions").splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    return {re.findall(r"[\w.]+", row[0])[0]: row for row in cells}


def test_every_function_is_in_the_table_and_nothing_else():
    table = table_of_functions()
    functions = {name for name, row in table.items() if len(row) == 6 and name[0].isupper()}
    assert functions == concrete(Function)


def test_every_owner_of_rows_is_in_the_table():
    """All kinds of constraints; the base of closures and contacts is not given by users."""
    names = {name for name, row in table_of_functions().items() if len(row) == 8}
    assert concrete(RowOwner) - {"FrameRows"} <= names
    assert all(exists(name) for name in names)


def test_the_table_says_what_is_packed():
    pytest.importorskip("numba")
    from constraints.solvers.compiled.functions import TABLE

    packed = {f.__name__ for f in TABLE}
    said = {name: row[4] for name, row in table_of_functions().items() if len(row) == 6 and name[0].isupper()}
    assert said.pop("FromCallable") == "where its formula is read"
    assert said == {name: "yes" if name in packed else "called" for name in said}


def test_rows_in_the_table_are_those_of_the_functions():
    """Where the table has a number, it is the size of the tangent space of the outputs, for every sample."""
    table, checked = table_of_functions(), set[str]()
    for factory in SAMPLES.values():
        function = factory()
        name = type(function).__name__
        if name in table and table[name][2].isdigit():
            assert function.outputs.nv == int(table[name][2]), name
            checked.add(name)
    assert len(checked) >= 11
