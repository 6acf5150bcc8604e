from __future__ import annotations

import _thread
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from course_lib.errors import CourseError
from course_lib.loading import LoaderComparison, LoaderConditions, delivered_ids, measure_loader, one_run
from course_lib.loading.results import digest_of_ids
from course_lib.loading.runs import candidates_of, comparison_of, measure_task
from course_lib.loading.verdicts import plateau
from course_lib.stores import CacheState

Small = Callable[..., LoaderConditions]


def measured_here(
    conditions: LoaderConditions,
    vary: dict[str, Any] | None = None,
    *,
    repeats: int = 3,
    events: list[dict[str, Any]] | None = None,
    **batches: Any,
) -> LoaderComparison:
    """Do what measure_loader does, in this process, by way of JSON as the watched process does it."""
    from datetime import datetime, timezone

    request = {
        "candidates": {name: each.as_dict() for name, each in candidates_of(conditions, vary).items()},
        "repeats": repeats,
        "warmup_batches": batches.get("warmup_batches", 2),
        "measured_batches": batches.get("measured_batches"),
    }
    seen = events if events is not None else []
    result = measure_task(json.loads(json.dumps(request)), seen.append)
    return comparison_of(json.loads(json.dumps(result)), request, datetime.now(timezone.utc))


def test_candidates_take_turns_and_deliver_the_same_samples(small: Small) -> None:
    events: list[dict[str, Any]] = []
    comparison = measured_here(small(), {"workers": [0, 2]}, events=events)
    assert comparison.candidates() == ("workers 0", "workers 2")
    assert [(run.candidate, run.repeat, run.turn) for run in comparison.runs] == [
        ("workers 0", 0, 0),
        ("workers 2", 0, 1),
        ("workers 2", 1, 0),
        ("workers 0", 1, 1),
        ("workers 0", 2, 0),
        ("workers 2", 2, 1),
    ]
    assert comparison.same_samples and comparison.plan["factor"] == "workers"
    assert all(run.delivered_samples == 48 and run.timing.measured_batches == 10 for run in comparison.runs)
    assert [event["done"] for event in events if event["kind"] == "run"] == [1, 2, 3, 4, 5, 6]
    assert comparison.summary("workers 0").low > 0
    assert comparison.total_samples_per_second("workers 2") > 0
    assert plateau(comparison).sentence


def test_a_run_tells_what_it_cost(small: Small) -> None:
    alone, with_workers = measured_here(small(), {"workers": [0, 2]}, repeats=1).runs
    assert alone.worker_memory_bytes == () and alone.start_method == ""
    assert len(with_workers.worker_memory_bytes) == 2 and with_workers.start_method
    assert all(memory.uss_bytes > 100_000 for memory in with_workers.worker_memory_bytes)
    assert with_workers.open_files > 0 and with_workers.cpu_seconds >= 0
    assert with_workers.timing.representation == "uint8 (3, 12, 12)"


def test_the_conditions_alone_tell_the_delivered_ids(small: Small) -> None:
    conditions = small(seed=7, epoch=3)
    (run,) = measured_here(conditions, repeats=1, measured_batches=4).runs
    ids = delivered_ids(LoaderConditions.from_dict(run.conditions.as_dict()), run.delivered_batches)
    assert len(ids) == 6 * 4 == run.delivered_samples
    assert digest_of_ids(ids) == run.delivered_digest
    assert digest_of_ids(delivered_ids(conditions.with_changes(seed=8), 6)) != run.delivered_digest
    with pytest.raises(CourseError, match="not so many batches"):
        delivered_ids(conditions, 13)


def test_the_source_that_was_found_stands_in_the_record() -> None:
    comparison = measured_here(LoaderConditions(sample_count=48, batch_size=8), repeats=1, warmup_batches=1)
    assert comparison.runs[0].conditions.source == "generated"
    assert comparison.origin is not None and comparison.origin.kind == "generated"


