"""Recalculate spreadsheet formulas, so that a stored result need not be believed."""
