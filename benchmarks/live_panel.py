"""What the live panel costs the loop that it shows, and how long the first point takes after Start.

A run whose windows the panel draws and a run whose windows nobody draws take turns; both load and decode
in a process of their own, without workers. The panel's side is the kernel's alone: a browser that draws
on the same processors comes on top.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from course_lib.loading import LoaderConditions
from course_lib.loading.live import IMPORTS, TASK
from course_lib.loading.training import TrainingConditions
from course_lib.watched import WatchedProcess
from course_lib.widgets.live import LivePanel, LivePreset
from course_lib.widgets.live_run import LiveRun
from course_lib.widgets.panels.live_loading import conditions_in_words

Totals = list[tuple[float, int]]
"""Seconds since the start of a run, and the samples delivered by then."""


def request() -> dict[str, Any]:
    """Return a run that loads without training: the loader at its fastest is the worst case."""
    conditions = TrainingConditions(loader=LoaderConditions(sample_count=2_880))
    return {"conditions": conditions.as_dict(), "work": "load"}


def totals_of(event: dict[str, Any], totals: Totals) -> None:
    if event.get("kind") == "point":
        totals.append((event["seconds"], event["samples"]))


def with_panel(panel: LivePanel, seconds: float, ready: float) -> tuple[float, float]:
    """Return samples a second of a run that the panel draws, and seconds from Start to its first point."""
    totals: Totals = []
    take = LiveRun._take

    def noting(run: LiveRun, event: dict[str, Any]) -> None:
        totals_of(event, totals)
        take(run, event)

    LiveRun._take = noting
    panel.prepare()
    time.sleep(ready)
    started = time.perf_counter()
    panel.start()
    try:
        while not totals:
            time.sleep(0.002)
        first = time.perf_counter() - started
        while totals[-1][0] < seconds:
            time.sleep(0.05)
    finally:
        panel.stop()
        LiveRun._take = take
    return rate_of(totals), first


def without_panel(seconds: float, ready: float) -> float:
    """Return samples a second of the same run when nothing is made of what it tells."""
    totals: Totals = []
    with WatchedProcess(IMPORTS) as process:
        time.sleep(ready)
        process.begin(TASK, request())
        for event in process.events():
            totals_of(event, totals)
            if totals and totals[-1][0] >= seconds:
                break
    return rate_of(totals)


def rate_of(totals: Totals) -> float:
    """Return total samples over total time, without the first second."""
    counted = [point for point in totals if point[0] > totals[0][0] + 1.0]
    (begun, before), (ended, after) = counted[0], counted[-1]
    return (after - before) / (ended - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--ready", type=float, default=15.0, help="Seconds that a prepared process gets.")
    chosen = parser.parse_args()
    panel = LivePanel(
        "Loading alone",
        {"load": LivePreset("load")},
        {},
        task=TASK,
        request=lambda case: request(),
        words=conditions_in_words,
        imports=IMPORTS,
    )
    panel.widget()
    panel.run_for(1.0)
    ratios, firsts, drawn, alone = [], [], [], []
    for repeat in range(chosen.repeats):
        for name in ("with", "without") if repeat % 2 else ("without", "with"):
            if name == "with":
                rate, first = with_panel(panel, chosen.seconds, chosen.ready)
                drawn.append(rate)
                firsts.append(first)
            else:
                alone.append(without_panel(chosen.seconds, chosen.ready))
        ratios.append(drawn[-1] / alone[-1])
    for name, values, unit in (
        ("samples/s with the panel", drawn, ""),
        ("samples/s without", alone, ""),
        ("ratio of each pair", ratios, ""),
        ("Start to the first point", firsts, " s"),
    ):
        low, middle, high = min(values), statistics.median(values), max(values)
        print(f"{name:28} {middle:>10,.3f}{unit} ({low:,.3f} to {high:,.3f})")


if __name__ == "__main__":
    main()
