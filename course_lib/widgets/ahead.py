"""Sends the browser, ahead of time, what a panel shows one step further: it then shows it at the key press.

The kernel computes each move all the same, and what it finds replaces what was shown ahead. A browser that
cannot load the script only waits for the kernel.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from course_lib.widgets.control import Control, Setting

REST_SECONDS = 0.04
"""How long a panel has to be at rest before the next steps are computed: longer than a held key takes to
repeat, as its moves come first."""
STEP_SECONDS = 0.01
"""How long one computation may take; steps of slower ones are not offered, as the next move would wait."""
_MOST_SECONDS = 5 * STEP_SECONDS

_SHOW_AHEAD = """
export default {
  initialize({model}) {
    const models = new Map();
    let offer = null;

    const known = async id => {
      if (!models.has(id)) models.set(id, await model.widget_manager.get_model(id));
      return models.get(id);
    };
    const follow = async id => {
      if (models.has(id)) return;
      const slider = await known(id);
      slider.on("change:value", () => show(id, slider));
    };
    // One move from exactly the places that the offer is for; the kernel's answer brings the next offer.
    const show = (moved, slider) => {
      if (!offer) return;
      const {places, steps} = offer;
      offer = null;
      const still = Object.entries(places).every(([id, place]) =>
        place === (id === moved ? slider.previous("value") : models.get(id).get("value")));
      if (!still) return;
      const step = steps[moved].find(([place]) => place === slider.get("value"));
      // Not saved: the kernel finds out by itself, and its word stands.
      step?.[1].forEach(([id, trait, value]) => models.get(id).set(trait, value));
    };

    let newest = 0;
    model.on("msg:custom", async ({offer: sent}) => {
      const number = ++newest;
      offer = null;
      if (!sent) return;
      await Promise.all(Object.keys(sent.places).map(follow));
      await Promise.all(sent.models.map(known));
      if (number === newest) offer = sent;
    });
    model.send({ready: true});
  },
};
"""


class Ahead:
    """What a panel shows one step of a slider further, sent to the browser while nothing else is to do.

    Parameters
    ----------
    controls : sequence of Control
    values : callable
        Returns the controls' values by name.
    shown : callable
        Takes values by name and returns what widgets of the panel then show; None where only a move can
        tell.
    """

    def __init__(
        self,
        controls: Mapping[str, Control],
        values: Callable[[], dict[str, Any]],
        shown: Callable[[dict[str, Any]], list[Setting] | None],
    ) -> None:
        self._controls = controls
        self._values = values
        self._shown = shown
        self._watched = False
        self._offered = self._perhaps_shown = False
        self._waiting: asyncio.TimerHandle | None = None
        self._messenger = _messenger_class()()
        self._messenger.on_msg(self._heard)

    def soon(self) -> None:
        """Offer the next steps once the panel is at rest; nothing where no browser or no loop is there."""
        if not self._watched:
            return
        if self._waiting is not None:
            self._waiting.cancel()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._waiting = loop.call_later(REST_SECONDS, self.offer)

    def offer(self) -> None:
        """Compute and send the next steps now."""
        self._waiting = None
        until = time.perf_counter() + _MOST_SECONDS
        places, steps = {}, {}
        for name, control in self._controls.items():
            slider = control.slider()
            if slider is not None:
                places[slider.model_id] = slider.value
                steps[slider.model_id] = list(self._steps(name, control, until))
        if not any(steps.values()):
            return
        models = {change[0] for moves in steps.values() for _, changes in moves for change in changes}
        self._messenger.send({"offer": {"places": places, "steps": steps, "models": sorted(models)}})
        self._offered = True

    def withdraw(self) -> None:
        """Take back what was offered: it holds no longer."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        if self._offered:
            self._offered = False
            self._perhaps_shown = True
            self._messenger.send({"offer": None})

    def put(self, changes: list[Setting]) -> None:
        """Set widgets, only where their traits change: no message, no flicker, and nothing read out twice.

        After an offer the browser may show what was offered, whatever the kernel believes: it is told.
        """
        self.withdraw()
        perhaps_shown, self._perhaps_shown = self._perhaps_shown, False
        for widget, trait, value in changes:
            if getattr(widget, trait) != value:
                setattr(widget, trait, value)
            elif perhaps_shown:
                widget.send_state(trait)

    def _steps(self, name: str, control: Control, until: float) -> Iterator[tuple[Any, list[Any]]]:
        for step in control.next_steps():
            if time.perf_counter() > until:
                return
            shown = self._shown({**self._values(), name: step.value})
            if shown is None:
                return
            changes = [(widget.model_id, trait, value) for widget, trait, value in (*step.shown, *shown)]
            yield step.place, changes

    def _heard(self, _messenger: Any, content: Any, _buffers: Any) -> None:
        """Note that a browser shows the panel."""
        if isinstance(content, Mapping) and content.get("ready"):
            self._watched = True
            self.soon()


@functools.cache
def _messenger_class() -> Any:
    """Return the widget's class; made when the first is needed, as ipywidgets may be missing."""
    import anywidget

    class Messenger(anywidget.AnyWidget):
        """Has no view: only its script matters."""

        _esm = _SHOW_AHEAD

    return Messenger
