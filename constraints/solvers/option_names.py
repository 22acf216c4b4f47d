"""What options are called elsewhere, and options that were given where none are taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import OptionError, UnknownNameError, UnknownOptionError

_ELSEWHERE = {
    "threshold": "tolerance tol eps epsilon epsabs atol rtol ftol gtol xtol abstol reltol precision accuracy residual"
    " errorthreshold errortolerance solvertolerance constrainttolerance convergencethreshold stopthreshold nrerr",
    "max_iterations": "maxiter maxiters maxiteration maxiterations maxit iter iters iterations niter nit itmax imax"
    " itermax"
    " numiter numiters numiterations numberofiterations iterationlimit maxnriter maxnfev maxfev nfev maxfun maxeval"
    " maxsteps nsteps budget",
    "restarts": "restart numrestarts nrestarts maxrestarts multistart multistarts retries retry tries ntries attempts"
    " nattempts numseeds randomrestarts searches nsearches",
    "seed": "randomseed rng rngseed randomstate",
    "wrap": "wrapangles wraptopi wrapping normalizeangles",
    "trace": "verbose verbosity history log debug disp callback fulloutput keepiterates returnall",
    "step_control": "stepsize steplength alpha dt gain learningrate linesearch linesearchtype globalization",
    "damping": "lambda lambda_ lamb lambd mu lm lmdamping lmlambda levenberg regularization regularisation"
    " dampingfactor dampingcoefficient wn",
    "cap": "maxstep maxstepsize steplimit maxdelta maxdq maxmove trustradius trustregion stepcap velocitylimit",
    "patience_count": "patience stallcountlimit",
    "nearest": "closest near minimalmotion mindistance minimumnorm qref qnominal reference nullspace",
    "optimise_last": "optimizelast lastisoptional lastisoptionallevel lastoptional secondary",
    "refine_iterations": "refinementiterations maxrefineiterations",
    "seconds": "timeout timelimit timelimits maxtime time maxseconds maxwalltime walltime deadline maxcputime",
    "screen": "candidates nsamples numsamples samples",
}  # fmt: skip
_MEANT = {word: option for option, words in _ELSEWHERE.items() for word in words.split()}


def option_meant(name: str) -> str:
    """The option that other libraries call by a name (`tol`, `maxIter`); empty where none is known.

    Args:
        name: in any case, with underscores or without.
    """
    return _MEANT.get(name.replace("_", "").lower(), "")


def refuse_options(
    who: str, call: str, given: Mapping[str, object], options: Sequence[str], own: Sequence[str]
) -> None:
    """Refuse what was given by name to something that takes no options, and show where they go.

    Args:
        who: who was called.
        call: how options are given instead, with {} in their place.
        given: what came by name.
        options: names of the options.
        own: names of the arguments that it takes.

    Raises:
        OptionError: an option; the message shows the call.
        UnknownOptionError: what other libraries call an option.
        UnknownNameError: neither; lists the names that come closest.
    """
    for name, value in given.items():
        if name == "options" and name not in own:
            raise OptionError(f"{who} takes no options, they belong to the projector: {call.format('Options(...)')}")
        meant = name if name in options else option_meant(name)
        if not meant and name not in options:
            raise UnknownNameError(f"argument of {who}", name, (*own, *options))
        shown = repr(value) if isinstance(value, bool | int | float) else "..."
        there = call.format(f"Options({meant}={shown if meant == name else '...'})")
        if meant == name:
            raise OptionError(f"{who} takes no argument '{name}', it is an option: {there}")
        raise UnknownOptionError(name, options, meant, there)
