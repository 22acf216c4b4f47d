"""Graphs made from grippers, handles and surfaces, and the scene files that name them."""
