"""Axes of a file that are parallel but for its digits are said when it is read."""

from __future__ import annotations

import logging

import pytest

from constraints.models import load

FOUR_BAR = """<sdf version='1.7'><model name='linkage'>
<link name='ground'/>
<link name='crank'><pose>0 0 0 0 0 0</pose></link>
<link name='coupler'><pose>0.2 0 0 0 0 0</pose></link>
<link name='rocker'><pose>0.6 0 0 0 0 0</pose></link>
<joint name='fixed' type='fixed'><parent>world</parent><child>ground</child></joint>
<joint name='a' type='revolute'><parent>ground</parent><child>crank</child><axis><xyz>0 0 1</xyz></axis></joint>
<joint name='b' type='revolute'><parent>crank</parent><child>coupler</child><axis><xyz>0 0 1</xyz></axis></joint>
<joint name='c' type='revolute'><parent>ground</parent><child>rocker</child><axis><xyz>0 0 1</xyz></axis></joint>
<joint name='d' type='revolute'><parent>coupler</parent><child>rocker</child>
<pose>0 0 0 0 0 0</pose><axis><xyz>AXIS 0 1</xyz></axis></joint>
</model></sdf>"""


@pytest.mark.parametrize(
    ("tilt", "level", "words"),
    [
        ("3e-7", logging.INFO, "parallel to 3e-07 rad, and taken as parallel"),
        ("4e-6", logging.WARNING, "parallel to 4e-06 rad: the loop may not move"),
        ("0", None, ""),
        (
            "0.3",
            logging.WARNING,
            "the axis of 'd' is 0.291 rad from parallel to those of 'b', 'a', 'c': it cannot turn",
        ),
    ],
)
def test_axes_that_are_nearly_parallel_are_named(
    tilt: str, level: int | None, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "constraints"):
        load(FOUR_BAR.replace("AXIS", tilt))
    said = [record for record in caplog.records if "parallel" in record.message]
    assert {record.levelno for record in said} == (set() if level is None else {level})
    if level is not None:
        assert all(words in record.message for record in said)
        assert any("'d'" in record.message and "'b'" in record.message for record in said), [r.message for r in said]
