"""Lesson 05: a training loop that runs while one looks, and what keeps it waiting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from course_lib.loading.live import IMPORTS, PRESETS, TASK, with_preset
from course_lib.loading.training import TrainingConditions
from course_lib.widgets.controls import Control, NumberControl
from course_lib.widgets.live import LivePanel, LivePreset
from course_lib.widgets.texts import text

_CONTROLLED = ("workers", "batch_size", "prefetch")


def live_loading_panel(conditions: TrainingConditions | None = None, *, large: bool = False) -> LivePanel:
    """Return a panel that trains a small model until it is stopped, with something slow where one likes.

    Parameters
    ----------
    conditions : TrainingConditions, optional
        Where the cases start from; workers, batch size and prefetch are then set by the controls.
    large : bool, optional
        Large type and a page's whole width, for a room.

    Raises
    ------
    CourseError
        When the conditions' own workers, batch size or prefetch are out of the controls' ranges.
    """
    start = conditions or TrainingConditions()

    def request(case: str, **values: int) -> dict[str, Any]:
        chosen = with_preset(start, case).with_changes(loader=values)
        return {"conditions": chosen.as_dict(), "work": "train"}

    controls: dict[str, Control] = {
        "workers": NumberControl(text("live_loading.workers"), 0, 8, start.loader.workers),
        "batch_size": NumberControl(text("live_loading.batch_size"), 8, 256, start.loader.batch_size, step=8),
        "prefetch": NumberControl(text("live_loading.prefetch"), 1, 8, start.loader.prefetch),
    }
    return LivePanel(
        text("live_loading.title"),
        {case: _preset(case, changes) for case, changes in PRESETS.items()},
        controls,
        task=TASK,
        request=request,
        words=conditions_in_words,
        factor=factor_in_words,
        imports=IMPORTS,
        large=large,
    )


def conditions_in_words(request: Mapping[str, Any]) -> str:
    """Return a request's conditions in words: what is set is called set, what is repeated is real work."""
    conditions = TrainingConditions.from_dict(request["conditions"])
    loader = conditions.loader
    if loader.workers == 0:
        workers = text("live_loading.no_workers")
    elif loader.workers == 1:
        workers = text("live_loading.one_worker", prefetch=loader.prefetch)
    else:
        workers = text("live_loading.with_workers", workers=loader.workers, prefetch=loader.prefetch)
    words = [workers, text("live_loading.batches", size=loader.batch_size)]
    if loader.open_ms:
        words.append(text("live_loading.open", ms=loader.open_ms))
    if loader.decode_repeats > 1:
        words.append(text("live_loading.decode", times=loader.decode_repeats))
    if conditions.compute_repeats > 1:
        words.append(text("live_loading.compute", times=conditions.compute_repeats))
    if loader.cache == "evict":
        words.append(text("live_loading.evict"))
    return ", ".join(words)


def factor_in_words(name: str) -> str:
    """Return the name of one entry of a request as people say it."""
    entry = name.rpartition(".")[2]
    known = {
        "workers": text("live_loading.factor_workers"),
        "batch_size": text("live_loading.factor_batch_size"),
        "prefetch": text("live_loading.factor_prefetch"),
        "open_ms": text("live_loading.factor_open"),
        "decode_repeats": text("live_loading.factor_decode"),
        "compute_repeats": text("live_loading.factor_compute"),
        "cache": text("live_loading.factor_cache"),
    }
    return known.get(entry, entry)


def _preset(case: str, changes: Mapping[str, Any]) -> LivePreset:
    """Return a case as the panel shows it; what it changes of the controls' entries moves the controls."""
    moves = {name: value for name, value in changes.get("loader", {}).items() if name in _CONTROLLED}
    return LivePreset(text(f"live_loading.case_{case.replace(' ', '_')}"), moves)
