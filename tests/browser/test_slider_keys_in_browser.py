"""A key held down on a slider, in a real browser: nothing piles up, and what stays is the newest value's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

KEY_EVENTS = 60
REST_MS = 1000

PANEL = """\
import time
from course_lib.widgets import NumberControl, Panel, View

SET_DELAY_SECONDS = {delay}
computed = []

def compute(number):
    computed.append(number)
    time.sleep(SET_DELAY_SECONDS)
    rows = (("Number", number), ("Computed", len(computed)))
    return View(f"{{number}} it is", "Each computation takes the set delay.", ("What", "Value"), rows)

Panel("Held key", {{"number": NumberControl("Number", 0, 500, 0)}}, compute)"""

# What stands on the page is noted whenever it changes: how many keys had been pressed by then, whether the
# last was let go, and the numbers.
RECORD = """
panel => {
  const seen = window.seen = {keys: 0, released: false, shown: []};
  document.addEventListener("keydown", () => { seen.keys += 1; }, true);
  document.addEventListener("keyup", () => { seen.released = true; }, true);
  const note = () => {
    const cells = [...panel.querySelectorAll(".course-view td")].map(cell => cell.textContent);
    const last = seen.shown.at(-1);
    if (cells.length && cells[0] !== last?.number)
      seen.shown.push({number: cells[0], computed: cells[1], keys: seen.keys, released: seen.released});
  };
  new MutationObserver(note).observe(panel, {childList: true, characterData: true, subtree: true});
}"""


@pytest.mark.parametrize(("set_delay_seconds", "repeat_ms"), [(0, 33), (0, 90), (0.25, 33)])
def test_a_held_key_leaves_no_backlog_and_shows_nothing_older(
    open_notebook: Callable[..., Any], set_delay_seconds: float, repeat_ms: int
) -> None:
    opened = open_notebook("held_key.ipynb", [PANEL.format(delay=set_delay_seconds)])
    opened.run_all()
    page, panel = opened.page, opened.panels().first
    slider, cells = panel.get_by_role("slider"), panel.locator(".course-view td")
    assert cells.all_inner_texts() == ["0", "1"]
    panel.evaluate(RECORD)
    slider.focus()
    for _ in range(KEY_EVENTS):
        # From the second on these are repeats of the key that is down.
        page.keyboard.down("ArrowRight")
        page.wait_for_timeout(repeat_ms)
    page.keyboard.up("ArrowRight")
    panel.get_by_text(f"{KEY_EVENTS} it is").first.wait_for()
    page.wait_for_timeout(REST_MS)

    seen = page.evaluate("window.seen")
    numbers = [int(shown["number"]) for shown in seen["shown"]]
    computed = int(cells.nth(1).inner_text())
    print(f"set delay {set_delay_seconds} s: {seen['keys']} keys, {computed} computed, shown {numbers}")
    assert (seen["keys"], slider.get_attribute("aria-valuenow")) == (KEY_EVENTS, str(float(KEY_EVENTS)))
    assert (numbers[-1], cells.nth(0).inner_text()) == (KEY_EVENTS, str(KEY_EVENTS))
    assert numbers == sorted(set(numbers)), "an older value came after a newer one"
    assert all(shown["keys"] >= int(shown["number"]) for shown in seen["shown"])
    assert len(numbers) > 2, "nothing was shown while the key was down"
    # Each value, and ahead of time those beside it.
    assert computed <= 3 * (1 + KEY_EVENTS)
    # At the release one result may be on its way and one be computed; then comes the newest value's.
    assert len([shown for shown in seen["shown"] if shown["released"]]) <= 3
    if set_delay_seconds:
        assert computed <= KEY_EVENTS / 2, "values that had been overtaken were computed"
    assert opened.errors() == []
