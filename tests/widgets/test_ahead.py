"""What a panel sends the browser ahead of the next move: the same that it shows after it, or nothing."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.widgets import ChoiceControl, NumberControl, Panel, View, ahead, panel
from course_lib.widgets.panels.planning_bandwidth import bandwidth_panel, cache_panel
from course_lib.widgets.panels.planning_cost import cost_panel
from course_lib.widgets.panels.planning_requests import metadata_panel

RESTS = 6


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


def _at_rest(messenger: _Messenger, do: Callable[[], None] = lambda: None) -> list[Any]:
    """Use a panel that a browser shows, in an event loop; return what was sent until it rested."""

    async def run() -> None:
        messenger.ready()
        messenger.sent.clear()
        do()
        await asyncio.sleep(RESTS * ahead.REST_SECONDS)

    asyncio.run(run())
    return messenger.sent


def _looks(shown: Panel) -> dict[tuple[str, str], Any]:
    """Return what the changing parts of a panel hold, by model and trait."""
    parts = [shown._parts["view"], *([shown._parts["pinned"]] if "pinned" in shown._parts else [])]
    for control in shown.controls.values():
        if isinstance(control, NumberControl):
            parts += [control._parts["box"], control._parts["beside"]]
    return {(part.model_id, "value"): part.value for part in parts}


def _tenths() -> Panel:
    control = NumberControl("Time", 0, 20, 0.7, step=0.1, unit="ms")
    return Panel("Tenths", {"ms": control}, lambda ms: View(f"{ms:.1f} ms", ""), pin=True)


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


@pytest.mark.parametrize("make", [bandwidth_panel, cache_panel, metadata_panel, cost_panel, _tenths])
@pytest.mark.parametrize("pinned", [False, True])
def test_an_offer_is_what_the_panel_shows_after_the_move(
    messengers: list[_Messenger], make: Callable[[], Panel], pinned: bool
) -> None:
    tried = make()
    tried.widget()
    if pinned:
        tried.pin()
    (offer,) = _at_rest(messengers[-1], tried.run)
    before, steps = _looks(tried), 0
    sliders = {control.inputs()[0][0].model_id: control for control in tried.controls.values()}
    inputs = [part for control in tried.controls.values() for part in control.inputs()]
    assert offer["state"] == [(part.model_id, trait, getattr(part, trait)) for part, trait in inputs]
    for model, moves in offer["steps"].items():
        slider = sliders[model].inputs()[0][0]
        assert len(moves) == 1 + (slider.min < slider.value < slider.max)
        for place, changes in moves:
            assert abs(place - slider.value) == pytest.approx(slider.step)
            here, slider.value = sliders[model].value, place
            after, offered = _looks(tried), {(part, trait): value for part, trait, value in changes}
            assert after != before
            assert offered.items() <= after.items(), "something else was offered than is shown"
            assert after.items() - offered.items() <= before.items(), "something was left out"
            sliders[model].value, steps = here, steps + 1
            assert _looks(tried) == before
    assert steps >= len(sliders)


def test_nothing_is_computed_ahead_before_a_browser_shows_the_panel_and_it_is_used(
    messengers: list[_Messenger],
) -> None:
    seen: list[float] = []
    shown = _counting(seen)

    async def move() -> None:
        shown.controls["ms"].value = 3
        await asyncio.sleep(RESTS * ahead.REST_SECONDS)
        messengers[-1].ready()
        await asyncio.sleep(RESTS * ahead.REST_SECONDS)

    asyncio.run(move())
    assert seen == [2, 3] and messengers[-1].sent == []


def test_a_move_takes_the_offer_back_and_brings_the_next(messengers: list[_Messenger]) -> None:
    seen: list[float] = []
    shown = _counting(seen)
    messenger = messengers[-1]
    _at_rest(messenger, lambda: setattr(shown.controls["ms"], "value", 10))
    assert seen == [2, 10, 11, 9]
    slider, box = (part for part, _ in shown.controls["ms"].inputs())
    nothing, offer = _at_rest(messenger, lambda: setattr(shown.controls["ms"], "value", 20))
    assert nothing is None
    assert offer["state"] == [(slider.model_id, "value", 20), (box.model_id, "value", "20")]
    assert [place for place, _ in offer["steps"][slider.model_id]] == [21, 19]


def test_an_offer_belongs_to_one_choice_of_the_other_controls(messengers: list[_Messenger]) -> None:
    kinds = ChoiceControl("Kind", ["a", "b"])
    shown = Panel(
        "Both",
        {"ms": NumberControl("Time", 1, 50, 2), "kind": kinds},
        lambda ms, kind: View(f"{ms} {kind}", ""),
    )
    shown.widget()
    *_, offer = _at_rest(messengers[-1], lambda: setattr(shown.controls["kind"], "value", "b"))
    ((buttons, _),) = kinds.inputs()
    assert (buttons.model_id, "index", 1) in offer["state"]
    assert offer["steps"][buttons.model_id] == []
    assert all("b" in changes[-1][2] for _, changes in offer["steps"][offer["state"][0][0]])


def test_what_another_thread_takes_back_is_not_offered_after_it(messengers: list[_Messenger]) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def compute(ms: float) -> View:
        if ms == 3:
            entered.set()
            go_on.wait(60)
        return View(f"{ms} ms", "")

    shown = Panel("Opens", {"ms": NumberControl("Time", 1, 50, 2)}, compute)
    shown.widget()
    assert shown._ahead is not None
    offering = threading.Thread(target=shown._ahead.offer)
    offering.start()
    assert entered.wait(60)
    moving = threading.Thread(target=lambda: setattr(shown.controls["ms"], "value", 20))
    moving.start()
    moving.join(0.2)
    go_on.set()
    offering.join(60)
    moving.join(60)
    assert messengers[-1].sent[-1] is None and len(messengers[-1].offers) == 1
    assert "20 ms" in shown._parts["view"].value


@pytest.mark.parametrize(("ms", "places"), [(50, [49]), (49, [50, 48]), (1, [2]), (2.5, [3.0, 2.0])])
def test_the_ends_of_the_slider_are_offered_and_nothing_beyond(
    messengers: list[_Messenger], ms: float, places: list[float]
) -> None:
    step = 0.5 if ms == 2.5 else 1
    shown = Panel("Opens", {"ms": NumberControl("Time", 1, 50, 20, step=step)}, lambda ms: View(f"{ms}", ""))
    shown.widget()
    *_, offer = _at_rest(messengers[-1], lambda: setattr(shown.controls["ms"], "value", ms))
    (moves,) = offer["steps"].values()
    assert [place for place, _ in moves] == places


def test_an_offer_is_taken_back_before_code_moves_a_slider(messengers: list[_Messenger]) -> None:
    shown = Panel(
        "Two",
        {"ms": NumberControl("Time", 1, 50, 2), "files": NumberControl("Files", 1, 50, 2)},
        lambda ms, files: View(f"{ms} {files}", ""),
        presets={"both": {"ms": 3, "files": 3}},
    )
    shown.widget()
    (offer,) = _at_rest(messengers[-1], shown.run)
    (slider, _), _ = shown.controls["ms"].inputs()
    sent: list[list[Any]] = []
    slider.observe(lambda _: sent.append(list(messengers[-1].sent)), "value")

    async def choose() -> None:
        shown.choose("both")

    asyncio.run(choose())
    assert sent == [[offer, None]]


def test_a_sentence_is_offered_and_an_unforeseen_error_is_not(messengers: list[_Messenger]) -> None:
    shown = _counting()
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
    _at_rest(messengers[-1], always.run)
    always.controls["ms"].value = 4
    assert (view, "value") in told


@pytest.mark.parametrize("kind", ["manual", "without a slider"])
def test_no_offer_where_none_can_be_shown(messengers: list[_Messenger], kind: str) -> None:
    if kind == "manual":
        shown = _counting(manual=True)
    else:
        shown = Panel("Kinds", {"kind": ChoiceControl("Kind", ["a", "b"])}, lambda kind: View(kind, ""))
        shown.widget()
    assert _at_rest(messengers[-1], shown.run) == []


def test_a_slow_computation_is_not_done_ahead_though_some_of_its_results_are_kept(
    messengers: list[_Messenger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "STEP_SECONDS", 0.01)
    computed: list[float] = []

    @functools.cache
    def fitted(ms: float) -> View:
        computed.append(ms)
        time.sleep(0.2)
        return View(f"{ms} ms", "")

    shown = Panel("Fits", {"ms": NumberControl("Time", 1, 50, 2)}, fitted)
    shown.widget()
    for ms in (3, 2, 3, 2, 3):
        _at_rest(messengers[-1], functools.partial(setattr, shown.controls["ms"], "value", ms))
    assert computed == [2, 3]


def test_an_error_in_showing_a_step_is_left_to_the_move(messengers: list[_Messenger]) -> None:
    def odd(ms: float) -> Any:
        return View(f"{ms} ms", "") if ms < 10 else "no view"

    shown = Panel("Odd", {"ms": NumberControl("Time", 1, 50, 2)}, odd)
    shown.widget()
    *_, offer = _at_rest(messengers[-1], lambda: setattr(shown.controls["ms"], "value", 9))
    (moves,) = offer["steps"].values()
    assert [place for place, _ in moves] == [8]
