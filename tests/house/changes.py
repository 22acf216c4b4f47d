"""One token of a source changed: all places where that can be done, and what comes in its place."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

SPARED = frozenset({"strict", "slots", "repr", "copy", "check_finite", "overwrite_a", "overwrite_b", "maxsize"})
"""Keywords whose numbers and truths are left alone: they say how a call is made, not what comes out of it."""

OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.MatMult: "+", ast.FloorDiv: "/", ast.Mod: "*",
    ast.Pow: "*", ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "|", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=",
    ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
    ast.And: "or", ast.Or: "and", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
TOKENS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in",
    ast.NotIn: "not in", ast.And: "and", ast.Or: "or", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: in which file, where in its text, and what comes in its place."""

    path: str
    line: int
    start: int
    stop: int
    new: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.stop :]

    def describe(self, text: str) -> str:
        line = text.splitlines()[self.line - 1].strip()
        return f"{self.path}:{self.line}: {text[self.start : self.stop]!r} -> {self.new!r}   {line}"


class Places(ast.NodeVisitor):
    """Every place of a source where one token can be changed."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text, self.found = path, text, list[Mutant]()
        self.offsets = [0]
        for line in text.splitlines(keepends=True):
            self.offsets.append(self.offsets[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        encoded = self.text[self.offsets[line - 1] : self.offsets[line]].encode()
        return self.offsets[line - 1] + len(encoded[:column].decode())

    def between(self, before: ast.expr, after: ast.expr, kind: type[ast.AST], node: ast.expr) -> None:
        """Change the operator between two operands."""
        old = TOKENS[kind]
        start = self.offset(before.end_lineno or 0, before.end_col_offset or 0)
        stop = self.offset(after.lineno, after.col_offset)
        at = self.text.find(old, start, stop)
        if at >= 0:
            self.found.append(Mutant(self.path, self.text.count("\n", 0, at) + 1, at, at + len(old), OPERATORS[kind]))

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if any(isinstance(side, ast.JoinedStr) or is_text(side) for side in (node.left, node.right)):
            return  # a message
        if isinstance(node.op, ast.BitOr) and ast.unparse(node.right).rpartition(".")[2][:1].isupper():
            return  # `Point | None`: types
        self.between(node.left, node.right, type(node.op), node)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for before, after in zip(node.values, node.values[1:], strict=False):
            self.between(before, after, type(node.op), node)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for before, op, after in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self.between(before, after, type(op), node)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        start = self.offset(node.lineno, node.col_offset)
        stop = self.offset(node.operand.lineno, node.operand.col_offset)
        if isinstance(node.op, ast.USub | ast.Not | ast.Invert) and "(" not in self.text[start:stop]:
            self.found.append(Mutant(self.path, node.lineno, start, stop, ""))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start = self.offset(node.lineno, node.col_offset)
        stop = self.offset(node.end_lineno or 0, node.end_col_offset or 0)
        value: Any = node.value
        if value is True or value is False:
            self.found.append(Mutant(self.path, node.lineno, start, stop, repr(not value)))
        elif isinstance(value, int | float):
            changed = 1.5 * value + 1.0 if isinstance(value, float) else value + 1 if value < 100 else 2 * value
            self.found.append(Mutant(self.path, node.lineno, start, stop, repr(changed)))

    def visit_Module(self, node: ast.Module) -> None:
        following: list[ast.stmt | None] = [*node.body[1:], None]
        for statement, after in zip(node.body, following, strict=True):
            explained = isinstance(after, ast.Expr) and is_text(after.value)
            if not (explained and isinstance(statement, ast.Assign | ast.AnnAssign) and is_number(statement.value)):
                self.visit(statement)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        own = any(isinstance(child, ast.FunctionDef) and child.name == "__init__" for child in node.body)
        calls = [d for d in node.decorator_list if isinstance(d, ast.Call)]
        for call in calls if own else ():
            call.keywords = [keyword for keyword in call.keywords if keyword.arg != "init"]
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if not (node.arg in SPARED and isinstance(node.value, ast.Constant)):
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave texts alone."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """Leave annotations alone."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for child in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(child)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Leave the words of errors alone."""

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_number(node: ast.expr | None) -> bool:
    """Is this a number, several, or arithmetic of nothing but numbers?"""
    kinds = ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.Tuple | ast.expr_context
    return node is not None and all(isinstance(part, kinds) for part in ast.walk(node))


def places(path: str, text: str) -> list[Mutant]:
    """All changes of one file, in its order."""
    visitor = Places(path, text)
    visitor.visit(ast.parse(text))
    return sorted(visitor.found, key=lambda mutant: mutant.start)