def test_a_comparison_survives_a_record(small: Small) -> None:
    comparison = measured_here(small(), {"transforms": ["bytes", "decode"]}, repeats=1)
    written = json.loads(json.dumps(comparison.as_dict()))
    assert LoaderComparison.from_dict(written).as_dict() == comparison.as_dict()
    assert comparison.runs[0].timing.representation == "encoded bytes"


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({"workers": [0, 2], "batch_size": [4, 8]}, "More than one condition"),
        ({"workers": []}, "no values"),
        ({"workers": "02"}, "no values"),
        ({"workers": [2, 2]}, "twice"),
        ({"workers": [0, -1]}, "out of range"),
        ({"open_ms": [0, 0.0]}, "are the same"),
        ({"cores": [1, 2]}, "no condition"),
    ],
)
def test_comparisons_that_explain_nothing_are_refused(small: Small, vary: dict[str, Any], words: str) -> None:
    with pytest.raises(CourseError, match=words):
        measure_loader(small(), vary=vary, progress=False)


@pytest.mark.parametrize("repeats", [0, -1, 1.5, True])
def test_repeats_out_of_range_are_refused(small: Small, repeats: Any) -> None:
    with pytest.raises(CourseError, match="repeats is out of range"):
        measure_loader(small(), repeats=repeats, progress=False)


def changed(comparison: LoaderComparison, **changes: Any) -> LoaderComparison:
    """Return the comparison as a record would give it, with its last run changed."""
    written = comparison.as_dict()
    written["runs"][-1].update(changes)
    return LoaderComparison.from_dict(written)


def test_other_samples_or_a_second_factor_make_no_comparison(small: Small) -> None:
    comparison = measured_here(small(), {"open_ms": [0.0, 0.1]}, repeats=1)
    with pytest.raises(CourseError, match="same samples in the same order"):
        changed(comparison, delivered_digest="0" * 64)
    conditions = comparison.runs[-1].conditions.with_changes(decode_repeats=2)
    with pytest.raises(CourseError, match="decode_repeats and open_ms"):
        changed(comparison, conditions=conditions.as_dict())


def test_batch_sizes_may_differ_in_what_they_deliver(small: Small) -> None:
    comparison = measured_here(small(), {"batch_size": [4, 8]}, repeats=1, measured_batches=2)
    assert not comparison.same_samples


def test_different_cache_states_stand_beside_the_verdict(small: Small) -> None:
    comparison = measured_here(small(), {"open_ms": [0.0, 0.1]}, repeats=1)
    states = {kind: CacheState(kind, None, 1, 1, "").as_dict() for kind in ("warm", "cold")}
    written = comparison.as_dict()
    for run, kind in zip(written["runs"], states, strict=True):
        run["cache_before"] = states[kind]
    assert "different cache states (cold, warm)" in LoaderComparison.from_dict(written).verdict.sentence


