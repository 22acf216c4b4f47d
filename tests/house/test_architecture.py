"""The page of the architecture is true: its table of rooms is that of the imports, and rooms make no circle."""

from __future__ import annotations

import re

import networkx as nx
import pytest
from house.rooms import HALL, ROOT, imported, room_imports

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOMS = {
    cells[0].strip("` "): (cells[1].strip(), tuple(re.findall(r"`([^`]+)`", cells[2])))
    for line in PAGE.split("## The rooms")[1].split("## Where to add")[0].splitlines()
    if line.startswith("| `") and len(cells := line.strip("|").split("|")) == 3
}


def test_every_room_is_on_the_page_and_no_other() -> None:
    assert set(ROOMS) == set(room_imports()) - {HALL}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_what_the_page_says(room: str) -> None:
    """`python tests/house/rooms.py` prints the lines as they should be."""
    words, rooms = ROOMS[room]
    assert words
    assert tuple(sorted(rooms)) == imported(room_imports(), room)


def test_rooms_make_no_circle() -> None:
    """Imports inside functions count; those for type checkers alone and comfort methods do not."""
    graph = room_imports()
    circles = [
        [graph.edges[a, b]["where"] for a in circle for b in circle if graph.has_edge(a, b)]
        for circle in nx.strongly_connected_components(graph)
        if len(circle) > 1
    ]
    assert not circles


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", PAGE))))
def test_files_that_the_page_names_exist(path: str) -> None:
    homes = [ROOT, ROOT / "constraints", ROOT / "constraints" / "solvers", ROOT / "constraints" / "solvers" / "newton"]
    assert any((home / path).is_file() for home in homes), path
