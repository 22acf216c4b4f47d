"""A shooting problem as a nonlinear program of CasADi, whose wheel carries Ipopt. Extra `casadi`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from liegroups.arguments import expect

from ..errors import FailedError, UndefinedError
from ..exports import from_extra
from .shooting import MultipleShooting


class CasadiProgram(NamedTuple):
    """A shooting problem for `casadi.nlpsol`. Keep it alive as long as the solver: CasADi does not own its callbacks.

    Attributes:
        nlp: a `casadi.Function`, (x, p) -> (f, g): cost and rows of `MultipleShooting`.
        options: of the solver: exact derivatives of f and g, and the Gauss-Newton Hessian of the cost.
        arguments: arguments of the call: x0 (`program.start`), lbx, ubx, lbg, ubg.

    Example:
        >>> made = as_casadi(program)  # doctest: +SKIP
        >>> solver = casadi.nlpsol("swing", "ipopt", made.nlp, dict(made.options))  # doctest: +SKIP
        >>> found = program.trajectory(solver(**made.arguments)["x"].full().ravel())  # doctest: +SKIP
    """

    nlp: Any
    options: Mapping[str, Any]
    arguments: Mapping[str, Any]


def as_casadi(program: MultipleShooting) -> CasadiProgram:
    """A shooting problem as a nonlinear program of CasADi, by callbacks.

    If a node has no dynamics the cost is infinite, and missing derivatives are NaN: Ipopt then takes a shorter step.
    Charts are fixed: after a large change build another program from `program.around(trajectory)`.

    Args:
        program: the problem.

    Raises:
        WrongObjectError: not a `MultipleShooting`.
        MissingExtraError: casadi is not installed.
        FailedError, FailedError, UndefinedError: a node at `program.start` has no dynamics or no derivatives;
            the sparsity is read there.
    """
    given = expect(program, MultipleShooting, "program for CasADi", "a MultipleShooting")
    casadi, n, m = from_extra("casadi", "casadi"), given.n, given.lower.size
    start = given.start
    x, none = casadi.Sparsity.dense(n), casadi.Sparsity(0, 0)
    f, g = casadi.Sparsity.dense(1), casadi.Sparsity.dense(m)
    rows, square = _pattern(given.jacobian(start)), _pattern(given.hessian(start), upper=True)

    def values(z: Any, *_: Any) -> list[Any]:
        return [given.cost(z), given.rows(z)]

    def gradient(z: Any, *_: Any) -> list[Any]:
        return [given.cost(z), _or_nan(lambda: given.gradient(z), n)]

    def jacobian(z: Any, *_: Any) -> list[Any]:
        return [given.rows(z), casadi.DM(rows, _or_nan(lambda: _data(given.jacobian(z)), rows.nnz()))]

    def hessian(z: Any, p: Any, of_f: Any, of_g: Any) -> list[Any]:
        found = _or_nan(lambda: _data(given.hessian(z), upper=True), square.nnz())
        return [casadi.DM(square, float(of_f[0]) * found)]

    made = _callback_class()
    nlp = made("nlp", values, [("x", x), ("p", none)], [("f", f), ("g", g)])
    options = {
        "grad_f": made("nlp_grad_f", gradient, [("x", x), ("p", none)], [("f", f), ("grad_f_x", x)]),
        "jac_g": made("nlp_jac_g", jacobian, [("x", x), ("p", none)], [("g", g), ("jac_g_x", rows)]),
        "hess_lag": made(
            "nlp_hess_l",
            hessian,
            [("x", x), ("p", none), ("lam_f", f), ("lam_g", g)],
            [("triu_hess_gamma_x_x", square)],
        ),
        "no_nlp_grad": True,  # CasADi would differentiate the callbacks itself
    }
    box = given.bounds
    arguments = {"x0": start, "lbx": box.lb, "ubx": box.ub, "lbg": given.lower, "ubg": given.upper}
    return CasadiProgram(nlp, options, arguments)


@cache
def _callback_class() -> Any:
    """The class of callbacks, made when CasADi is first asked for."""
    casadi = from_extra("casadi", "casadi")
    base: Any = casadi.Callback

    class Numbers(base):
        """A function of numbers as a function of CasADi."""

        def __init__(self, name: str, function: Callable[..., list[Any]], inputs: Any, outputs: Any) -> None:
            base.__init__(self)
            self._function, self._inputs, self._outputs = function, inputs, outputs
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(self._inputs)

        def get_n_out(self) -> int:
            return len(self._outputs)

        def get_name_in(self, i: int) -> str:
            return self._inputs[i][0]

        def get_name_out(self, i: int) -> str:
            return self._outputs[i][0]

        def get_sparsity_in(self, i: int) -> Any:
            return self._inputs[i][1]

        def get_sparsity_out(self, i: int) -> Any:
            return self._outputs[i][1]

        def eval(self, arguments: Any) -> Any:
            return self._function(*(each.full().ravel() for each in arguments))

    return Numbers


def _or_nan(derivatives: Callable[[], Any], n: int) -> Any:
    """Derivatives, or NaN where a node has none."""
    try:
        return derivatives()
    except (FailedError, UndefinedError):
        return np.full(n, np.nan)


def _columns(matrix: Any, upper: bool) -> Any:
    """A sparse matrix in the order of CasADi, column by column, or its upper triangle."""
    found = matrix.tocoo()
    kept = found.col >= found.row if upper else np.ones(found.nnz, dtype=np.bool_)
    i, j, v = found.row[kept], found.col[kept], found.data[kept]
    order = np.lexsort((i, j))
    return i[order], j[order], v[order]


def _pattern(matrix: Any, upper: bool = False) -> Any:
    i, j, _ = _columns(matrix, upper)
    return from_extra("casadi", "casadi").Sparsity.triplet(*matrix.shape, i.tolist(), j.tolist())


def _data(matrix: Any, upper: bool = False) -> Any:
    return _columns(matrix, upper)[2]