def test_the_plateau_names_its_reason_and_what_would_refute_it(small: Small) -> None:
    comparison = measured_here(small(), {"workers": [0, 1, 2]})
    written = comparison.as_dict()
    rates = {"workers 0": 10.0, "workers 1": 2.0, "workers 2": 2.0}
    for run in written["runs"]:
        run["timing"]["elapsed_seconds"] = rates[run["candidate"]] * (1 + run["repeat"] / 100)
        run["cpu_seconds"] = 0.97 * run["timing"]["elapsed_seconds"] * written["plan"]["usable_cores"]
        run["cache_before"] = CacheState("warm", 1.0, 1, 1, "").as_dict()
    full = plateau(LoaderComparison.from_dict(written))
    assert (full.workers, full.reason) == (1, "cores full")
    assert "97%" in full.sentence
    assert "transforms='bytes'" in full.control and "--transforms bytes" in full.control
    for run in written["runs"]:
        run["cpu_seconds"] = 0.26 * run["timing"]["elapsed_seconds"] * written["plan"]["usable_cores"]
        run["machine_busy_share"] = 1.0
    crowded = plateau(LoaderComparison.from_dict(written))
    assert crowded.reason == "other programs" and "other programs keep the cores busy" in crowded.sentence
    assert "when they are quiet" in crowded.control
    for run in written["runs"]:
        run["cpu_seconds"] = 0.1
        run["machine_busy_share"] = 0.2
    assert plateau(LoaderComparison.from_dict(written)).reason == "unclear"
    for run in written["runs"]:
        run["conditions"]["open_ms"] = 2.0
    waiting = plateau(LoaderComparison.from_dict(written))
    assert waiting.reason == "waiting for the store" and "layout='memory'" in waiting.control
    for run in written["runs"]:
        run["conditions"]["open_ms"] = 0.0
        run["timing"]["first_batch_seconds"] = 60.0
    assert plateau(LoaderComparison.from_dict(written)).reason == "start-up"
    for run in written["runs"]:
        run["timing"]["elapsed_seconds"] /= 1 + run["conditions"]["workers"]
    assert plateau(LoaderComparison.from_dict(written)).workers is None


def test_a_plateau_is_one_of_workers(small: Small) -> None:
    with pytest.raises(CourseError, match="sweep over workers"):
        plateau(measured_here(small(), {"open_ms": [0.0, 0.1]}, repeats=1))


@pytest.mark.skipif(sys.platform != "linux", reason="fork, SIGKILL")
def test_a_killed_worker_is_explained_and_the_next_measurement_works(small: Small) -> None:
    conditions = small(workers=2, open_ms=50.0, start_method="fork")
    before = set(psutil.Process().children(recursive=True))

    def kill_a_worker() -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            children = psutil.Process().children()
            workers = [worker for child in children for worker in forked_from(child)]
            if len(workers) == 2:
                workers[0].kill()
                return
            time.sleep(0.02)

    thread = threading.Thread(target=kill_a_worker, daemon=True)
    thread.start()
    with pytest.raises(CourseError, match=r"was killed|ended during the run"):
        measure_loader(conditions, repeats=3, progress=False)
    thread.join()
    assert set(psutil.Process().children(recursive=True)) <= before
    comparison = measure_loader(small(workers=1), repeats=1, progress=False)
    assert comparison.runs[0].delivered_samples == 48


def forked_from(process: psutil.Process) -> list[psutil.Process]:
    """Return the children that run the same command: DataLoader workers, and no helper of Python's."""
    try:
        command = process.cmdline()
        return [child for child in process.children() if child.cmdline() == command]
    except psutil.Error:
        return []


def test_ctrl_c_ends_the_measurement_with_its_processes(small: Small) -> None:
    before = set(psutil.Process().children(recursive=True))
    threading.Timer(3.0, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        measure_loader(small(open_ms=1_000.0), repeats=3, progress=False)
    assert set(psutil.Process().children(recursive=True)) <= before


def test_workers_that_are_spawned_deliver_the_same(small: Small) -> None:
    comparison = measure_loader(
        small(workers=1), vary={"start_method": ["", "spawn"]}, repeats=1, progress=False
    )
    assert comparison.same_samples
    assert comparison.runs[1].start_method == "spawn"
    assert len(comparison.runs[1].worker_memory_bytes) == 1


def test_a_folder_that_cannot_be_listed_counts_as_hung_long_before_data_that_are_made() -> None:
    own = LoaderConditions(path="/somewhere")
    made = LoaderConditions()
    assert one_run._most_signs([own]) * 10 < one_run._most_signs([own, made]) == one_run._most_signs([made])
    told: list[dict[str, Any]] = []
    done = threading.Event()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(one_run, "_SECONDS_BETWEEN_SIGNS", 0.001)
        with one_run.signs_of_life(told.append, 3):
            done.wait(0.3)
    assert len(told) == 3
