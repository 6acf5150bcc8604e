"""What panels on the stage are made from: the data and results that a lesson has by the time of the panel."""

from __future__ import annotations

from typing import Any

# As in lesson 02, and as in lesson 03, whose cases the class knows.
_VOCABULARY = 8_000
_CASES, _CASES_SEED = 8, 2026
_SHARDS = 6


def bank_manifest() -> dict[str, Any]:
    """Return the argument of the panel on the moment of decision."""
    return {"manifest": bank_table()["table"].manifest}


def bank_table() -> dict[str, Any]:
    """Return the Bank Marketing table."""
    from course_lib.datasets import load_bank_marketing

    return {"table": load_bank_marketing("additional-full")}


def bank_samples_and_origin() -> dict[str, Any]:
    """Return the Bank Marketing table as samples."""
    from course_lib.datasets.samples import bank_samples

    table = bank_table()["table"]
    return {"samples": bank_samples(table), "origin": table.origin}


def client_calls() -> dict[str, Any]:
    """Return the generated calls, several to a client."""
    from course_lib.datasets.generated_clients import FEATURES, client_samples, load_client_calls

    calls, origin = load_client_calls()
    return {
        "frame": calls,
        "samples": client_samples(calls, origin),
        "fields": FEATURES,
        "origin": origin,
    }


def custody_bench() -> dict[str, Any]:
    """Return the cases of the custody exercise."""
    from course_lib.leakage.custody import Bench

    return {"bench": Bench(count=_CASES, seed=_CASES_SEED)}


def image_task() -> dict[str, Any]:
    """Return the counted sizes of the image task."""
    from course_lib.datasets import image_sizes, load_cifar10

    return {"task": image_sizes(load_cifar10("train"), load_cifar10("test"))}


def text_lengths() -> dict[str, Any]:
    """Return the counted tokens of the text task, by a tokeniser trained on its texts."""
    from course_lib.datasets import count_tokens, load_ag_news, train_tokeniser

    texts = load_ag_news("train"), load_ag_news("test")
    tokeniser = train_tokeniser(texts[0].dataset["text"], vocabulary=_VOCABULARY)
    return {"lengths": count_tokens(tokeniser, *texts)}


def two_shard_sets() -> dict[str, Any]:
    """Return the images packed in a seeded order and class by class.

    How a set mixes follows from its index, so that the files can go at once. Where a system keeps a file
    that is mapped, it lies in the working folder, which on the stage is the page's own and goes with it.
    """
    from math import ceil
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from course_lib.datasets.samples import load_samples
    from course_lib.shards import ShardSet, pack, source_for
    from course_lib.shards.staged import class_sorted_set
    from course_lib.splits import locked_split, parse_recipe

    samples, origin = load_samples("cifar10")
    split = locked_split(samples, parse_recipe("official-90-10"), origin=origin.label())
    train = source_for("cifar10", split, part="train")
    each = ceil(len(train) / _SHARDS)
    with TemporaryDirectory(prefix="shards-", dir=Path.cwd(), ignore_cleanup_errors=True) as folder:
        seeded, sorted_by_class = Path(folder, "seeded"), Path(folder, "sorted")
        pack(train, seeded, target_samples=each)
        class_sorted_set(train, sorted_by_class, per_shard=each)
        sets = {
            "in a seeded order": ShardSet.open(seeded),
            "class by class": ShardSet.open(sorted_by_class),
        }
    return {"sets": sets, "origin": origin}


def measuring_place() -> dict[str, Any]:
    """Return the folder that the metadata panel may measure in."""
    from course_lib.paths import course_home

    place = course_home()
    place.mkdir(parents=True, exist_ok=True)
    return {"place": place}
