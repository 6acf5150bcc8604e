"""What a panel sends the browser ahead of the next move: the same that it shows after it, or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.widgets import ChoiceControl, NumberControl, Panel, View, ahead, panel
from course_lib.widgets.panels.planning_bandwidth import bandwidth_panel, cache_panel
from course_lib.widgets.panels.planning_cost import cost_panel
from course_lib.widgets.panels.planning_requests import metadata_panel

AT_REST_SECONDS = 10


class _Messenger:
    """Notes what is sent, in place of the widget that sends it."""

    made: list[_Messenger]

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.made.append(self)

    def on_msg(self, callback: Callable[..., None]) -> None:
        self.receive = callback

    def send(self, content: dict[str, Any]) -> None:
        self.sent.append(content["offer"])

    def ready(self) -> None:
        self.receive(self, {"ready": True}, [])

    @property
    def offers(self) -> list[dict[str, Any]]:
        return [offer for offer in self.sent if offer is not None]


@pytest.fixture
def messengers(monkeypatch: pytest.MonkeyPatch) -> list[_Messenger]:
    """Return the messengers of the panels that are made in a test; no computation is too slow in it."""
    monkeypatch.setattr(_Messenger, "made", [], raising=False)
    monkeypatch.setattr(ahead, "_messenger_class", lambda: _Messenger)
    monkeypatch.setattr(ahead, "_MOST_SECONDS", 1000)
    monkeypatch.setattr(panel, "STEP_SECONDS", 1000)
    return _Messenger.made


def _at_rest(messenger: _Messenger, do: Callable[[], None]) -> list[Any]:
    """Do something in an event loop, as in a kernel; return what was sent until the panel rested."""

    async def run() -> None:
        before = len(messenger.offers)
        do()
        for _ in range(AT_REST_SECONDS * 100):
            await asyncio.sleep(0.01)
            if len(messenger.offers) > before:
                return

    messenger.sent.clear()
    asyncio.run(run())
    return messenger.sent


def _looks(shown: Panel) -> dict[tuple[str, str], Any]:
    """Return what the changing parts of a panel hold, by model and trait."""
    parts = [shown._parts["view"], *([shown._parts["pinned"]] if "pinned" in shown._parts else [])]
    for control in shown.controls.values():
        if isinstance(control, NumberControl):
            parts += [control._parts["box"], control._parts["beside"]]
    return {(part.model_id, "value"): part.value for part in parts}


def _counting(seen: list[float] | None = None, **options: Any) -> Panel:
    def compute(ms: float) -> View:
        if seen is not None:
            seen.append(ms)
        if ms == 13:
            raise CourseError("Thirteen has no result")
        if ms == 14:
            raise ZeroDivisionError
        return View(f"{ms} ms", "")

    made = Panel("Opens", {"ms": NumberControl("Time", 1, 50, 2, unit="ms")}, compute, **options)
    made.widget()
    return made


@pytest.mark.parametrize("make", [bandwidth_panel, cache_panel, metadata_panel, cost_panel])
@pytest.mark.parametrize("pinned", [False, True])
def test_an_offer_is_what_the_panel_shows_after_the_move(
    messengers: list[_Messenger], make: Callable[[], Panel], pinned: bool
) -> None:
    tried = make()
    tried.widget()
    if pinned:
        tried.pin()
    (offer,) = _at_rest(messengers[-1], messengers[-1].ready)
    before, steps = _looks(tried), 0
    sliders = {control.slider().model_id: control for control in tried.controls.values()}
    assert offer["places"] == {model: control.slider().value for model, control in sliders.items()}
    for model, moves in offer["steps"].items():
        slider = sliders[model].slider()
        assert {place for place, _ in moves} <= {slider.value - slider.step, slider.value + slider.step}
        for place, changes in moves:
            here, slider.value = sliders[model].value, place
            after = _looks(tried)
            assert {(part, trait): value for part, trait, value in changes}.items() >= {
                key: value for key, value in after.items() if value != before[key]
            }.items()
            assert after != before
            sliders[model].value, steps = here, steps + 1
            assert _looks(tried) == before
    assert steps >= len(sliders)


def test_nothing_is_computed_ahead_before_a_browser_shows_the_panel(messengers: list[_Messenger]) -> None:
    seen: list[float] = []
    shown = _counting(seen)

    async def move() -> None:
        shown.controls["ms"].value = 3
        await asyncio.sleep(10 * ahead.REST_SECONDS)

    asyncio.run(move())
    assert seen == [2, 3] and messengers[-1].sent == []


def test_a_move_takes_the_offer_back_and_brings_the_next(messengers: list[_Messenger]) -> None:
    seen: list[float] = []
    shown = _counting(seen)
    messenger = messengers[-1]
    _at_rest(messenger, messenger.ready)
    assert seen == [2, 3, 1]
    slider = shown.controls["ms"].slider()
    nothing, offer = _at_rest(messenger, lambda: setattr(shown.controls["ms"], "value", 20))
    assert nothing is None and offer["places"] == {slider.model_id: 20}
    assert [place for place, _ in offer["steps"][slider.model_id]] == [21, 19]


def test_at_the_end_of_the_slider_only_the_way_back_is_offered(messengers: list[_Messenger]) -> None:
    shown = _counting()
    _at_rest(messengers[-1], messengers[-1].ready)
    *_, offer = _at_rest(messengers[-1], lambda: setattr(shown.controls["ms"], "value", 50))
    assert [place for place, _ in offer["steps"][shown.controls["ms"].slider().model_id]] == [49]


def test_a_sentence_is_offered_and_an_unforeseen_error_is_not(messengers: list[_Messenger]) -> None:
    shown = _counting()
    _at_rest(messengers[-1], messengers[-1].ready)
    *_, offer = _at_rest(messengers[-1], lambda: setattr(shown.controls["ms"], "value", 12))
    (moves,) = offer["steps"].values()
    texts = {place: " ".join(str(value) for *_, value in changes) for place, changes in moves}
    assert "Thirteen has no result" in texts[13] and "11 ms" in texts[11]
    *_, offer = _at_rest(messengers[-1], lambda: setattr(shown.controls["ms"], "value", 15))
    (moves,) = offer["steps"].values()
    assert 14 not in [place for place, _ in moves]


def test_what_the_browser_may_show_already_is_told_again(
    messengers: list[_Messenger], monkeypatch: pytest.MonkeyPatch
) -> None:
    always = Panel("Opens", {"ms": NumberControl("Time", 1, 50, 2)}, lambda ms: View("The same", ""))
    always.widget()
    view, told = always._parts["view"], []
    monkeypatch.setattr(type(view), "send_state", lambda self, key=None: told.append((self, key)))
    always.controls["ms"].value = 3
    assert (view, "value") not in told, "without an offer, an unchanged view needs no message"
    _at_rest(messengers[-1], messengers[-1].ready)
    always.controls["ms"].value = 4
    assert (view, "value") in told


@pytest.mark.parametrize("kind", ["slow", "manual", "without a slider"])
def test_no_offer_where_it_would_cost_more_than_it_saves(
    messengers: list[_Messenger], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "slow":
        monkeypatch.setattr(panel, "STEP_SECONDS", 0)
    if kind == "without a slider":
        shown = Panel("Kinds", {"kind": ChoiceControl("Kind", ["a", "b"])}, lambda kind: View(kind, ""))
        shown.widget()
    else:
        shown = _counting(manual=kind == "manual")
    messenger = messengers[-1]

    async def look() -> None:
        messenger.ready()
        await asyncio.sleep(5 * ahead.REST_SECONDS)
        if kind != "without a slider":
            shown.controls["ms"].value = 7
        await asyncio.sleep(5 * ahead.REST_SECONDS)

    asyncio.run(look())
    assert messenger.offers == []
