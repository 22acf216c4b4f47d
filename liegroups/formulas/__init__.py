"""Formulas of the groups: maps, series and derivatives, of one vector or of many."""
