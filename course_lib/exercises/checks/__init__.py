"""Checks of functions and of artefacts: one module for each question.

For a function a module has ``PARAMETERS`` and ``check(function)``, which calls it on inputs of its own.
For an artefact it has ``opened(answer)``, which reads it or raises
`course_lib.exercises.answers.InvalidAnswerError`, and ``check(artefact)``, which returns a sentence on what
was verified; what is opened has a ``digest``, and that is what the progress file keeps.

Either raises `course_lib.exercises.marking.trial.PropertyFailedError` at the first property that does not
hold, with a symptom where the mistake can be recognised; the question file explains the symptoms.
"""
