"""Taking the digests of two layouts and training the same small model from both, in a watched process."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from course_lib.datasets.subsets import checked_seed
from course_lib.errors import CourseError
from course_lib.experiments.layout_equality import LayoutEquality
from course_lib.experiments.layout_timing import LAYOUTS
from course_lib.loading.conditions import LoaderConditions, checked_whole
from course_lib.watched import Emit, JsonValue, run_watched

if TYPE_CHECKING:
    from torch import nn

    from course_lib.loading.samples import LoadedSamples

EQUALITY_TASK = "course_lib.experiments.layout_training:equality_task"
SEEDS = (11, 12, 13)
"""Of the models, named before any of them was trained."""

_SECONDS_OF_SILENCE = 120.0


def prove_equality(
    conditions: LoaderConditions | None = None,
    *,
    seeds: Sequence[int] = SEEDS,
    epochs: int = 3,
    test_samples: int | None = 400,
    progress: bool = True,
) -> LayoutEquality:
    """Compare what files and shards hold, and train the same model from both with the same budget.

    Ids, payloads and labels are read from each layout for itself. A seed draws a model's weights; seeds see
    the samples in different orders, the two layouts of one seed in the same one.

    Parameters
    ----------
    conditions : LoaderConditions, optional
        The training samples and how they are loaded; transforms must give images. What is set for the store
        is left out.
    seeds : sequence of int, optional
        At least 2 are needed for a spread.
    epochs : int, optional
        Of each training.
    test_samples : int or None, optional
        Of the test part; None takes all.
    progress : bool, optional
        Show a bar.

    Raises
    ------
    CourseError
        For conditions that no training can have, and when the process ends before its time.
    """
    conditions = conditions or LoaderConditions()
    if conditions.path or conditions.transforms == "bytes":
        raise CourseError(
            "A model needs images with labels",
            expected="a data set by name, and transforms 'decode' or 'augment'",
            found="a folder of one's own" if conditions.path else "transforms 'bytes'",
        )
    if not len(seeds) or len(set(seeds)) != len(seeds):
        raise CourseError("The seeds are not usable", expected="different ones", found=repr(list(seeds)))
    for seed in seeds:
        checked_seed(seed)
    checked_whole("epochs", epochs, 1, 1_000)
    chosen = {"seeds": list(seeds), "epochs": epochs, "test_samples": test_samples}
    request = {"conditions": conditions.as_dict(), **chosen}
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    result = _watched(request, _SECONDS_OF_SILENCE + conditions.batch_seconds_at_most, progress)
    told = {name: value for name, value in conditions.as_dict().items() if name != "layout"}
    return LayoutEquality.from_dict({**result, "conditions": {**told, **chosen}, "started": started})


def equality_task(request: Mapping[str, JsonValue], emit: Emit) -> JsonValue:
    """Take all digests, then train all models; a task for :func:`course_lib.watched.run_watched`.

    Parameters
    ----------
    request : mapping
        "conditions", "seeds", "epochs" and "test_samples".
    emit : callable
        Gets events whose "kind" is "preparing", "at work" or "epoch" (with "layout", "seed", "macro_f1").
    """
    import torch

    from course_lib.loading.one_run import signs_of_life
    from course_lib.loading.opening import open_samples

    # One thread adds up in one order, so that equal input gives equal weights.
    torch.set_num_threads(1)
    base = LoaderConditions.from_dict(request["conditions"]).with_changes(
        open_ms=0.0, bandwidth_bytes_per_second=None, cache="as found"
    )
    test = base.with_changes(
        part="test", sample_count=request["test_samples"], workers=0, transforms="decode", shuffle=False
    )
    opened: dict[tuple[str, str], LoadedSamples] = {}
    chosen: dict[tuple[str, str], LoaderConditions] = {}
    with signs_of_life(emit):
        for part, conditions in (("train", base), ("test", test)):
            for layout in LAYOUTS:
                chosen[part, layout] = conditions.with_changes(layout=layout)
                opened[part, layout] = open_samples(chosen[part, layout])
        facts = [_facts(layout, part, samples) for (part, layout), samples in opened.items()]
    models = []
    for place, seed in enumerate(request["seeds"]):
        for layout in LAYOUTS[place % 2 :] + LAYOUTS[: place % 2]:
            training, testing = ((opened[part, layout], chosen[part, layout]) for part in ("train", "test"))
            models.append(
                {
                    "layout": layout,
                    "seed": seed,
                    **_trained(
                        training,
                        testing,
                        seed,
                        epochs=range(place * request["epochs"], (place + 1) * request["epochs"]),
                        tell=_telling(emit, layout, seed),
                    ),
                }
            )
    origin = opened["train", "files"].origin
    return {"facts": facts, "models": models, "origin": origin.as_dict() if origin else None}


def _telling(emit: Emit, layout: str, seed: int) -> Callable[[dict[str, Any]], None]:
    return lambda told: emit({**told, "layout": layout, "seed": seed})


def _facts(layout: str, part: str, samples: LoadedSamples) -> dict[str, Any]:
    """Return the digests of one layout, everything in the order of the ids."""
    from course_lib.loading.packing import label_map_of
    from course_lib.loading.results import digest_of_ids

    ids = samples.sample_ids(range(len(samples)))
    order = sorted(range(len(ids)), key=ids.__getitem__)
    label_map = label_map_of(samples)
    labels = samples.labels.tolist()
    payloads = (f"{ids[at]} {hashlib.sha256(samples.payload(at)).hexdigest()}" for at in order)
    return {
        "layout": layout,
        "part": part,
        "samples": len(samples),
        "ids": digest_of_ids(ids[at] for at in order),
        "payloads": digest_of_ids(payloads),
        "labels": digest_of_ids(f"{ids[at]} {labels[at]}" for at in order),
        "class_counts": {name: labels.count(code) for code, name in enumerate(label_map)},
        "label_map": list(label_map),
    }


def _trained(
    training: tuple[LoadedSamples, LoaderConditions],
    testing: tuple[LoadedSamples, LoaderConditions],
    seed: int,
    *,
    epochs: Iterable[int],
    tell: Callable[[dict[str, Any]], None],
) -> dict[str, Any]:
    from course_lib.loading.loaders import build_loader
    from course_lib.loading.model import build_model, training_step
    from course_lib.loading.results import digest_of_ids

    samples, conditions = training
    loader = build_loader(samples, conditions)
    test_loader = build_loader(*testing)
    model = build_model(seed)
    train_on = training_step(model)
    curve: list[tuple[float, float, list[float]]] = []
    positions: list[int] = []
    for epoch in epochs:
        loader.sampler.set_epoch(epoch)
        last = time.monotonic()
        for batch in loader:
            train_on(batch)
            positions += batch["position"].tolist()
            if time.monotonic() - last >= 1.0:
                last = time.monotonic()
                tell({"kind": "at work"})
        curve.append(_tested(model, test_loader))
        tell({"kind": "epoch", "macro_f1": curve[-1][1]})
    return {
        "loss": [loss for loss, _, _ in curve],
        "macro_f1": [score for _, score, _ in curve],
        "recall": curve[-1][2],
        "delivered": digest_of_ids(samples.sample_ids(positions)),
        "weights": _digest_of_weights(model),
    }


def _tested(model: nn.Module, loader: Iterable[Any]) -> tuple[float, float, list[float]]:
    """Return loss, macro-F1 and the recall of each class."""
    import torch
    from sklearn.metrics import f1_score, recall_score

    from course_lib.loading.model import CLASS_COUNT, as_model_input

    scores, labels = [], []
    with torch.no_grad():
        for batch in loader:
            scores.append(model(as_model_input(batch["image"])))
            labels.append(batch["label"])
    scored, known = torch.cat(scores), torch.cat(labels)
    loss = float(torch.nn.functional.cross_entropy(scored, known))
    truth, found = known.numpy(), scored.argmax(dim=1).numpy()
    classes = list(range(CLASS_COUNT))
    macro = f1_score(truth, found, labels=classes, average="macro", zero_division=0)
    recall = recall_score(truth, found, labels=classes, average=None, zero_division=0)
    return loss, float(macro), [float(each) for each in recall]


def _digest_of_weights(model: nn.Module) -> str:
    digest = hashlib.sha256()
    for name, weights in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(weights.contiguous().numpy().tobytes())
    return digest.hexdigest()


def _watched(request: dict[str, Any], silence: float, progress: bool) -> JsonValue:
    from tqdm import tqdm

    total = len(request["seeds"]) * len(LAYOUTS) * request["epochs"]
    # On the standard output: JupyterLab shows the other one as if it were an error.
    with tqdm(total=total, unit="epoch", disable=not progress, leave=False, file=sys.stdout) as bar:

        def show(event: dict[str, Any]) -> None:
            if event.get("kind") == "epoch":
                bar.update()
            if "seed" in event:
                bar.set_description_str(f"training from {event['layout']}, seed {event['seed']}")
            else:
                bar.set_description_str("comparing what the layouts hold")

        return run_watched(EQUALITY_TASK, request, on_event=show, silence_seconds=silence)
