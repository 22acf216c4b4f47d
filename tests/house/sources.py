"""Sources of the packages as trees, and what each module imports; read once for all laws of the house.

A plain module, which all of them share: pytest imports a file of tests once more under a name of its own.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("constraints", "liegroups")


@cache
def parsed(source: str) -> ast.Module:
    """The tree of a source, which several laws of the house read."""
    return ast.parse(source)


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file's tree."""
    return tuple(ast.walk(parsed(path.read_text(encoding="utf-8"))))


@dataclass(frozen=True)
class Import:
    """One imported name: `module` is absolute; `name` is what `from module import name` takes, or empty."""

    module: str
    name: str
    line: int
    on_use: bool  # inside a function, or under TYPE_CHECKING
    place: str = ""  # the function it is in, or TYPE_CHECKING


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MODULE_NAMES = frozenset(module_name(path) for path in FILES)


class Imports(ast.NodeVisitor):
    """Collects the imports of one module, relative ones made absolute, `import_module("...")` included."""

    def __init__(self, module: str, is_package: bool) -> None:
        self.package = module if is_package else module.rpartition(".")[0]
        self.on_use, self.place = False, ""
        self.found: list[Import] = []
        self.computed: list[int] = []  # lines that import a module whose name is computed

    def absolute(self, name: str, level: int) -> str:
        base = self.package.split(".")[: len(self.package.split(".")) - level + 1] if level else []
        return ".".join([*base, *([name] if name else [])])

    def visit_Import(self, node: ast.Import) -> None:
        self.found += [Import(alias.name, "", node.lineno, self.on_use, self.place) for alias in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = self.absolute(node.module or "", node.level)
        self.found += [Import(module, alias.name, node.lineno, self.on_use, self.place) for alias in node.names]

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in ("import_module", "__import__", "from_extra") and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                name = first.value.lstrip(".")
                module = self.absolute(name, len(first.value) - len(name))
                self.found.append(Import(module, "", node.lineno, self.on_use, self.place))
            else:
                self.computed.append(node.lineno)
        elif called == "_on_use":  # a door's table of names that are imported on use
            for home in node.args[1].keys if isinstance(node.args[1], ast.Dict) else [node]:
                if isinstance(home, ast.Constant):
                    name = str(home.value).lstrip(".")
                    module = self.absolute(name, 1 + len(str(home.value)) - len(name))
                    self.found.append(Import(module, "", home.lineno, True, "TYPE_CHECKING"))
                else:
                    self.computed.append(node.lineno)
        self.generic_visit(node)

    def visit_later(self, node: ast.AST) -> None:
        before = self.on_use, self.place
        self.on_use, self.place = True, self.place or getattr(node, "name", "")
        self.generic_visit(node)
        self.on_use, self.place = before

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_later

    def visit_If(self, node: ast.If) -> None:
        if any("TYPE_CHECKING" in (getattr(n, "id", ""), getattr(n, "attr", "")) for n in ast.walk(node.test)):
            before = self.on_use, self.place
            self.on_use, self.place = True, "TYPE_CHECKING"
            for child in node.body:
                self.visit(child)
            self.on_use, self.place = before
            for child in node.orelse:
                self.visit(child)
        else:
            self.generic_visit(node)


@cache
def imports_of(module: str, source: str, is_package: bool) -> Imports:
    """The imports of one module, which two laws of the house read."""
    imports = Imports(module, is_package)
    imports.visit(parsed(source))
    return imports
