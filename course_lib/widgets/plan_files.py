"""Plans in files, from a panel: a typed name becomes a saved plan or a page, and a saved plan is read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.experiments.plan_kinds import PlanKind, kind_of
from course_lib.experiments.plans import check_new_file, load_plan, plan_page, save_plan
from course_lib.files import write_atomically
from course_lib.paths import course_home
from course_lib.planning import Plan
from course_lib.widgets.texts import text

PLAN_SUFFIX, PAGE_SUFFIX = ".json", ".md"

# What no file may be called on Windows, so that a plan can be passed on to anyone.
_NOT_IN_A_NAME = frozenset('<>:"|?*')
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))]
)
# Writing aside needs some characters more, and file systems take 255 bytes.
_LONGEST_NAME_BYTES = 200
_MOST_NAMED = 8


def plans_folder() -> Path:
    """Return the folder of plans whose file was named without one; it is made when a plan is saved."""
    return course_home() / "plans"


def plan_file(typed: str | Path, suffix: str = PLAN_SUFFIX) -> Path:
    """Return the file that a typed name means, with its ending.

    Parameters
    ----------
    typed : str or Path
        A name such as "capacity" or "capacity.json", or a path; a relative one begins in `plans_folder`.
    suffix : {".json", ".md"}
        What the file has to end in: it takes the place of the other one, or is added.

    Raises
    ------
    CourseError
        When there is no name, or one that some machine cannot have.
    """
    given = str(typed).strip()
    # Both signs part folders on one machine or the other.
    name = given.replace("\\", "/").rpartition("/")[2]
    stem = _without_ending(name)
    if not stem.strip(". "):
        raise CourseError(text("plan_files.no_name"), next_step=text("plan_files.type_a_name"))
    wrong = sorted({sign for sign in name if sign in _NOT_IN_A_NAME or not sign.isprintable()})
    if not given.isprintable() or wrong:
        signs = " ".join(wrong) if wrong and all(sign.isprintable() for sign in wrong) else repr(given)
        raise CourseError(
            text("plan_files.odd_name"), found=signs, next_step=text("plan_files.letters_and_digits")
        )
    if stem.partition(".")[0].strip().lower() in _DEVICES or stem != stem.rstrip(". "):
        raise CourseError(
            text("plan_files.odd_name"), found=repr(name), next_step=text("plan_files.letters_and_digits")
        )
    if len((stem + suffix).encode("utf-8", errors="replace")) > _LONGEST_NAME_BYTES:
        raise CourseError(text("plan_files.long_name"), next_step=text("plan_files.shorter"))
    folder = given[: len(given) - len(name)]
    try:
        return plans_folder() / Path(folder).expanduser() / f"{stem}{suffix}"
    except RuntimeError as error:
        raise CourseError(
            text("plan_files.no_folder", folder=folder), next_step=text("plan_files.make_it")
        ) from error


def save_plan_as(plan: Plan, typed: str | Path) -> Path:
    """Save a plan to a new file, as ``course plan ... --save`` does, and return the file.

    Raises
    ------
    CourseError
        For a bad name, a file that is there already, a folder that is not, or one that takes no file.
    """
    path = plan_file(typed)
    with _said(path):
        _need_folder(path)
        return save_plan(plan, path)


def write_plan_page(plan: Plan, typed: str | Path, *, title: str) -> Path:
    """Write a Markdown page about a plan to a new file, and return the file.

    Raises
    ------
    CourseError
        As for `save_plan_as`.
    """
    path = plan_file(typed, PAGE_SUFFIX)
    with _said(path):
        _need_folder(path)
        check_new_file(path)
        return write_atomically(path, plan_page(plan, title=title))


def load_plan_of(kind: PlanKind, typed: str | Path) -> Plan:
    """Read a saved plan of one kind.

    Raises
    ------
    CourseError
        When the file is missing, damaged, of a newer format or another kind, or holds plans over arrays.
    """
    path = plan_file(typed)
    with _said(path):
        if not path.exists():
            raise CourseError(
                text("plan_files.missing", path=path),
                found=_plans_in(path.parent),
                next_step=text("plan_files.name_or_path"),
            )
        plan = load_plan(path)
    found = kind_of(plan)
    if found.name != kind.name:
        raise CourseError(
            text("plan_files.other_kind", path=path),
            expected=kind.title,
            found=found.title,
            next_step=text("plan_files.other_panel"),
        )
    return plan


def _without_ending(name: str) -> str:
    for suffix in (PLAN_SUFFIX, PAGE_SUFFIX):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def _need_folder(path: Path) -> None:
    if path.parent != plans_folder() and not path.parent.is_dir():
        raise CourseError(
            text("plan_files.no_folder", folder=path.parent), next_step=text("plan_files.make_it")
        )


def _plans_in(folder: Path) -> str:
    names = sorted(file.name for file in folder.glob(f"*{PLAN_SUFFIX}")) if folder.is_dir() else []
    more = [text("plan_files.more", number=len(names) - _MOST_NAMED)] if len(names) > _MOST_NAMED else []
    return ", ".join([*names[:_MOST_NAMED], *more]) or text("plan_files.none_there")


@contextlib.contextmanager
def _said(path: Path) -> Iterator[None]:
    """Put what the machine has against a file into one sentence."""
    try:
        yield
    except OSError as error:
        raise CourseError(
            text("plan_files.unusable", path=path), found=error.strerror or os.strerror(error.errno or 0)
        ) from error


class PlanFiles:
    """The row of a panel in which a file is named, and its buttons.

    Parameters
    ----------
    save, load, write_page : callable
        Take the typed name and return the sentence on what was done; CourseError when it cannot be.
    forget : callable
        Goes back to the panel's own assumptions, and says so.
    """

    def __init__(
        self,
        *,
        save: Callable[[str], str],
        load: Callable[[str], str],
        write_page: Callable[[str], str],
        forget: Callable[[], str],
    ) -> None:
        self._buttons: dict[str, Callable[[str], str]] = {
            "save": save,
            "load": load,
            "page": write_page,
            "forget": lambda _: forget(),
        }
        self._parts: dict[str, Any] = {}

    def widget(self, *, foreign: bool) -> Any:
        """Return field, buttons and the place for a sentence, always the same box."""
        if not self._parts:
            self._parts = self._build()
            self.show(foreign=foreign)
        return self._parts["all"]

    def show(self, *, foreign: bool) -> None:
        """Offer the way back to the panel's own assumptions only where others are ``foreign`` to it."""
        if self._parts:
            self._parts["forget"].layout.display = None if foreign else "none"

    def say(self, sentence: str, *, problem: bool = False) -> None:
        """Show a sentence under the field."""
        if self._parts:
            kind, role = ("course-problem", "alert") if problem else ("course-note", "status")
            self._parts["said"].value = f'<p class="{kind}" role="{role}">{escape(sentence)}</p>'

    def _build(self) -> dict[str, Any]:
        import ipywidgets as widgets

        name = widgets.Text(
            description=text("plan_files.name"),
            placeholder=text("plan_files.example"),
            continuous_update=False,
            style={"description_width": "initial"},
            layout=widgets.Layout(width="auto", flex="1 1 260px", max_width="420px"),
        )
        parts: dict[str, Any] = {"name": name, "said": widgets.HTML()}
        for part in self._buttons:
            words = text(f"plan_files.button_{part}")
            parts[part] = widgets.Button(description=words, layout=widgets.Layout(width="auto"))
            parts[part].on_click(lambda _, part=part: self._pressed(part))
        row = widgets.HBox([name, *(parts[part] for part in self._buttons)])
        row.add_class("course-buttons")
        parts["all"] = widgets.VBox([row, parts["said"]])
        parts["all"].add_class("course-plan-files")
        return parts

    def _pressed(self, part: str) -> None:
        try:
            self.say(self._buttons[part](self._parts["name"].value))
        except CourseError as error:
            self.say(str(error), problem=True)
