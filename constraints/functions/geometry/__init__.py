"""Geometry that people ask for, as formulas of points and directions: lines, segments, polygons, views, curves."""
