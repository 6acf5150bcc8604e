"""The panels of each lesson: a pure function that returns a view, and the controls in front of it."""
