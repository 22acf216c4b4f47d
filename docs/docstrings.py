"""Sphinx extension: the docstrings of this project as pages of the site, and formulas without a network.

What Sphinx does not know by itself: the section `Shapes:`; that signatures keep the names of types (`ArrayLike`, not
what it stands for); which bases of a class a reader knows; that a name between single backticks may be any public name
of the library, wherever it is documented; and where the script is that draws formulas.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from shutil import copyfile
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref, toctree as toctree_node
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.adapters.toctree import global_toctree_for_doc
from sphinx.search.en import SearchEnglish
from sphinx.util.inspect import TypeAliasForwardRef, signature, stringify_signature

import constraints
import liegroups

FORMULAS = "tex-svg.js"
"""MathJax with its fonts as drawings, in one file: it asks for nothing else, from a disk or a server."""


def shapes_as_a_field(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """The section `Shapes:` of a docstring as a field of its own, a line of the section an entry."""
    if "Shapes:" not in lines:
        return
    start = lines.index("Shapes:") + 1
    end = start
    while end < len(lines) and lines[end].startswith(" "):
        end += 1
    entries: list[str] = []
    for line in map(str.strip, lines[start:end]):
        if re.match(r"\w+ \(", line) or not entries:
            entries.append(line)
        else:
            entries[-1] += f" {line}"
    bold = [re.sub(r"\b(value|jacobian) (?=\()", r"**\1** ", entry) for entry in entries]
    lines[start - 1 : end] = [":Shapes:", *(f"    * {entry}" for entry in bold)]


def signature_as_written(
    app: Sphinx, what: str, name: str, thing: Any, options: object, arguments: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """The arguments of a constructor rather than those of a `__new__` that takes any; no `**name: Never`.

    That last one only refuses what is misplaced, with a better message than Python's. A default that a dataclass makes
    for each value is three dots. A class that only the library makes, with arguments that begin with `_`, shows none.
    """
    if arguments is not None and arguments.startswith("(*_: "):
        found = signature(thing.__init__, bound_method=True, type_aliases=app.config.autodoc_type_aliases)
        arguments = stringify_signature(found, show_return_annotation=False, unqualified_typehints=True)
    if arguments is not None:
        arguments = re.sub(r"(, )?\*\*\w+: (~?typing\.)?Never", "", arguments).replace("<factory>", "...")
    if arguments is not None and re.search(r"[(,] ?_\w+:", arguments):
        arguments = ""
    return arguments, returned


def bases_in_words(app: Sphinx, what: str, name: str, thing: Any, options: object, lines: list[str]) -> None:
    """What a class is a kind of, below its first sentence: the next classes above it that are public, or Python's."""
    if isinstance(thing, type) and (bases := known_bases(thing)):
        end = lines.index("") if "" in lines else len(lines)
        lines[end:end] = ["", "A kind of " + " and ".join(f"`{base}`" for base in bases) + "."]


