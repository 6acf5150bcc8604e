"""The learner's progress: on the disk at once, and never lost without a word."""

from __future__ import annotations

import contextlib
import hashlib
import json
import stat
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final, Literal

import filelock
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import course_lib
from course_lib.errors import CourseError
from course_lib.exercises.answers import as_kept, described
from course_lib.files import cannot_write, write_atomically
from course_lib.paths import course_home

_VERSION: Final = 1
_HISTORY_KEPT = 20
_LOCK_SECONDS = 10.0
_EXPORT_FORMAT = "ai-storage-workbook progress export"


class Attempt(BaseModel):
    """One answer that counted."""

    utc: str
    answer: Any
    status: Literal["correct", "wrong"]


class QuestionRecord(BaseModel):
    """What is kept for one question.

    ``history`` holds the last attempts, at most 20; the counts go on. Predictions use ``predicted`` and
    ``measured`` instead; the guess made before the first measurement stays.
    """

    model_config = ConfigDict(extra="allow")

    kind: str
    attempts: int = Field(default=0, ge=0)
    wrong_attempts: int = Field(default=0, ge=0)
    solved_utc: str | None = None
    solution_opened_utc: str | None = None
    history: list[Attempt] = []
    predicted: Any = None
    predicted_utc: str | None = None
    measured: Any = None
    measured_utc: str | None = None


class ProgressFile(BaseModel):
    """The content of progress.json; questions are named "01_prediction_time/sort_fields"."""

    model_config = ConfigDict(extra="allow")

    version: Literal[1] = _VERSION
    questions: dict[str, QuestionRecord] = {}


@dataclass(frozen=True)
class Event:
    """Something the learner did, to be added to whatever the file holds by then."""

    what: Literal["attempt", "prediction", "measurement", "solution"]
    question: str
    kind: str
    answer: Any = None
    status: Literal["correct", "wrong"] = "wrong"


@dataclass(frozen=True)
class VerifiedExport:
    """An export whose digest fits its content.

    Attributes
    ----------
    learner : str
        The name given on export, "" when none was.
    exported_utc : str
        When it was made, as an ISO 8601 time in UTC.
    questions : dict of str to QuestionRecord
        The records, named "01_prediction_time/sort_fields".
    """

    learner: str
    exported_utc: str
    questions: dict[str, QuestionRecord]


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _add(state: ProgressFile, event: Event, utc: str) -> None:
    record = state.questions.setdefault(event.question, QuestionRecord(kind=event.kind))
    if event.what == "attempt":
        record.attempts += 1
        record.wrong_attempts += event.status == "wrong"
        if event.status == "correct" and record.solved_utc is None:
            record.solved_utc = utc
        record.history = [*record.history, Attempt(utc=utc, answer=event.answer, status=event.status)]
        record.history = record.history[-_HISTORY_KEPT:]
    elif event.what == "solution":
        record.solution_opened_utc = record.solution_opened_utc or utc
    elif event.what == "measurement":
        record.measured, record.measured_utc = event.answer, utc
    elif record.measured_utc is None:
        record.predicted, record.predicted_utc = event.answer, utc


class _DamagedError(Exception):
    """The file is there and is not a progress file."""


