"""Saved plans: a file that holds the inputs of a calculation with its results, and is checked when read."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any, NoReturn

from course_lib.errors import CourseError
from course_lib.experiments.plan_kinds import KINDS, SCHEMA_VERSION, described, planned
from course_lib.experiments.plan_pages import plan_page
from course_lib.files import write_atomically
from course_lib.planning import Plan

__all__ = ["check_new_file", "load_plan", "plan_page", "save_plan"]

_LARGEST_FILE = 256 * 2**20
_SAME = 1e-9
_LARGEST_NUMBER = sys.float_info.max


def save_plan(plan: Plan, path: Path, *, replace: bool = False) -> Path:
    """Write a plan as JSON, whole or not at all.

    Parameters
    ----------
    plan : Plan
        Of any kind in `plan_kinds.KINDS`; arrays are written as lists.
    path : Path
        The file, such as ``bandwidth.json``.
    replace : bool
        Whether a file that is there already may be lost.

    Raises
    ------
    CourseError
        When the file is there already, or cannot be written.
    """
    if not replace:
        check_new_file(path)
    content = json.dumps(described(plan), indent=2, allow_nan=False, ensure_ascii=False)
    return write_atomically(path, content + "\n")


def check_new_file(path: Path) -> None:
    """See that a file can be written without losing another one.

    Raises
    ------
    CourseError
        When something is there already, or the name is empty.
    """
    if path.name in ("", ".."):
        raise CourseError("The file to write has no name", found=repr(str(path)), next_step="name a file")
    if path.exists():
        raise CourseError(
            f"{path} is there already", next_step="choose another name, or remove it if it is not needed"
        )


def load_plan(path: Path) -> Plan:
    """Read a saved plan and calculate it again from its inputs.

    Returns
    -------
    Plan
        The plan, with its results as they follow from the inputs now.

    Raises
    ------
    CourseError
        When the file is missing, damaged, no saved plan, of a layout or kind that this version does not
        know, or when its results do not follow from its inputs.
    """
    content = _object_in(path)
    if not _same(content.get("schema_version"), SCHEMA_VERSION):
        raise CourseError(
            f"{path} is no saved plan that this version can read",
            expected=f"schema_version {SCHEMA_VERSION}",
            found=_short(content["schema_version"]) if "schema_version" in content else "none",
            next_step="plan it again with this version",
        )
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise CourseError(
            f"{path} holds no kind of plan that this version knows",
            expected=", ".join(KINDS),
            found=_short(kind),
            next_step="plan it again with this version",
        )
    inputs = content.get("inputs")
    if not isinstance(inputs, dict):
        raise _damaged(path, "no inputs")
    try:
        plan = planned(KINDS[kind], inputs)
    except CourseError as error:
        raise _damaged(path, str(error).rstrip(".")) from error
    now = described(plan)
    for part in ("inputs", "results", "binding"):
        if not _same(content.get(part), now[part]):
            raise CourseError(
                f"{path} does not hold together",
                expected="results that follow from its inputs",
                found=_difference(part, content.get(part), now[part]),
                next_step="plan it again: the file was changed, or made by another version",
            )
    return plan


def _object_in(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise _damaged(path, f"more than {_LARGEST_FILE // 2**20} MiB")
        text = path.read_bytes().decode("utf-8")
        content = json.loads(text, parse_constant=_refuse_constant)
    except OSError as error:
        raise CourseError(
            f"{path} is not readable", found=error.strerror, next_step="check the name of the file"
        ) from error
    except UnicodeDecodeError as error:
        raise _damaged(path, f"bytes that are no UTF-8 text at {error.start:,}") from error
    except json.JSONDecodeError as error:
        raise _damaged(path, f"{error.msg} in line {error.lineno}") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "numbers or nested lists that no plan holds") from error
    if not isinstance(content, dict):
        raise _damaged(path, type(content).__name__)
    return content


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _damaged(path: Path, found: str) -> CourseError:
    return CourseError(
        f"{path} is damaged or no saved plan",
        expected="a JSON object that `course plan ... --save` wrote",
        found=found,
        next_step="plan it again",
    )


def _same(saved: Any, now: Any) -> bool:
    """Say whether two values from JSON agree; numbers may differ in the last digits between machines."""
    if isinstance(now, bool) or now is None or isinstance(now, str):
        return type(saved) is type(now) and bool(saved == now)
    if isinstance(now, (int, float)):
        if isinstance(saved, bool) or not isinstance(saved, (int, float)):
            return False
        # Compared first: a whole number of very many digits becomes no float.
        return abs(saved) <= _LARGEST_NUMBER and math.isclose(saved, now, rel_tol=_SAME)
    if isinstance(now, dict):
        return (
            isinstance(saved, dict)
            and saved.keys() == now.keys()
            and all(_same(saved[name], now[name]) for name in now)
        )
    return (
        isinstance(saved, list)
        and len(saved) == len(now)
        and all(_same(one, other) for one, other in zip(saved, now, strict=True))
    )


def _difference(part: str, saved: Any, now: Any) -> str:
    if not isinstance(saved, dict) or not isinstance(now, dict):
        return f"{part} {_short(saved)} for {_short(now)}"
    if more := sorted(saved.keys() - now.keys()):
        return f"{', '.join(more)} as well"
    name = next(name for name in now if name not in saved or not _same(saved[name], now[name]))
    return f"{name} {_short(saved[name])} for {_short(now[name])}" if name in saved else f"no {name}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
