"""Helpers behind the AI Storage Workbook: data, leakage checks, exercises, records and panels.

Importing this package loads nothing heavy; import the subpackage you need.
"""

__version__ = "0.1.0"
