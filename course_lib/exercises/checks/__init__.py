"""Checks of code questions: one module each, with ``PARAMETERS`` and ``check(function)``.

A check calls the function on inputs of its own and raises
`course_lib.exercises.marking.trial.PropertyFailedError` at the first property that does not hold, with a
symptom where the mistake can be recognised; the question file explains the symptoms.
"""
