"""Functions of users that are no classes: machine code at an address, and formulas read from Python."""
