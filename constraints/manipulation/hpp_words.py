"""Methods of HPP's graphs that a graph here does not have, and how the same is said."""

from __future__ import annotations

_PROJECTED = "`Projector(graph.problem_of(state)).project(q)`"
_ON_A_LEAF = "`problem, rhs = graph.path_problem(transition, q_leaf)`, then `Projector(problem).project(q, rhs)`"
_ERRORS = "`errors(q, q_start)`"
_REBUILT = "`ConstraintGraph(..., constraints=[...])`: a graph is made again from its parts"

OF_GRAPHS = {
    "generateTargetConfig": "`target(transition, q_start, q)`",
    **dict.fromkeys(("applyConstraints", "applyNodeConstraints", "applyStateConstraints"), _PROJECTED),
    **dict.fromkeys(("applyEdgeLeafConstraints", "applyLeafConstraints"), _ON_A_LEAF),
    **dict.fromkeys(("getConfigErrorForNode", "getConfigErrorForState", "getConfigErrorForEdge"), _ERRORS),
    **dict.fromkeys(("getConfigErrorForTransition", "getConfigErrorForEdgeLeaf"), _ERRORS),
    **dict.fromkeys(("addConstraints", "addNumericalConstraintsToGraph"), _REBUILT),
    "getState": "`state_of(q)`",
    "getTransition": "`transition(name)`",
    "initialize": "nothing: a graph is ready when it is made",
    "setSecurityMarginForEdge": "`ConstraintGraph(..., margins=SecurityMargins(default, pairs))`, of the whole graph",
}
"""Such a name -> what to use instead."""
