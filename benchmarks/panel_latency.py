"""From a key press on a slider to new numbers on the screen: the panels of lesson 09 beside `interact`.

JupyterLab is served, and the notebook opened in a real Chromium, by the fixtures of the browser tests. All
candidates stand in one notebook with one kernel and take turns in blocks; the first moves of each block are
dropped. The page itself takes the times, with one clock:

- it begins with the time stamp that the browser gave the keydown event;
- "numbers changed" is when a MutationObserver finds the text of the numbers to be another one;
- "numbers painted" is the first task after the next animation frame, when the frame has been drawn;
- "figure painted" is the same for the chart, which for a picture means after it is decoded.

The aims are about "numbers painted". A move begins when the page has been at rest for a while. A panel
sends its browser ahead of time what the next steps show; the rows "by the page" press Page Up and Page
Down in turn: their places have not been sent, and the numbers come from the kernel.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import importlib.util
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "browser" / "conftest.py"
BLOCKS, WARM_UP_MOVES = 5, 3
REST_MS, PATIENCE_MS = 150, 30_000
MEDIAN_AIM, P95_AIM = 1 / 4, 1 / 2
PACKAGES = ("jupyterlab", "ipywidgets", "ipykernel", "matplotlib")

CELLS = (
    """\
import ipywidgets
import matplotlib.pyplot as plt
from course_lib.planning import cache_plan, metadata_plan, read_bandwidth
from course_lib.widgets.panels.planning_bandwidth import GIGABIT, bandwidth_panel, cache_panel
from course_lib.widgets.panels.planning_requests import metadata_panel

def draw(numbers, unit):
    print("; ".join(f"{name} {value:,.2f} {unit}" for name, value in numbers.items()))
    figure, axes = plt.subplots(figsize=(7, 2.2))
    axes.bar_label(axes.barh(list(numbers), list(numbers.values())))
    axes.set_xlabel(unit)
    plt.show()

def sliders(panel):
    made = {}
    for name, control in panel.controls.items():
        kind = ipywidgets.IntSlider if control.whole else ipywidgets.FloatSlider
        step = 1 if control.whole else control.minimum or 0.01
        made[name] = kind(control.value, min=control.minimum, max=control.maximum, step=step)
    return made

def bandwidth(consumers, bytes_per_sample, hit_rate):
    plan = read_bandwidth(
        batches_per_second=4, batch_size=128, bytes_per_sample=bytes_per_sample, consumers=consumers,
        hit_rate=hit_rate, available_bytes_per_second=GIGABIT)
    draw({"cold": plan.cold_bytes_per_second / 1e6, "warm": plan.remote_bytes_per_second / 1e6,
          "available": plan.available_bytes_per_second / 1e6}, "MB/s")

def cache(cache_bytes, jobs, epochs):
    plan = cache_plan(
        data_bytes=300e9, cache_bytes=cache_bytes, remote_bytes_per_second=GIGABIT,
        local_bytes_per_second=1e9, jobs=jobs, prepare_seconds=1800, epochs=epochs)
    draw({"cold": plan.cold_seconds / 60, "warm": plan.warm_seconds / 60,
          "no cache": plan.uncached_seconds / 60}, "min")

def metadata(files, seconds_per_operation, concurrency):
    plan = metadata_plan(
        files=files, seconds_per_operation=seconds_per_operation, concurrency=concurrency,
        server_operations_per_second=4000)
    draw({"scan files": plan.scan_seconds / 60, "open files": plan.open_seconds / 60,
          "scan shards": plan.shard_scan_seconds / 60, "open shards": plan.shard_open_seconds / 60}, "min")

panels = [bandwidth_panel(), cache_panel(), metadata_panel()]""",
    """\
