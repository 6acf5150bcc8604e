"""What readers do with damage: ours beside the peers, each case in a process of its own with a time limit.

The samples are generated images. What counts as wrong is a delivered payload and label that were not packed,
or that were delivered before. A hash, where a peer offers one as an option, is not switched on.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import shard_candidates as candidates
from shard_peers import CANDIDATES
from shard_process import print_versions

from course_lib.errors import CourseError
from course_lib.watched import Emit, WatchedProcess, WatchedTaskError

SHARD_BYTES = 256_000
RESUME_AFTER, RESUME_WORKERS = 31, 2
FIRST_WORDS = 120
NAMES = ("ours", "webdataset", "MDS", "litdata", "HF Arrow", "LMDB")
DATA_FILES = {
    "ours": "*.tar",
    "webdataset": "*.tar",
    "MDS": "*.mds",
    "litdata": "*.bin",
    "HF Arrow": "*.arrow",
    "LMDB": "data.mdb",
}
INDEX_FILES = {"ours": "index.npy", "MDS": "index.json", "litdata": "index.json", "HF Arrow": "state.json"}
# Of LMDB's file format: where a meta page has the root and its transaction, a page its first pointers.
LMDB_PAGE, LMDB_ROOT_AT, LMDB_TRANSACTION_AT, LMDB_POINTERS_AT = 4_096, 128, 144, 16

Damage = Callable[[str, Path, list[candidates.Sample]], bool]


class Case(NamedTuple):
    """A row of the table: how a packed set is damaged, or what is different when it is packed."""

    title: str
    damage: Damage | None = None
    change: str = ""
    workers: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three cases")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds until a case counts as hanging")
    parser.add_argument("--only", nargs="*", default=list(NAMES), choices=NAMES)
    chosen = parser.parse_args()
    started = time.perf_counter()
    missing = [name for name in chosen.only if CANDIDATES[name].missing()]
    names = [name for name in chosen.only if name not in missing]
    for name in missing:
        print(f"Left out: {name}, since {CANDIDATES[name].package} is not installed")
    print_versions(names)
    from course_lib.datasets import load_cifar10

    # A bar for drawing the images is nothing for a file of results.
    with contextlib.redirect_stdout(sys.stderr):
        data = load_cifar10("train", source="generated").files().folder / "train"
    samples = candidates.listed(data)
    print(f"{len(samples):,} generated images, shards of {SHARD_BYTES // 1000} KB; limit {chosen.limit:g} s")
    cases = CASES[:3] if chosen.quick else CASES
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ThreadPoolExecutor(2) as pool:
        bench = Bench(Path(folder), data, samples, chosen.limit)
        whole = dict(zip(names, pool.map(bench.packed_whole, names), strict=True))
        pairs = [(case, name) for case in cases for name in names]
        outcomes = pool.map(lambda pair: bench.outcome(*pair, whole[pair[1]]), pairs)
        before = ""
        for (case, name), outcome in zip(pairs, outcomes, strict=True):
            if case.title != before:
                print(f"\n{case.title}")
            before = case.title
            print(f"  {name:12} {outcome}", flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s in all")


class Bench:
    """Runs the cases."""

    def __init__(self, folder: Path, data: Path, samples: list[candidates.Sample], limit: float) -> None:
        self._folder, self._data, self._samples, self._limit = folder, data, samples, limit

    def packed_whole(self, name: str) -> Path | str:
        """Return the folder of an undamaged set, or why there is none."""
        out = self._folder / f"whole-{name.replace(' ', '-')}"
        found = self._run("pack_task", name, out)
        return found if isinstance(found, str) else out

    def outcome(self, case: Case, name: str, whole: Path | str) -> str:
        if isinstance(whole, str):
            return f"could not be packed: {whole}"
        out = self._folder / f"{case.title}-{name}".replace(" ", "-").replace(",", "")
        if case.change == "resume":
            return self._resumed(name, whole, out)
        if case.change:
            found = self._run("pack_task", name, out, change=case.change)
            if isinstance(found, str):
                return found
            if "error" in found:
                return f"named when packed: {found['error']}"
        else:
            shutil.copytree(whole, out)
            assert case.damage is not None
            if not case.damage(name, out, self._samples):
                return "-"
        return self._delivered(case, self._run("deliver_task", name, out, workers=case.workers))

    def _delivered(self, case: Case, found: dict[str, Any] | str) -> str:
        if isinstance(found, str):
            return found
        if found.get("without"):
            return "-"
        delivered, wrong = found["delivered"], found["wrong"]
        counted = f"{delivered:,} of {len(self._samples):,} delivered, {wrong:,} wrong"
        if "error" in found:
            return f"named: {found['error']}" + (f" (after {wrong:,} wrong)" if wrong else "")
        if delivered == len(self._samples) and not wrong:
            return f"silent: {counted}, one id twice" if case.change == "same id" else f"no harm: {counted}"
        return f"silent: {counted}"

    def _resumed(self, name: str, whole: Path, state: Path) -> str:
        parts = []
        for stage in ("before", "after"):
            found = self._run("resume_task", name, whole, state=str(state), stage=stage)
            if isinstance(found, str):
                return f"{stage} the stop: {found}"
            if found.get("without"):
                return "- (no resuming of its own)"
            if "error" in found:
                return f"named {stage} the stop: {found['error']}"
            parts += found["digests"]
        expected = Counter(hashlib.sha256(sample.payload()).hexdigest() for sample in self._samples)
        delivered = Counter(parts)
        lost, repeated = (expected - delivered).total(), (delivered - expected).total()
        if not lost and not repeated:
            return f"exact: {len(parts):,} of {len(self._samples):,} delivered once each"
        return f"silent: {lost:,} lost and {repeated:,} repeated of {len(self._samples):,}"

    def _run(self, task: str, name: str, out: Path, **request: Any) -> Any:
        """Return what a task returned; in words what became of its process where it returned nothing."""
        imports = ("shard_damage", *CANDIDATES[name].modules)
        request.update(name=name, out=str(out), data=str(self._data))
        # The task says once that it begins: importing and working have the limit each.
        with WatchedProcess(imports, silence_seconds=self._limit) as process:
            process.begin(f"shard_damage:{task}", request)
            for _ in process.events():
                pass
            try:
                return process.result
            except WatchedTaskError as error:
                if error.ending == "silent":
                    return "hangs"
                if error.signal_name:
                    return f"process killed ({error.signal_name})"
                return f"process ended: {first_words(error)}"


def opened_candidate(request: dict[str, Any], emit: Emit) -> candidates.Candidate:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    emit({"ready": True})
    samples = candidates.listed(Path(request["data"]))
    return CANDIDATES[request["name"]](Path(request["out"]), samples, SHARD_BYTES)


def pack_task(request: dict[str, Any], emit: Emit) -> dict[str, Any]:
    candidate = opened_candidate(request, emit)
    samples = list(candidate.samples)
    if request.get("change") == "same id":
        samples[7] = samples[7]._replace(id=samples[3].id)
    if request.get("change") == "label missing":
        samples[7] = samples[7]._replace(label=candidates.MISSING)
    try:
        candidate.pack(samples)
    except Exception as error:
        return {"error": first_words(error, request["out"])}
    return {}


def deliver_task(request: dict[str, Any], emit: Emit) -> dict[str, Any]:
    candidate = opened_candidate(request, emit)
    left = Counter((sample.payload(), sample.label) for sample in candidate.samples)
    found: dict[str, Any] = {"delivered": 0, "wrong": 0}
    try:
        for pair in delivered_pairs(candidate, request["workers"]):
            if pair is None:
                return {"without": True}
            found["delivered"] += 1
            found["wrong"] += not left[pair]
            left[pair] -= bool(left[pair])
    except Exception as error:
        found["error"] = first_words(error, request["out"])
    return found


def delivered_pairs(candidate: candidates.Candidate, workers: int) -> Iterable[Any]:
    if not workers:
        yield from map(candidate.pair, candidate.records())
        return
    loader = candidate.resumable(workers)
    labels = {sample.payload(): sample.label for sample in candidate.samples}
    if loader is None:
        yield None
        return
    for payload in (payload for batch in loader for payload in payloads_in(batch)):
        yield payload, labels.get(payload, candidates.MISSING)


def resume_task(request: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """Deliver the first batches of an epoch and keep the state, or take up the state and deliver the rest."""
    candidate = opened_candidate(request, emit)
    state = Path(request["state"])
    try:
        loader = candidate.resumable(RESUME_WORKERS)
        if loader is None:
            return {"without": True}
        if request["stage"] == "before":
            batches = list(islice(iter(loader), RESUME_AFTER))
            state.write_bytes(pickle.dumps(loader.state_dict()))
        else:
            loader.load_state_dict(pickle.loads(state.read_bytes()))
            batches = list(loader)
    except Exception as error:
        return {"error": first_words(error, request["out"])}
    payloads = [payload for batch in batches for payload in payloads_in(batch)]
    return {"digests": [hashlib.sha256(payload).hexdigest() for payload in payloads]}


def payloads_in(batch: Any) -> list[bytes]:
    return batch["payload"]


def first_words(error: BaseException, folder: str = "") -> str:
    """Return what an error says first, without the name of the bench's own folder."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    # What a worker raised comes with its traceback, whose last line says it.
    told = lines[-1] if lines and "Traceback" in str(error) else " ".join(lines[:1])
    kind = "" if isinstance(error, CourseError) else f"{type(error).__name__}: "
    if folder:
        told = told.replace(f"{folder}/", "").replace(folder, "the set")
    text = " ".join(f"{kind}{told}".split())
    return text if len(text) <= FIRST_WORDS else f"{text[:FIRST_WORDS].rstrip()}..."


