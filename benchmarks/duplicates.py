"""Finding copies across splits: of images, against reading them alone; of texts, with what is overlooked.

Candidates take turns in one process. The images are those of CIFAR-10 where COURSE_DATA has them, else drawn
ones; the texts are drawn, with near copies planted among the test texts.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from datasketch import MinHash, MinHashLSH

from course_lib.datasets import load_ag_news, load_cifar10
from course_lib.datasets.samples import image_samples
from course_lib.leakage.detectors import Parts, find_exact_duplicates, find_near_duplicate_texts
from course_lib.leakage.detectors.near_texts import likeness_of_texts

THRESHOLD = 0.7
IMAGE_TURNS = 3
TEST_SHARE = 0.1
PLANTED_OF_A_KIND = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--texts", type=int, default=100_000)
    chosen = parser.parse_args()
    compare_images(IMAGE_TURNS * chosen.repeats)
    compare_texts(chosen.texts, chosen.repeats)


def taking_turns(candidates: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(repeats):
        for name, run in candidates.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    for name, taken in seconds.items():
        print(f"{name:<44} {statistics.median(taken):8.2f} s  ({min(taken):.2f} to {max(taken):.2f})")
    return seconds


def compare_images(repeats: int) -> None:
    train, test = load_cifar10("train"), load_cifar10("test")
    count = len(train.labels) + len(test.labels)
    print(f"{count:,} image files, {train.origin.kind}; read once before, so in the page cache")

    def read() -> int:
        return sum(len(Path(path).read_bytes()) for part in (train, test) for path, _ in part.samples)

    def read_and_search() -> str:
        payloads = (Path(path).read_bytes() for part in (train, test) for path, _ in part.samples)
        digests = b"".join(hashlib.sha256(payload).digest() for payload in payloads)
        ids = [part.sample_id(at) for part in (train, test) for at in range(len(part.labels))]
        parts = Parts(ids, np.repeat([0, 1], [len(train.labels), len(test.labels)]))
        return find_exact_duplicates(
            parts, digests=np.frombuffer(digests, dtype=np.uint8).reshape(-1, 32)
        ).sentence

    def sample_table_and_search() -> str:
        samples = image_samples(train, test)
        return find_exact_duplicates(Parts(samples.ids, samples.official), samples).sentence

    read()
    seconds = taking_turns(
        {
            "reading alone": read,
            "reading, digests, exact search": read_and_search,
            "the same by way of a sample table": sample_table_and_search,
        },
        repeats,
    )
    alone, *others = seconds
    for name in others:
        ratios = [both / one for one, both in zip(seconds[alone], seconds[name], strict=True)]
        print(
            f"{name}: {statistics.median(ratios):.2f} times {alone} ({min(ratios):.2f} to {max(ratios):.2f})"
        )
    print(read_and_search(), "\n")


def compare_texts(count: int, repeats: int) -> None:
    held_out = round(count * TEST_SHARE)
    train = list(load_ag_news("train", source="generated", sample_count=count - held_out).dataset["text"])
    test = list(load_ag_news("test", source="generated", sample_count=held_out).dataset["text"])
    planted = plant(train, test)
    texts = train + test
    parts = Parts([f"t{at:07d}" for at in range(count)], np.repeat([0, 1], [len(train), len(test)]))
    print(f"{count:,} generated texts, {len(test):,} in the test part, {len(planted):,} of these near copies")
    results: dict[str, set[tuple[int, int]]] = {}

    def search() -> None:
        finding = find_near_duplicate_texts(parts, texts, threshold=THRESHOLD)
        results["workbook"] = {(int(one[1:]), int(other[1:])) for one, other in finding.together}

    def peer() -> None:
        results["datasketch"] = with_datasketch_alone(train, test)

    taking_turns({"find_near_duplicate_texts": search, "datasketch's MinHashLSH, no check": peer}, repeats)
    for name, pairs in results.items():
        for words in sorted({words for _, _, words in planted}):
            of_kind = [tuple(sorted(pair)) for *pair, changed in planted if changed == words]
            found = sum(pair in pairs for pair in of_kind)
            print(f"{name}: recall of copies with {words} other words {found / len(of_kind):.3f}")
        alike = [
            tuple(sorted((one, other)))
            for one, other, _ in planted
            if likeness_of_texts(texts[one], texts[other]) >= THRESHOLD
        ]
        share = sum(pair in pairs for pair in alike) / len(alike)
        print(f"{name}: recall of the {len(alike):,} copies that are {THRESHOLD} alike or more {share:.4f}")
        strangers = len(pairs - {tuple(sorted(pair)) for *pair, _ in planted})
        print(f"{name}: {strangers:,} pairs beside those planted")


def shingles(text: str) -> set[str]:
    words = text.casefold().split()
    return {" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2))}


def plant(train: list[str], test: list[str]) -> list[tuple[int, int, int]]:
    """Replace test texts by training texts of which 1, 2 or 4 words in a row are others."""
    chance = random.Random(2026)
    sources = iter(chance.sample(range(len(train)), 3 * PLANTED_OF_A_KIND))
    places = iter(chance.sample(range(len(test)), 3 * PLANTED_OF_A_KIND))
    planted = []
    for changed in (1, 2, 4):
        for _ in range(PLANTED_OF_A_KIND):
            source, place = next(sources), next(places)
            words = train[source].split()
            at = chance.randrange(len(words) - changed)
            words[at : at + changed] = [f"other{chance.randrange(10**6)}" for _ in range(changed)]
            test[place] = " ".join(words)
            planted.append((source, len(train) + place, changed))
    return planted


def with_datasketch_alone(train: list[str], test: list[str]) -> set[tuple[int, int]]:
    index = MinHashLSH(threshold=THRESHOLD, num_perm=128)
    shingled = ([shingle.encode() for shingle in shingles(text)] for text in [*train, *test])
    pairs = set()
    for at, made in enumerate(MinHash.generator(shingled, num_perm=128)):
        if at < len(train):
            index.insert(at, made)
        else:
            pairs.update((earlier, at) for earlier in index.query(made))
    return pairs


if __name__ == "__main__":
    main()