slider, number = ipywidgets.IntSlider(4, min=1, max=64), ipywidgets.HTML("4")
slider.observe(lambda change: setattr(number, "value", f"{512 * change['new']:,} samples/s"), "value")
floor = ipywidgets.VBox([slider, number])
floor.add_class("floor")
floor""",
    *(
        f"_ = ipywidgets.interact({name}, **sliders(panels[{place}]))"
        for place, name in enumerate(("bandwidth", "cache", "metadata"))
    ),
    *(f"panels[{place}]" for place in range(3)),
)

ARM = """
(root, [words, figure, patience]) => {
  const said = () => root.querySelector(words)?.textContent ?? "";
  const drawn = () => {
    const found = root.querySelector(figure);
    return found && (found.src ?? found.outerHTML);
  };
  const painted = () => new Promise(done => requestAnimationFrame(() => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = () => done(performance.now());
    port2.postMessage(0);
  }));
  const before = [said(), drawn()];
  window.move = new Promise((done, failed) => {
    setTimeout(failed, patience, new Error("no new numbers and figure after the key press"));
    let pressed, numbers, chart = drawn() ? undefined : Promise.resolve(NaN);
    document.addEventListener("keydown", event => { pressed = event.timeStamp; },
                              {capture: true, once: true});
    const observer = new MutationObserver(async () => {
      if (numbers === undefined && said() && said() !== before[0]) {
        const changed = performance.now();
        numbers = painted().then(shown => [changed, shown]);
      }
      if (chart === undefined && drawn() && drawn() !== before[1]) {
        const picture = root.querySelector(figure);
        chart = (picture.decode ? picture.decode() : Promise.resolve()).then(painted);
      }
      if (numbers === undefined || chart === undefined) return;
      observer.disconnect();
      const times = [...await numbers, await chart].map(time => time - pressed);
      done(times.map(time => Number.isNaN(time) ? null : time));
    });
    observer.observe(root, {childList: true, characterData: true, attributes: true, subtree: true});
  });
}"""


@dataclass(frozen=True)
class Candidate:
    """Something with a slider; how to find it, its numbers and its chart on the page.

    ``peer`` is the plain `interact` that it is compared with, ``moved`` which of its sliders moves, and
    ``by_page`` whether by Page Up and Page Down instead of an arrow.
    """

    name: str
    place: tuple[str, int]
    numbers: str
    figure: str
    moved: int
    peer: str = ""
    by_page: bool = False


def interacting(name: str, place: int, moved: int) -> Candidate:
    return Candidate(f"interact, {name}", (".widget-interact", place), "pre", "img", moved)


def panel(name: str, place: int, moved: int) -> Candidate:
    peer = f"interact, {name}"
    return Candidate(
        f"panel, {name}", (".course-panel", place), ".course-view table", ".course-view svg", moved, peer
    )


def by_page(candidate: Candidate) -> Candidate:
    peer = f"{candidate.peer}, by the page" if candidate.peer else ""
    return replace(candidate, name=f"{candidate.name}, by the page", peer=peer, by_page=True)


# Consumers, jobs and the time of an operation: no limit binds so early that the results would stand still.
MOVED = {"bandwidth": 0, "cache": 1, "metadata": 1}
MOST_MOVES = 12  # of a block: there are 16 jobs at most
FLOOR = Candidate(
    "HTML set from Python", (".floor", 0), ".widget-html-content", "svg", 0, "interact, bandwidth"
)
CANDIDATES = (
    FLOOR,
    *(interacting(name, place, moved) for place, (name, moved) in enumerate(MOVED.items())),
    *(panel(name, place, moved) for place, (name, moved) in enumerate(MOVED.items())),
    by_page(interacting("bandwidth", 0, 0)),
    by_page(panel("bandwidth", 0, 0)),
)


@dataclass(frozen=True)
class Move:
    """Milliseconds from the key press; no figure where a candidate has none."""

    changed: float
    painted: float
    figure: float | None


def block(page: Any, candidate: Candidate, back: bool, count: int) -> list[Move]:
    """Press a key ``count`` times, each when the page is at rest; return the moves after the first."""
    selector, place = candidate.place
    root = page.locator(selector).nth(place)
    slider = root.get_by_role("slider").nth(candidate.moved)
    slider.evaluate("slider => slider.scrollIntoView({block: 'start'})")
    slider.focus()
    moves = []
    for number in range(count):
        if candidate.by_page:
            key = "PageDown" if number % 2 else "PageUp"
        else:
            key = "ArrowLeft" if back else "ArrowRight"
        page.wait_for_timeout(REST_MS)
        root.evaluate(ARM, [candidate.numbers, candidate.figure, PATIENCE_MS])
        page.keyboard.press(key)
        moves.append(Move(*page.evaluate("window.move")))
    return moves[WARM_UP_MOVES:]


class Run:
    """What one run is to take and what it has taken; a plugin of pytest, for the sake of the fixtures."""

    def __init__(self, moves_of_a_block: int) -> None:
        self.moves_of_a_block = moves_of_a_block
        self.chromium = ""
        self.taken: dict[str, list[Move]] = {candidate.name: [] for candidate in CANDIDATES}

    @pytest.fixture
    def run(self) -> Run:
        return self


def test_moves(open_notebook: Callable[..., Any], browser: Any, run: Run) -> None:
    opened = open_notebook("latency.ipynb", CELLS)
    opened.run_all()
    assert opened.errors() == []
    run.chromium = browser.browser.version
    for turn in range(BLOCKS):
        for candidate in CANDIDATES:
            count = run.moves_of_a_block + WARM_UP_MOVES
            run.taken[candidate.name] += block(opened.page, candidate, turn % 2 == 1, count)


def three(values: Sequence[float]) -> tuple[float, float, float]:
    """Return median, 95th percentile and maximum."""
    return (
        statistics.median(values),
        statistics.quantiles(values, n=20, method="inclusive")[-1],
        max(values),
    )


def report(run: Run) -> None:
    """Print the table, and for each panel whether the aims hold."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    moves = len(run.taken[FLOOR.name])
    print(f"Chromium {run.chromium}, {versions}, Python {platform.python_version()}, {platform.system()}")
    print(f"{moves} moves each in {BLOCKS} blocks, the first {WARM_UP_MOVES} of each block dropped besides.")
    print("Milliseconds from the keydown event to the frame; ratios to interact over the same calculator.\n")
    print(f"{'':31} {'numbers painted':^23}   {'ratio':^11}   {'changed':>7}   {'figure painted':^23}")
    heads = "median     p95     max"
    print(f"{'candidate':31} {heads:>23}   {'median':>5} {'p95':>4}   {'median':>7}   {heads:>23}")
    held = []
    for candidate in CANDIDATES:
        taken = run.taken[candidate.name]
        numbers = three([move.painted for move in taken])
        line = f"{candidate.name:31} {' '.join(f'{value:7.1f}' for value in numbers)}   "
        if candidate.peer:
            peer = three([move.painted for move in run.taken[candidate.peer]])
            ratios = numbers[0] / peer[0], numbers[1] / peer[1]
            line += f"{ratios[0]:6.2f} {ratios[1]:4.2f}   "
            if candidate.name.startswith("panel") and not candidate.by_page:
                held.append((candidate.name, ratios[0] <= MEDIAN_AIM, ratios[1] <= P95_AIM))
        else:
            line += f"{'1':>6} {'1':>4}   "
        line += f"{statistics.median(move.changed for move in taken):7.1f}   "
        charts = [move.figure for move in taken if move.figure is not None]
        line += " ".join(f"{value:7.1f}" for value in three(charts)) if charts else f"{'no figure':>23}"
        print(line)
    print()
    for name, median_holds, p95_holds in held:
        first, second = ("holds" if kept else "missed" for kept in (median_holds, p95_holds))
        print(f"{name:31} median at most {MEDIAN_AIM} of interact: {first}; p95 at most {P95_AIM}: {second}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--moves",
        type=int,
        choices=range(1, MOST_MOVES + 1),
        default=10,
        help=f"Counted moves in each of {BLOCKS} blocks.",
    )
    run = Run(parser.parse_args().moves)
    spec = importlib.util.spec_from_file_location("browser_fixtures", FIXTURES)
    assert spec is not None and spec.loader is not None
    fixtures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fixtures)
    quiet = ["-q", "--no-header", "--tb=short", "-W", "ignore", "--timeout=0", "-p", "no:cacheprovider"]
    with contextlib.redirect_stdout(sys.stderr):
        ended = pytest.main([f"--rootdir={ROOT}", *quiet, __file__], plugins=[fixtures, run])
    if ended != 0:
        sys.exit("the run did not come to its end; `pytest tests/browser` says whether the browser tests do")
    report(run)


if __name__ == "__main__":
    main()