def short_types(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Types of attributes by their last names, as in signatures."""
    for i, line in enumerate(lines):
        if line.startswith(":vartype "):
            lines[i] = re.sub(r"\b(?:constraints|liegroups)\.(?:\w+\.)*(?=\w)", "", line)


def known_bases(thing: type) -> list[str]:
    """Names of the next classes above one that a reader may look up."""
    found: list[str] = []
    for base in thing.__bases__:
        if base.__module__.split(".")[0] not in ("constraints", "liegroups"):
            found += [base.__name__] if issubclass(base, (Exception, tuple)) or base.__module__ == "enum" else []
        elif base.__name__ in described() or any(getattr(door, base.__name__, None) is base for door in doors()):
            found.append(base.__name__)
        else:
            found += known_bases(base)
    return list(dict.fromkeys(found))


@cache
def described() -> frozenset[str]:
    """Names of classes that the pages of the API describe, those that no door offers among them."""
    pages = (page.read_text(encoding="utf-8") for page in (Path(__file__).parent / "api").rglob("*.rst"))
    return frozenset(name for page in pages for name in re.findall(r"^\.\. autoclass:: (\w+)", page, re.MULTILINE))


@cache
def doors() -> tuple[Any, ...]:
    """The packages that offer names."""
    rooms = (room.name for room in iter_modules(constraints.__path__, "constraints.") if room.ispkg)
    return (constraints, liegroups, import_module("constraints.errors"), *map(import_module, rooms))


def public_name(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Lead a name that its page does not know to the one public object of that name, if there is just one."""
    if node.get("refdomain") != "py":
        return None
    target = str(node["reftarget"]).removesuffix("()")
    where = names_of(env).get(target, ())
    if len(where) != 1:
        return None
    domain: Any = env.get_domain("py")
    entry = domain.objects[where[0]]
    uri = app.builder.get_relative_uri(node.get("refdoc", env.docname), entry.docname)
    reference = nodes.reference("", "", internal=True, refuri=f"{uri}#{entry.node_id}", reftitle=where[0])
    reference += content
    return reference


def names_of(env: BuildEnvironment) -> dict[str, tuple[str, ...]]:
    """Last part of a public name, and that of a member with its class before it -> the whole names that end so."""
    known: dict[str, tuple[str, ...]] | None = env.temp_data.get("names of the library")
    if known is None:
        known = {}
        domain: Any = env.get_domain("py")
        for whole, entry in domain.objects.items():
            if entry.aliased or entry.objtype == "module":
                continue
            parts = whole.split(".")
            is_member = entry.objtype in ("method", "property", "attribute")
            ending = ".".join(parts[-2:] if is_member else parts[-1:])
            known[ending] = (*known.get(ending, ()), whole)
        env.temp_data["names of the library"] = known
    return known


def remember_names(app: Sphinx, env: BuildEnvironment) -> None:
    """A name is looked for once, among some thousands; from here on they are all there."""
    domain: Any = env.get_domain("py")
    domain.find_obj = cache(domain.find_obj)


def one_tree(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    """Give the theme the same tree of titles for each page, so that it and what the theme adds to it is made once."""
    whole = context.get("toctree")
    if whole is not None:
        context["toctree"] = lambda **options: tree_of_titles(app) if options.get("titles_only") else whole(**options)


@cache
def tree_of_titles(app: Sphinx) -> str:
    """Titles of all pages, as a page at the top shows them that is none of them.

    Sphinx would copy all that pages describe, to throw it away.
    """
    builder: Any = app.builder
    everything = app.env.tocs
    try:
        app.env.tocs = titles_of(app.env)
        options: dict[str, Any] = {"maxdepth": -1, "titles_only": True, "includehidden": True}
        found = global_toctree_for_doc(app.env, "genindex", builder, tags=builder.tags, **options)
        return builder.render_partial(found)["fragment"]
    finally:
        app.env.tocs = everything


ENTRY = re.compile(r'<li class="toctree-l(\d)([^"]*)"><a class="reference internal" href="([^"#:]*)">')
"""An entry of the tree of titles: its level, what else it is, and its page."""


def from_this_page(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    """In the tree of titles, mark the entry of this page, open those above it, and lead the others from here."""
    before, *rest = ENTRY.split(context.get("furo_navigation_tree", ""))
    entries = list(zip(*(iter(rest),) * 4, strict=True))
    own, up = app.builder.get_target_uri(page), "../" * page.count("/")
    above, opened = dict[str, int](), set[int]()
    for i, (level, _, target, _) in enumerate(entries):
        above = {other: j for other, j in above.items() if other < level} | {level: i}
        opened.update(above.values() if target == own else ())
    shown = [before]
    for i, (level, kinds, target, after) in enumerate(entries):
        here = target == own
        kinds += " current" * (i in opened) + " current-page" * here
        link = '"current reference internal" href="#"' if here else f'"reference internal" href="{up}{target}"'
        opens = after.replace("<input ", '<input checked="" ', 1) if i in opened else after
        shown.append(f'<li class="toctree-l{level}{kinds}"><a class={link}>{opens}')
    context["furo_navigation_tree"] = "".join(shown)


@cache
def titles_of(env: BuildEnvironment) -> dict[str, nodes.bullet_list]:
    """The contents of each page without what is below its title, but for lists of other pages."""
    found = {name: contents.deepcopy() for name, contents in env.tocs.items()}
    for top in (item for contents in found.values() for item in contents.children):
        if isinstance(top, nodes.Element) and len(top) > 1:
            lists = list(top.findall(toctree_node))
            if lists:
                top[1][:] = lists  # pyright: ignore[reportIndexIssue]
            else:
                top.pop(1)
    return found


def bring_formulas(app: Sphinx, error: Exception | None) -> None:
    """Put the one file that draws formulas into the site."""
    if error is None and app.builder.format == "html":
        package = import_module("sphinx-mathjax-offline")
        source = Path(str(package.__file__)).parent / "static" / "mathjax" / FORMULAS
        copyfile(source, Path(app.outdir) / "_static" / FORMULAS)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect what is above; the section comes before napoleon reads the docstring."""
    app.setup_extension("sphinx.ext.autodoc")
    # A name that stands for a type keeps its name inside `Vector | None` too.
    TypeAliasForwardRef.__repr__ = lambda self: self.name  # type: ignore[method-assign]
    SearchEnglish.stem = cache(SearchEnglish.stem)  # pages share their words  # type: ignore[method-assign]
    app.connect("autodoc-process-docstring", shapes_as_a_field, priority=400)
    app.connect("autodoc-process-docstring", bases_in_words, priority=600)
    app.connect("autodoc-process-docstring", short_types, priority=600)
    app.connect("autodoc-process-signature", signature_as_written)
    app.connect("missing-reference", public_name)
    app.connect("html-page-context", one_tree, priority=400)  # before the theme draws the tree
    app.connect("html-page-context", from_this_page, priority=600)  # and after
    app.connect("env-updated", remember_names)
    app.connect("build-finished", bring_formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
