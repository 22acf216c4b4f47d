"""The commands of `python -m constraints`, one a module.

A command is a module here with two functions, `add_arguments(parser)` and `run(options) -> exit code`, and a line in
`COMMANDS` of `constraints/__main__.py`. It raises a `ConstraintError` for what is wrong with its input; the dispatcher
makes one line of it. It is imported when it is called, so that the others cost nothing.
"""
