"""Sends the browser, ahead of time, what a panel shows one step further: it then shows it at the key press.

The kernel computes each move all the same, and what it finds replaces what was shown ahead. A browser that
cannot load the script only waits for the kernel.
"""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from course_lib.widgets.control import Control, Setting

REST_SECONDS = 0.04
"""How long a panel has to be at rest before the next steps are computed: moves come first."""
STEP_SECONDS = 0.01
"""What a computation may usually take; steps of slower ones are not offered: a move would wait for them."""
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
    const same = (one, other) =>
      typeof one === "number" ? Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(one)) : one === other;

    // One move from exactly the state that the offer is for; the kernel's answer brings the next offer.
    const watched = new Set();
    const watch = async ([id, trait]) => {
      const moved = await known(id);
      if (watched.has(id)) return;
      watched.add(id);
      moved.on(`change:${trait}`, () => {
        const made = offer;
        offer = null;
        // While earlier moves of a slider are unanswered, what the kernel says of them is still to come.
        if (made && !(moved._pending_msgs > 0)) show(made, id, trait, moved);
      });
    };
    const show = ({state, steps}, id, trait, moved) => {
      const still = state.every(([other, name, value]) =>
        same(value, other === id ? moved.previous(name) : models.get(other).get(name)));
      const step = still && steps[id]?.find(([place]) => same(place, moved.get(trait)));
      // Not saved: the kernel finds out by itself, and its word stands.
      if (step) step[1].forEach(([target, name, value]) => models.get(target).set(name, value));
    };

    let newest = 0;
    model.on("msg:custom", async ({offer: sent}) => {
      const number = ++newest;
      offer = null;
      if (!sent) return;
      try {
        await Promise.all([...sent.state.map(watch), ...sent.models.map(known)]);
      } catch {
        return; // A part of the panel is not on this page.
      }
      if (number === newest) offer = sent;
    });
    model.send({ready: true});
  },
};
"""


class Ahead:
    """What a panel shows one step of a slider further, sent to the browser while nothing else is to do.

    Nothing is offered before the panel was used: a lesson's cells are not to share the machine with it.
    Messages of the front end may come in another thread than cells run in.

    Parameters
    ----------
    controls : mapping of str to Control
    values : callable
        Returns the controls' values by name.
    shown : callable
        Takes values by name and returns what widgets of the panel then show; None where only a move can
        tell.

    Attributes
    ----------
    lock : threading.RLock
        Held while widgets are set and while an offer is made.
    """

    def __init__(
        self,
        controls: Mapping[str, Control],
        values: Callable[[], dict[str, Any]],
        shown: Callable[[dict[str, Any]], list[Setting] | None],
    ) -> None:
        self.lock = threading.RLock()
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
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        with self.lock:
            if self._waiting is not None:
                self._waiting.cancel()
            self._waiting = loop.call_later(REST_SECONDS, self.offer)

    def offer(self) -> None:
        """Compute and send the next steps now."""
        with self.lock:
            self._waiting = None
            until = time.perf_counter() + _MOST_SECONDS
            values = self._values()
            state = [
                (widget.model_id, trait, getattr(widget, trait))
                for control in self._controls.values()
                for widget, trait in control.inputs()
            ]
            steps = {
                control.inputs()[0][0].model_id: list(self._steps(control, name, values, until))
                for name, control in self._controls.items()
            }
            if not any(steps.values()):
                return
            models = {part for moves in steps.values() for _, changes in moves for part, *_ in changes}
            self._offered = True
            self._messenger.send({"offer": {"state": state, "steps": steps, "models": sorted(models)}})

    def withdraw(self) -> None:
        """Take back what was offered: it holds no longer."""
        with self.lock:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None
            if self._offered:
                self._offered = False
                self._perhaps_shown = True
                self._messenger.send({"offer": None})

    def put(self, changes: list[Setting]) -> None:
        """Set widgets, only where their traits change: no message, no flicker, and nothing read out twice.

        After an offer the browser may show there what was offered: it is told what the kernel has.
        """
        with self.lock:
            self.withdraw()
            perhaps_shown, self._perhaps_shown = self._perhaps_shown, False
            for widget, trait, value in changes:
                if getattr(widget, trait) != value:
                    setattr(widget, trait, value)
                elif perhaps_shown:
                    widget.send_state(trait)

    def _steps(
        self, control: Control, name: str, values: dict[str, Any], until: float
    ) -> Iterator[tuple[Any, list[Any]]]:
        for step in control.next_steps():
            if time.perf_counter() > until:
                return
            try:
                shown = self._shown({**values, name: step.value})
            except Exception:
                # Nobody asked for this step: what is wrong with it is said when it is made.
                continue
            if shown is not None:
                changes = [(widget.model_id, trait, value) for widget, trait, value in (*step.shown, *shown)]
                yield step.place, changes

    def _heard(self, _messenger: Any, content: Any, _buffers: Any) -> None:
        """Note that a browser shows the panel."""
        if isinstance(content, Mapping) and content.get("ready"):
            self._watched = True


@functools.cache
def _messenger_class() -> Any:
    """Return the widget's class; made when the first is needed, as ipywidgets may be missing."""
    import anywidget

    class Messenger(anywidget.AnyWidget):
        """Has no view: only its script matters."""

        _esm = _SHOW_AHEAD

    return Messenger
