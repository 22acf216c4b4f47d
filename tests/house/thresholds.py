"""Numeric thresholds of the library, read from the source. `python tests/house/thresholds.py` prints the tables of
`docs/thresholds.md` as they should be.

A threshold is a number with a fraction or an exponent (a float, or arithmetic that gives one) that a module gives to a
name in capitals. An int is a count, a size or an index, and none; nor is a vector, a colour or a text. The rooms
of `DRAWN` are left out: their floats are inches and metres of pictures and of demonstrations."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from house.sources import FILES, ROOT, parsed

DRAWN = ("cli", "pictures")
OPERATIONS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}
NAMED = {"np.finfo(float).eps": 2.0**-52, "np.finfo(np.float64).eps": 2.0**-52, "sys.float_info.epsilon": 2.0**-52}
NAMED |= {"math.pi": 3.141592653589793, "np.pi": 3.141592653589793, "math.tau": 6.283185307179586}


class Threshold(NamedTuple):
    """A constant: the file below the root, its name, its value as written and as a number, and its docstring."""

    file: str
    name: str
    written: str
    value: float
    meaning: str

    @property
    def room(self) -> str:
        """The room of the house that the file is in, without rooms inside it: `constraints/dynamics`, `liegroups`."""
        parts = self.file.split("/")[:-1]
        return "/".join(parts[:2] if parts[0] == "constraints" else parts[:1])

    def row(self) -> str:
        """The row of the table."""
        cell = self.meaning.replace("|", r"\|")
        return f"| `{self.file.removeprefix(self.room + '/')}` | `{self.name}` | {self.written} | {cell} |"


def number(node: ast.expr, known: dict[str, float]) -> float | None:
    """The value of an expression of numbers and of constants above it, or None where it is another thing."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # pyright: ignore[reportReturnType]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number(node.operand, known)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = number(node.left, known), number(node.right, known)
        return None if left is None or right is None else OPERATIONS[type(node.op)](left, right)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "float" and len(node.args) == 1:
        return number(node.args[0], known)
    text = ast.unparse(node)
    return NAMED.get(text, known.get(text))


def assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Names in capitals that a statement gives a value to, each with its expression."""
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target, value = statement.target, statement.value
    elif isinstance(statement, ast.Assign):
        target, value = statement.targets[0], statement.value
    else:
        return
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    for one, its in pairs:
        if isinstance(one, ast.Name) and one.id == one.id.upper():
            yield one.id, its


def described(body: list[ast.stmt], at: int) -> str:
    """The docstring under a statement, in one line, or nothing."""
    below = body[at + 1] if at + 1 < len(body) else None
    if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
        return re.sub(r"``", "`", " ".join(below.value.value.split()))
    return ""


def thresholds_of(source: str, file: str) -> list[Threshold]:
    """The thresholds of the source of one file."""
    body = parsed(source).body
    known: dict[str, float] = {}
    found: list[Threshold] = []
    for at, statement in enumerate(body):
        for name, expression in assigned(statement):
            value = number(expression, known)
            if value is None:
                continue
            known[name] = value
            if isinstance(value, float):
                written = (ast.get_source_segment(source, expression) or "").replace("**", "^")
                found.append(Threshold(file, name, f"`{written}`", value, described(body, at)))
    return found


def thresholds() -> list[Threshold]:
    """Those of the library, by room, file and place."""
    found: list[Threshold] = []
    for path in FILES:
        file = path.relative_to(ROOT).as_posix()
        if file.split("/")[1] not in DRAWN:
            found += thresholds_of(path.read_text(encoding="utf-8"), file)
    return sorted(found, key=lambda one: (one.room, one.file))


def tables() -> str:
    """The tables of the page, one a room."""
    lines: list[str] = []
    room = ""
    for one in thresholds():
        if one.room != room:
            room = one.room
            lines += ["", f"### {room}", "", "| file | constant | value | what it is |", "|---|---|---|---|"]
        lines.append(one.row())
    return "\n".join(lines[1:]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(tables())