def place_of_payload(folder: Path, samples: list[candidates.Sample]) -> tuple[Path, int, int] | None:
    """Return the file that holds the payload of a sample in the middle, where in it, and how long it is."""
    payload = samples[len(samples) // 2].payload()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        at = path.read_bytes().find(payload)
        if at >= 0:
            return path, at, len(payload)
    return None


def flip(path: Path, at: int) -> bool:
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1]))
    return True


def flip_in_payload(name: str, folder: Path, samples: list[candidates.Sample]) -> bool:
    found = place_of_payload(folder, samples)
    return found is not None and flip(found[0], found[1] + found[2] // 2)


def flip_in_tar_header(name: str, folder: Path, samples: list[candidates.Sample]) -> bool:
    found = place_of_payload(folder, samples)
    return found is not None and found[0].suffix == ".tar" and flip(found[0], found[1] - 512 + 2)


def flip_in_index(name: str, folder: Path, samples: list[candidates.Sample]) -> bool:
    if name == "LMDB":
        return flip(folder / "data.mdb", lmdb_pointer((folder / "data.mdb").read_bytes()))
    if name not in INDEX_FILES:
        return False
    path = folder / INDEX_FILES[name]
    content = path.read_bytes()
    at = len(content) // 2
    if path.suffix == ".json":
        # Still JSON, with another number in it.
        at += next((place for place, byte in enumerate(content[at:]) if byte in b"0123456789"), 0)
    return flip(path, at)


def lmdb_pointer(content: bytes) -> int:
    """Return where the root page of the tree holds the number of its second child."""

    def number(at: int, size: int) -> int:
        return int.from_bytes(content[at : at + size], "little")

    meta = max((0, LMDB_PAGE), key=lambda page: number(page + LMDB_TRANSACTION_AT, 8))
    root = LMDB_PAGE * number(meta + LMDB_ROOT_AT, 8)
    return root + number(root + LMDB_POINTERS_AT + 2, 2)


def cut_by(length: int) -> Damage:
    def cut(name: str, folder: Path, samples: list[candidates.Sample]) -> bool:
        paths = [path for path in folder.rglob(DATA_FILES[name]) if path.stat().st_size > 2 * length]
        last = max(paths)
        os.truncate(last, last.stat().st_size - length)
        return True

    return cut


def delete_shard(name: str, folder: Path, samples: list[candidates.Sample]) -> bool:
    paths = sorted(folder.rglob(DATA_FILES[name]))
    paths[len(paths) // 2].unlink()
    return True


CASES = (
    Case("one byte flipped in a payload", flip_in_payload),
    Case("one byte flipped in a tar header", flip_in_tar_header),
    Case("one byte flipped in the index", flip_in_index),
    Case("the last long shard cut by 1 KB", cut_by(1 << 10)),
    Case("the last long shard cut by 16 KB", cut_by(1 << 14)),
    Case("a shard deleted", delete_shard),
    Case("a shard deleted, read by 2 workers", delete_shard, workers=2),
    Case("same id twice", change="same id"),
    Case("a label missing", change="label missing"),
    Case("resumed in a shuffled epoch, 2 workers", change="resume"),
)

if __name__ == "__main__":
    main()
