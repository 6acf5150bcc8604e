"""A learner's measurement record, opened for a check: shared by all questions that ask for one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.errors import CourseError
from course_lib.exercises.answers import InvalidAnswerError

if TYPE_CHECKING:
    from course_lib.experiments import Record


@dataclass(frozen=True)
class OpenedRecord:
    """A record as it stands in its file now.

    Attributes
    ----------
    record : Record
        What it says.
    digest : str
        SHA-256 of the file.
    """

    record: Record
    digest: str


def open_record(answer: object, returned_by: str) -> OpenedRecord:
    """Read the record whose file's path is handed in.

    Parameters
    ----------
    answer : object
        A path, if it is an answer at all.
    returned_by : str
        The call that returns such paths, for the sentence on other answers.

    Raises
    ------
    InvalidAnswerError
        When there is none to read.
    """
    from course_lib.experiments import load_record

    if not isinstance(answer, (str, Path)):
        raise InvalidAnswerError(
            f"The answer is the path of a record, as `{returned_by}` returns it; this is a "
            f"{type(answer).__name__}."
        )
    try:
        path = Path(answer).expanduser()
        return OpenedRecord(load_record(path), hashlib.sha256(path.read_bytes()).hexdigest())
    except (CourseError, OSError, RuntimeError, ValueError) as error:
        raise InvalidAnswerError(f"No record can be read there: {error}") from error
