"""The panels that can stand alone on a page for a room: which there are, and how each one is made."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from typing import Any

from course_lib.errors import CourseError

_PANELS = "course_lib.widgets.panels"
_SOURCES = "course_lib.widgets.stage_sources"


@dataclass(frozen=True)
class StagePanel:
    """One panel for the stage.

    Attributes
    ----------
    lesson : str
        Two digits.
    name : str
        Its word on the command line.
    about : str
        What it lets one try, in a few words.
    module, function : str
        Where the panel comes from: a function that returns it.
    arguments : mapping of str to object
        By name, as the lesson gives them.
    source : str
        The function of `course_lib.widgets.stage_sources` that returns the arguments which are no plain
        values, such as a data set; "" for a panel that needs none.
    """

    lesson: str
    name: str
    about: str
    module: str
    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""


STAGE_PANELS = (
    StagePanel("00", "data", "where the data of all lessons come from", "start_here", "data_panel"),
    StagePanel(
        *("01", "moment", "which fields are known at the moment of decision"),
        *("prediction_time", "moment_panel"),
        source="bank_manifest",
    ),
    StagePanel(
        *("01", "auc", "one AUC by moment, split and model"),
        *("prediction_time", "auc_panel"),
        source="bank_table",
    ),
    StagePanel(
        *("01", "drift", "how the share of yes changes in the order of time"),
        *("prediction_time", "drift_panel"),
        source="bank_table",
    ),
    StagePanel(
        *("02", "images", "how large a batch of images is, stored and decoded"),
        *("sizes", "image_batch_panel"),
        source="image_task",
    ),
    StagePanel(
        *("02", "padding", "what padding of texts costs"),
        *("sizes", "padding_panel"),
        source="text_lengths",
    ),
    StagePanel(
        *("03", "seed", "the same seed, drawn from two orders"),
        *("splits", "same_seed_panel"),
        source="bank_samples_and_origin",
    ),
    StagePanel(
        *("03", "split", "a split by kind, ratio and seed, and its AUC"),
        *("splits", "split_panel"),
        source="client_calls",
    ),
    StagePanel(
        *("03", "inspection", "the tools of the custody bench, case by case"),
        *("custody", "inspection_panel"),
        source="custody_bench",
    ),
    StagePanel("04", "opens", "reading files whose opens take a set time", "slow_opens", "set_opens_panel"),
    StagePanel(
        *("05", "loading", "the live training loop, two runs side by side"),
        *("live_loading", "live_loading_panel"),
        arguments={"large": True},
    ),
    StagePanel("06", "case", "files or shards: bytes, opens and sizes", "shards", "case_panel"),
    StagePanel(
        *("06", "mixing", "how well a shuffle buffer mixes a shard set"),
        *("shard_damage", "mixing_panel"),
        source="two_shard_sets",
    ),
    StagePanel(
        *("09", "capacity", "disk space over the life cycle, and its fullest moment"),
        *("planning_capacity", "capacity_panel"),
        arguments={"disk_bytes": 1e12, "reserve_ratio": 0.1},
    ),
    StagePanel(
        *("09", "caches", "private and shared caches of several jobs"),
        *("planning_capacity", "caches_panel"),
        arguments={"disk_bytes": 1e12, "local_disk_bytes": 400e9},
    ),
    StagePanel(
        *("09", "bandwidth", "bytes a second that training asks of the storage"),
        *("planning_bandwidth", "bandwidth_panel"),
        arguments={"available_bytes_per_second": 125e6},
    ),
    StagePanel(
        *("09", "cache", "when a cache pays"),
        *("planning_bandwidth", "cache_panel"),
        arguments={"data_bytes": 300e9, "remote_bytes_per_second": 125e6},
    ),
    StagePanel(
        *("09", "burst", "writing a checkpoint while reading goes on"),
        *("planning_checkpoints", "burst_panel"),
        arguments={"reading_bytes_per_second": 204.8e6, "bandwidth_bytes_per_second": 500e6},
    ),
    StagePanel("09", "interval", "how often to save a checkpoint", "planning_checkpoints", "interval_panel"),
    StagePanel("09", "cost", "the cheapest plan that meets the constraints", "planning_cost", "cost_panel"),
    StagePanel(
        *("09", "metadata", "operations on files, calculated and measured"),
        *("planning_requests", "metadata_panel"),
        source="measuring_place",
    ),
    StagePanel("09", "objects", "requests of an object store", "planning_requests", "object_panel"),
    StagePanel("09", "mlperf", "what MLPerf Storage asks for", "planning_benchmark", "benchmark_panel"),
)


@dataclass(frozen=True)
class NotAlone:
    """A function that returns something to work with, and why it has no page."""

    lesson: str
    name: str
    module: str
    function: str
    reason: str


NOT_ALONE = (
    NotAlone(
        *("03", "desk", "custody", "custody_desk"),
        "The custody desk counts one learner's verdicts and stays in the notebook of lesson 03; its cases "
        "and tools are on the page `course stage 03 inspection`",
    ),
)


def panels_of(lesson: str) -> tuple[StagePanel, ...]:
    """Return a lesson's panels for the stage, in the order of the lesson; empty where there are none."""
    return tuple(panel for panel in STAGE_PANELS if panel.lesson == lesson)


def find_panel(lesson: str, name: str = "") -> StagePanel:
    """Return one panel for the stage; without a name the only one of its lesson.

    Raises
    ------
    CourseError
        When the lesson has none, several and no name was given, or none of this name; for one that
        cannot stand alone, with the reason.
    """
    found = panels_of(lesson)
    if not found:
        raise CourseError(
            f"Lesson {lesson} has no page for the stage",
            expected=" or ".join(dict.fromkeys(panel.lesson for panel in STAGE_PANELS)),
            next_step="choose one of these, or open the lesson with `course lab`",
        )
    names = [panel.name for panel in found]
    if name in names:
        return found[names.index(name)]
    if not name and len(found) == 1:
        return found[0]
    for missing in NOT_ALONE:
        if (missing.lesson, missing.name) == (lesson, name):
            raise CourseError(missing.reason)
    what = f"Lesson {lesson} has no panel {name!r}" if name else f"Lesson {lesson} has several panels"
    raise CourseError(
        what,
        expected=" or ".join(names),
        next_step=f"name one, as in `course stage {lesson} {names[0]}`; `--list` says what each shows",
    )


def stage_panel(lesson: str, name: str = "") -> Any:
    """Return a panel in large type, to be shown as a page of its own.

    Where its data cannot be had, the sentence on that comes back, ready to be shown in its place.

    Raises
    ------
    CourseError
        As `find_panel` does.
    """
    from course_lib.widgets.view import Html

    chosen = find_panel(lesson, name)
    try:
        # The bars that loading draws would stay above the panel.
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            panel = _made(chosen)
    except CourseError as error:
        return Html(f'<p class="course-problem" role="alert">{escape(str(error))}</p>')
    panel.large = True
    return panel


def _made(chosen: StagePanel) -> Any:
    arguments = dict(chosen.arguments)
    if chosen.source:
        arguments |= getattr(import_module(_SOURCES), chosen.source)()
    return getattr(import_module(f"{_PANELS}.{chosen.module}"), chosen.function)(**arguments)
