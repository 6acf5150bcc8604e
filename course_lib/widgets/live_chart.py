"""The moving picture of a live run: samples per second above, batch wait below, on axes that keep still."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from course_lib.widgets.live_figures import LivePoint, settled
from course_lib.widgets.svg import format_number, line_chart, round_ticks
from course_lib.widgets.texts import text

_HEIGHT = 150
_LARGE_HEIGHT = 215
_FIRST_SPAN_SECONDS = 20.0
_MOST_POINTS = 240
_HEADROOM = 1.1


class LiveChart:
    """Draws a run, and the one it is compared with, again and again.

    The axes only grow, in round steps, until `restart`: a line that falls is seen to fall. What a run
    does in its first second may lie above the chart; it is drawn at the upper edge.

    Parameters
    ----------
    large : bool
        Taller, for a page's whole width.
    """

    def __init__(self, *, large: bool = False) -> None:
        self._height = _LARGE_HEIGHT if large else _HEIGHT
        self._tops: dict[str, float] = {}
        self._settled = False

    def restart(self) -> None:
        """Forget the axes, for a new run."""
        self._tops.clear()
        self._settled = False

    def html(self, b: Sequence[LivePoint], a: Sequence[LivePoint] = ()) -> str:
        """Return both charts.

        Parameters
        ----------
        b, a : sequence of LivePoint
            The newest run, and the one that is kept beside it; either may be empty.
        """
        b, a = tuple(b), tuple(a)
        if not self._settled and b and settled(b):
            self._tops.clear()
            self._settled = True
        span = _span([run[-1].seconds - run[0].seconds for run in (a, b) if run])
        rate = self._chart("rate", b, a, span, lambda point: point.samples_per_second)
        wait = self._chart("wait", b, a, span, lambda point: point.batch_wait_ms)
        figures = f"<figure>{rate}</figure><figure>{wait}</figure>"
        return f'<div class="course-view course-live-charts">{figures}</div>'

    def _chart(
        self,
        kind: str,
        b: Sequence[LivePoint],
        a: Sequence[LivePoint],
        span: float,
        value_of: Callable[[LivePoint], float],
    ) -> str:
        top = self._top(
            kind, [value_of(point) for run in (a, b) for point in (run and (settled(run) or run))]
        )
        lines = {"B": _thinned(b, span, top, value_of), "A": _thinned(a, span, top, value_of)}
        now = format_number(value_of(b[-1])) if b else text("table.none")
        return line_chart(
            {name: line for name, line in lines.items() if line or name == "B"},
            title=text(f"live.{kind}_title", now=now),
            x_axis=text("live.seconds_axis"),
            y_axis=text(f"live.{kind}_axis"),
            x_limits=(0.0, span),
            y_limits=(0.0, top),
            height=self._height,
        )

    def _top(self, kind: str, values: Sequence[float]) -> float:
        """Return the axis's upper end: as it was while everything fits, else a round value with headroom."""
        most = max(values, default=0.0)
        if most > self._tops.get(kind, 0.0):
            self._tops[kind] = round_ticks(0.0, most * _HEADROOM)[-1]
        return self._tops.get(kind, 1.0)


def _span(lengths: Sequence[float]) -> float:
    """Return the length of the time axis in seconds: doubled whenever a run outgrows it."""
    span = _FIRST_SPAN_SECONDS
    while any(length > span for length in lengths):
        span *= 2
    return span


def _thinned(
    points: Sequence[LivePoint], span: float, top: float, value_of: Callable[[LivePoint], float]
) -> list[tuple[float, float]]:
    """Return points to draw, by seconds since the first; of long runs, means of equal stretches."""
    stretches: dict[int, list[tuple[float, float]]] = {}
    for place, point in enumerate(points):
        seconds = point.seconds - points[0].seconds
        stretch = int(seconds / span * _MOST_POINTS) if len(points) > _MOST_POINTS else place
        stretches.setdefault(stretch, []).append((seconds, value_of(point)))
    return [
        (
            sum(seconds for seconds, _ in group) / len(group),
            min(sum(value for _, value in group) / len(group), top),
        )
        for group in stretches.values()
    ]