class Progress:
    """What the learner has done, in ``progress/progress.json`` under the course's home.

    Each change is merged into the file under a lock, so that two notebooks open at once keep each
    other's answers. What cannot be written stays in memory, is said, and goes out with the next change
    that can be written or with `export`.

    Parameters
    ----------
    path : Path, optional
        The progress file; by default the one of `course_lib.paths.course_home`.

    Attributes
    ----------
    problem : str
        One sentence when the file is damaged, unreadable or cannot be written; "" when all is well.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else course_home() / "progress" / "progress.json"
        self.problem = ""
        self._waiting: list[tuple[Event, str]] = []
        self._remembered = ProgressFile()
        self._notice = ""
        self._state()
        if self.problem:
            warnings.warn(self.problem, stacklevel=2)

    def record(self, question: str) -> QuestionRecord | None:
        """Return what is on record for a question ("01_prediction_time/sort_fields"), or None."""
        return self._state().questions.get(question)

    def records(self) -> dict[str, QuestionRecord]:
        """Return all records by question, those not yet on the disk included."""
        return self._state().questions

    def add(self, event: Event) -> tuple[bool, str]:
        """Put an event on record.

        Returns
        -------
        tuple of bool and str
            Whether it is on the disk, and one sentence when something happened to the file ("" if not).
        """
        utc = _now()
        try:
            kept = replace(
                event,
                question=described(event.question),
                kind=described(event.kind),
                answer=as_kept(event.answer),
            )
            alone = ProgressFile()
            _add(alone, kept, utc)
            _as_text(alone)
        except (CourseError, ValueError) as error:
            return False, f"This answer could not be put on record: {described(str(error))}"
        self._waiting.append((kept, utc))
        try:
            with self._locked():
                state = self._read()
                for waiting, utc in self._waiting:
                    _add(state, waiting, utc)
                write_atomically(self.path, _as_text(state))
                self._remembered = state
                self._waiting.clear()
        except CourseError as error:
            self.problem = (
                f"{str(error).rstrip('.')}. Your answers are kept in memory until this kernel stops; "
                'exercises.progress.export("my_progress.json") writes them elsewhere.'
            )
            return False, self.problem
        notice, self._notice, self.problem = self._notice, "", ""
        return True, notice

    def export(self, path: str | Path, *, learner: str = "") -> Path:
        """Write all progress into one file that can be handed in.

        A digest over the content shows a change made by accident; it is no signature.

        Parameters
        ----------
        path : str or Path
            The file to write. A folder gets ``my_progress.json``.
        learner : str, optional
            A name to put into the file.

        Raises
        ------
        CourseError
            When the file cannot be written, when something else than an export stands there, or when that
            export has another learner's name or answers that this one lacks.
        """
        learner = as_kept(str(learner))
        target = Path(path).expanduser()
        if target.is_dir():
            target = target / "my_progress.json"
        state = self._state()
        if _is_there(target):
            _check_replaceable(target, learner, state.questions)
        content = {
            "format": _EXPORT_FORMAT,
            "version": _VERSION,
            "workbook_version": course_lib.__version__,
            "learner": learner,
            "exported_utc": _now(),
            "questions": state.model_dump(mode="json")["questions"],
        }
        content["sha256"] = _digest(content)
        return write_atomically(target, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def _state(self) -> ProgressFile:
        """Return the file's records with those that wait to be written."""
        if not self._remembered.questions and not _is_there(self.path):
            state = ProgressFile()
        else:
            try:
                with self._locked():
                    state = self._read()
            except CourseError as error:
                state = self._read_without_lock(error)
        self._remembered = state.model_copy(deep=True)
        for waiting, utc in self._waiting:
            _add(state, waiting, utc)
        return state

    def _read_without_lock(self, reason: CourseError) -> ProgressFile:
        """Read where no lock can be had, for example in a read-only folder; nothing is moved then."""
        try:
            if (found := self._parse()) is not None:
                return found
            self.problem = str(reason) if self._remembered.questions else self.problem
        except _DamagedError:
            self.problem = f"{self.path} is damaged, and {str(reason)[0].lower()}{str(reason)[1:]}"
        except CourseError as error:
            self.problem = str(error)
        return self._remembered.model_copy(deep=True)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        lock = filelock.FileLock(f"{self.path}.lock", timeout=_LOCK_SECONDS)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except filelock.Timeout as error:
            raise CourseError(
                f"{self.path} is held by another process",
                next_step="close notebooks that hang, and try again",
            ) from error
        except (OSError, NotImplementedError) as error:
            trouble = error if isinstance(error, OSError) else OSError(str(error))
            raise cannot_write(self.path, trouble) from error
        try:
            yield
        finally:
            lock.release()

    def _parse(self) -> ProgressFile | None:
        """Return what the file holds, None when there is none."""
        try:
            content = json.loads(_regular_bytes(self.path))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CourseError(
                f"{self.path} could not be read",
                found=error.strerror or str(error),
                next_step="check the file's permissions",
            ) from error
        except (ValueError, RecursionError) as error:
            raise _DamagedError from error
        version = content.get("version") if isinstance(content, dict) else None
        if isinstance(version, int) and version > _VERSION:
            raise CourseError(
                f"{self.path} was written by a newer version of the workbook",
                expected=f"version {_VERSION}",
                found=f"version {version}",
                next_step="update the workbook",
            )
        try:
            found = ProgressFile.model_validate(content)
            _as_text(found)
        except (ValidationError, RecursionError, CourseError) as error:
            raise _DamagedError from error
        return found

    def _read(self) -> ProgressFile:
        """Read the file under the lock; a damaged or vanished one is begun afresh with what is remembered."""
        try:
            found = self._parse()
        except _DamagedError:
            aside = self._set_aside()
            happened = (
                f"{self.path.name} was damaged: it was set aside as {aside.name}, with all its bytes, "
                f"and a fresh one was begun in {self.path.parent}."
            )
        else:
            if found is not None:
                return found
            if not self._remembered.questions:
                return ProgressFile()
            happened = (
                f"{self.path.name} was no longer in {self.path.parent}: what this kernel still knew was "
                "written into a new one. To begin again, stop the kernel before you delete the file."
            )
        fresh = self._remembered.model_copy(deep=True)
        write_atomically(self.path, _as_text(fresh))
        self._notice = self.problem = happened
        return fresh

    def _set_aside(self) -> Path:
        stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        number = 1
        while True:
            aside = self.path.with_name(f"{self.path.stem}.damaged-{stamp}-{number}.json")
            if not aside.exists():
                break
            number += 1
        try:
            self.path.rename(aside)
        except OSError as error:
            raise cannot_write(aside, error) from error
        return aside


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True


