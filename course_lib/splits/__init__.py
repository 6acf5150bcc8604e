"""Splits: which sample belongs to which part, as a function of ids and a recipe, and the manifests that prove it."""
