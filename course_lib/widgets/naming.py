"""What makes panels speak to a screen reader and keep the focus: ipywidgets leaves both out."""

from __future__ import annotations

from typing import Any

TOGGLE = "course-toggle"
"""Class of a button that is either pressed or not."""
_PRESSED = "course-pressed"

ANNOUNCED = '<div class="course-hidden course-announced" role="status" aria-live="polite"></div>'
"""Where the script puts a new finding once a panel has come to rest, so that it is read out once."""

NAME_CONTROLS = """<script>
(() => {
  if (window.courseNamesControls) return;
  window.courseNamesControls = true;
  const REST_MS = 500, LOOK_MS = 50, LOOKS = 20;
  const label = element => element.querySelector(".widget-label")?.textContent ?? "";

  // A slider's own number may be a place on a logarithmic scale: what is read out is the box beside it.
  const boxOf = handle => handle.closest(".course-control")?.querySelector(".course-typed input");
  const say = handle => {
    const box = boxOf(handle);
    if (box && handle.getAttribute("aria-valuetext") !== box.value)
      handle.setAttribute("aria-valuetext", box.value);
  };
  // The kernel writes into the box some time after slider and figures have changed, without an event.
  const looking = new WeakMap();
  const follow = handle => {
    const begun = looking.has(handle);
    looking.set(handle, LOOKS);
    if (!begun) look(handle);
  };
  const look = handle => {
    say(handle);
    const left = looking.get(handle) - 1;
    if (left > 0) setTimeout(look, LOOK_MS, handle);
    left > 0 ? looking.set(handle, left) : looking.delete(handle);
  };
  const sliders = new MutationObserver(moves => new Set(moves.map(move => move.target)).forEach(
    handle => follow(handle)));
  const press = button => button.setAttribute("aria-pressed", button.classList.contains("PRESSED"));
  const toggles = new MutationObserver(changes => changes.forEach(({target}) => press(target)));

  const name = () => {
    document.querySelectorAll(".course-slider [role=slider]:not([aria-label])").forEach(handle => {
      handle.setAttribute("aria-label", label(handle.closest(".course-slider")));
      sliders.observe(handle, {attributes: true, attributeFilter: ["aria-valuenow"]});
      follow(handle);
    });
    document.querySelectorAll(".course-panel .widget-radio:not([role])").forEach(group => {
      group.setAttribute("role", "radiogroup");
      group.setAttribute("aria-label", label(group));
    });
    document.querySelectorAll(".TOGGLE:not([aria-pressed])").forEach(button => {
      press(button);
      toggles.observe(button, {attributes: true, attributeFilter: ["class"]});
    });
    document.querySelectorAll(".course-panel:not([role])").forEach(panel => {
      const heading = panel.querySelector(".course-heading")?.textContent;
      if (!heading) return;
      panel.setAttribute("role", "group");
      panel.setAttribute("aria-label", heading);
    });
  };

  // Only a panel in use speaks, when it has come to rest, and only with what it didn't say before.
  const used = new WeakSet(), said = new WeakMap(), resting = new WeakMap();
  const use = ({target}) => {
    const panel = target.closest?.(".course-panel");
    if (!panel || used.has(panel)) return;
    used.add(panel);
    said.set(panel, findings(panel));
  };
  const findings = panel => [...panel.querySelectorAll(".course-finding")].map(place => place.textContent);
  const announce = panel => {
    const place = panel.querySelector(".course-announced"), now = findings(panel);
    const fresh = now.filter(finding => !said.get(panel).includes(finding));
    said.set(panel, now);
    if (place && (fresh.length || !now.length)) place.textContent = fresh.join(" ");
  };
  const changed = target => {
    const panel = target.closest?.(".course-panel");
    if (!panel || !used.has(panel) || target.closest(".course-announced")) return;
    panel.querySelectorAll(".course-slider [role=slider]").forEach(follow);
    clearTimeout(resting.get(panel));
    resting.set(panel, setTimeout(announce, REST_MS, panel));
  };
  ["keydown", "pointerdown", "input"].forEach(kind => document.addEventListener(kind, use, true));

  // A button that its own work hides or disables would leave the focus to the page.
  let held = null;
  const lost = () => [document.body, held].includes(document.activeElement);
  const guard = new MutationObserver(() => {
    if (!held || !lost()) return;
    const shown = button => !button.disabled && button.offsetParent;
    const row = [...held.closest(".course-buttons").querySelectorAll("button")];
    if (held.offsetParent === null) row.find(shown)?.focus();
    else if (!held.disabled) held.focus();
  });
  document.addEventListener("focusin", ({target}) => {
    guard.disconnect();
    held = target.closest(".course-panel .course-buttons button");
    if (held) guard.observe(held, {attributes: true, attributeFilter: ["disabled", "style", "class"]});
  });
  document.addEventListener("pointerdown", () => { held = null; }, true);

  new MutationObserver(changes => {
    name();
    changes.forEach(({target}) => changed(target));
  }).observe(document.body, {childList: true, subtree: true});
  name();
})();
</script>""".replace("TOGGLE", TOGGLE).replace("PRESSED", _PRESSED)


def naming_script() -> Any:
    """Return an unseen widget that names what ipywidgets leaves unnamed and announces new findings."""
    import ipywidgets as widgets

    shown = {"output_type": "display_data", "data": {"text/html": NAME_CONTROLS}, "metadata": {}}
    return widgets.Output(outputs=(shown,), layout=widgets.Layout(display="none"))


def toggle(button: Any) -> Any:
    """Return a button made one that is pressed or not, and says which; `press` sets it."""
    button.add_class(TOGGLE)
    return button


def press(button: Any, pressed: bool) -> None:
    """Make a toggle say whether it is pressed; no message where it already does."""
    if pressed != (_PRESSED in button._dom_classes):
        (button.add_class if pressed else button.remove_class)(_PRESSED)