def _regular_bytes(path: Path) -> bytes:
    """Return a file's bytes; a pipe or a device, which may never end, is refused."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(f"{path.name} is not a regular file")
    return path.read_bytes()


def _as_text(state: ProgressFile) -> str:
    """Return the content of the progress file.

    Raises
    ------
    CourseError
        When it holds something that JSON or UTF-8 cannot.
    """
    try:
        text = state.model_dump_json(indent=1) + "\n"
        text.encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        raise CourseError(
            "The progress could not be turned into JSON", found=described(str(error))
        ) from error
    return text


def _check_replaceable(target: Path, learner: str, questions: dict[str, QuestionRecord]) -> None:
    """Raise CourseError unless ``target`` is an export that loses nothing when a new one replaces it."""
    try:
        there = verify_export(target)
    except CourseError as error:
        raise CourseError(
            f"{target} is there already and is not an export of this workbook",
            next_step="choose another name",
        ) from error
    if there.learner and there.learner != learner:
        raise CourseError(
            f"{target} is there already and is the export of another learner",
            expected=repr(learner) if learner else "no name",
            found=repr(described(there.learner)),
            next_step="choose another name",
        )
    lost = [name for name, old in there.questions.items() if _loses(old, questions.get(name))]
    if lost:
        raise CourseError(
            f"{target} is there already and holds answers that your progress lacks",
            found=described(", ".join(lost)),
            next_step="choose another name",
        )


def _loses(old: QuestionRecord, new: QuestionRecord | None) -> bool:
    """Tell whether something in ``old`` is not in ``new``, other than attempts too old to be kept."""
    if new is None or new.attempts < old.attempts:
        return True
    oldest_kept = new.history[0].utc if len(new.history) == _HISTORY_KEPT else ""
    if any(attempt.utc >= oldest_kept and attempt not in new.history for attempt in old.history):
        return True
    marks = ("solved_utc", "solution_opened_utc", "predicted_utc", "measured_utc")
    return any(getattr(old, mark) and not getattr(new, mark) for mark in marks)


def _digest(content: dict[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def verify_export(path: str | Path) -> VerifiedExport:
    """Check that an exported progress file is as it was written.

    Raises
    ------
    CourseError
        When it cannot be read, is not such an export, or was changed since.
    """
    target = Path(path).expanduser()
    try:
        content = json.loads(_regular_bytes(target))
    except OSError as error:
        raise CourseError(f"{target} could not be read", found=error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{target} is not a progress export", expected="JSON", found=str(error)) from error
    if not isinstance(content, dict) or content.get("format") != _EXPORT_FORMAT:
        raise CourseError(
            f"{target} is not a progress export",
            expected="a file written by exercises.progress.export(...)",
        )
    written = described(content.pop("sha256", None))
    try:
        digest = _digest(content)
    except RecursionError as error:
        raise CourseError(f"{target} is not a progress export", found="values nested too deeply") from error
    if written != digest:
        raise CourseError(
            f"{target} was changed after it was exported",
            expected=f"sha256 {written}",
            found=f"sha256 {digest}",
            next_step="ask for a fresh export",
        )
    try:
        questions = ProgressFile.model_validate({"questions": content["questions"]}).questions
        return VerifiedExport(str(content["learner"]), str(content["exported_utc"]), questions)
    except (KeyError, ValidationError, RecursionError) as error:
        raise CourseError(
            f"{target} cannot be read by this version of the workbook",
            expected=f"export version {_VERSION}",
            found=f"version {content.get('version')}",
        ) from error
