"""Looking through one shard: its length and digest, each record, and the index against the archive."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xxhash
from numpy.typing import NDArray

from course_lib.shards.format import LABEL_EXTENSION, ShardFile
from course_lib.shards.scanning import DamagedArchiveError, OpenShard, Sample, samples
from course_lib.shards.targets import file_digests

Kind = Literal[
    "manifest",
    "unfinished",
    "index",
    "missing shard",
    "extra shard",
    "truncated shard",
    "damaged shard",
    "damaged record",
    "empty shard",
    "index against tar",
    "id twice",
    "members apart",
    "incomplete sample",
    "missing sample",
    "other split",
    "class-sorted",
]
_NO_LABEL = -1


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes
    ----------
    kind : str
    shard, sample_id : str
        Where it is; "" where it concerns the whole set, or a whole shard.
    sentence : str
        For the person in front of the screen.
    """

    kind: Kind
    shard: str
    sample_id: str
    sentence: str


@dataclass(frozen=True, eq=False)
class CheckTask:
    """What is known of a shard before it is looked through.

    Attributes
    ----------
    path : Path
    file : ShardFile or None
        What the shard manifest says of it.
    rows : structured ndarray or None
        Its index rows.
    extension : str
        Of the payloads.
    names : dict
        The names of all shards of the manifest by their SHA-256.
    """

    path: Path
    file: ShardFile | None
    rows: NDArray[Any] | None
    extension: str
    names: dict[str, str]


@dataclass(frozen=True, eq=False)
class ShardReport:
    """What was found in one shard.

    Attributes
    ----------
    name : str
    findings : list of Finding
    ids : ndarray of bytes, shape (records,)
        Keys in the order of the archive.
    complete : ndarray of bool, shape (records,)
        Whether a payload and a label stand together.
    labels : ndarray of int64, shape (records,)
        -1 where there is none.
    bytes_read : int
    """

    name: str
    findings: list[Finding]
    ids: NDArray[np.bytes_]
    complete: NDArray[np.bool_]
    labels: NDArray[np.int64]
    bytes_read: int


def check_shard(task: CheckTask) -> ShardReport:
    """Look through one shard, whatever is left of it."""
    name = task.path.name
    try:
        digests = file_digests(task.path)
    except OSError as error:
        sentence = f"The shard {name} is missing or cannot be read: {error.strerror}."
        return _report(task, [Finding("missing shard", name, "", sentence)], [], [], [], 0)
    findings: list[Finding] = []
    with OpenShard(task.path) as content:
        whole = task.file is None or digests.sha256 == task.file.sha256
        other = None if whole else task.names.get(digests.sha256)
        if other is not None:
            sentence = f"{name} holds the bytes of {other}: shards were exchanged, or copied over each other."
            findings.append(Finding("damaged shard", name, "", sentence))
        elif not whole:
            findings += _damage(task, content)
        if whole or task.rows is None:
            keys, complete, labels, stopped = _scanned(content, task, findings)
        else:
            keys, labels, stopped = _found_in_damaged(content, task.rows)
            complete = [True] * len(keys)
    if stopped and (whole or task.rows is None):
        findings.append(_unreadable(name, stopped, keys))
    if not keys and not stopped:
        findings.append(Finding("empty shard", name, "", f"The shard {name} holds no sample."))
    if whole and task.file is not None:
        findings += _other_counts(task, len(keys))
    return _report(task, findings, keys, complete, labels, digests.bytes)


def _other_counts(task: CheckTask, found: int) -> list[Finding]:
    assert task.file is not None
    said = {"shard manifest": task.file.samples}
    if task.rows is not None:
        said["index"] = len(task.rows)
    name = task.path.name
    return [
        Finding("index against tar", name, "", f"{name} holds {found:,} samples, the {where} says {count:,}.")
        for where, count in said.items()
        if count != found
    ]


def _report(
    task: CheckTask,
    findings: list[Finding],
    keys: list[bytes],
    complete: list[bool],
    labels: list[int],
    bytes_read: int,
) -> ShardReport:
    return ShardReport(
        task.path.name,
        findings,
        np.array(keys, dtype=np.bytes_),
        np.array(complete, dtype=np.bool_),
        np.array(labels, dtype=np.int64),
        bytes_read,
    )


def _damage(task: CheckTask, content: memoryview) -> list[Finding]:
    """Say what is damaged in a shard whose digest is not the manifest's."""
    assert task.file is not None
    name, expected, found = task.path.name, task.file.bytes, len(content)
    findings = []
    lost = _lost_records(task, found)
    if found < expected:
        sentence = f"{name} is cut short: expected {expected:,} bytes, found {found:,}{lost}."
        findings.append(Finding("truncated shard", name, "", sentence))
    elif found > expected:
        sentence = f"{name} is longer than it was written: expected {expected:,} bytes, found {found:,}."
        findings.append(Finding("damaged shard", name, "", sentence))
    if task.rows is not None:
        for row in task.rows:
            end = int(row["offset"] + row["extent"])
            if end <= found and xxhash.xxh3_64_intdigest(content[int(row["offset"]) : end]) != row["check"]:
                text = row["id"].decode("utf-8", "replace")
                sentence = f"Sample {text} in {name} is damaged: header, payload or label has other bytes."
                findings.append(Finding("damaged record", name, text, sentence))
    if not findings:
        where = "in which sample cannot be told without the index"
        if task.rows is not None:
            where = "outside all records of the index"
        sentence = f"{name} has other bytes than the shard manifest says, {where}."
        findings.append(Finding("damaged shard", name, "", sentence))
    return findings


def _lost_records(task: CheckTask, length: int) -> str:
    if task.rows is None:
        return ""
    beyond = task.rows[task.rows["offset"] + task.rows["extent"] > length]
    if not len(beyond):
        return ", all records whole"
    return f", {len(beyond):,} of {len(task.rows):,} samples lost, the first is {beyond['id'][0].decode()}"


def _scanned(
    content: memoryview, task: CheckTask, findings: list[Finding]
) -> tuple[list[bytes], list[bool], list[int], str]:
    """Go through an archive; where its bytes are those of the manifest, compare the index rows."""
    keys: list[bytes] = []
    complete: list[bool] = []
    labels: list[int] = []
    rows = task.rows
    stopped = ""
    try:
        for place, sample in enumerate(samples(content)):
            label = _label(sample, content)
            keys.append(sample.key)
            labels.append(label)
            complete.append(label != _NO_LABEL and len(sample.members) > 1)
            if rows is not None and (
                place >= len(rows) or not _agrees(rows[place], sample, label, task, content)
            ):
                findings.append(_disagreement(task, sample))
    except DamagedArchiveError as error:
        stopped = error.why
    return keys, complete, labels, stopped


def _found_in_damaged(content: memoryview, rows: NDArray[Any]) -> tuple[list[bytes], list[int], str]:
    """Gather the samples with payload and label; where the archive breaks off, the index says what follows.

    A sample with a part missing is left out: the index has named it already, by its checksum.
    """
    found: list[Sample] = []
    stopped = ""
    offsets = np.sort(rows["offset"])
    start = 0
    while True:
        reached = start
        try:
            for sample in samples(content, start):
                found.append(sample)
                reached = sample.end
        except DamagedArchiveError as error:
            stopped = stopped or error.why
            reached = error.offset
            if error.before is not None:
                found.append(error.before)
        behind = offsets[np.searchsorted(offsets, reached, side="right") :]
        if not len(behind) or behind[0] >= len(content):
            break
        start = int(behind[0])
    whole = [(sample, _label(sample, content)) for sample in found if len(sample.members) > 1]
    labelled = [(sample.key, label) for sample, label in whole if label != _NO_LABEL]
    return [key for key, _ in labelled], [label for _, label in labelled], stopped


def _label(sample: Sample, content: memoryview) -> int:
    member = sample.members.get(LABEL_EXTENSION.encode())
    if member is None:
        return _NO_LABEL
    text = bytes(content[member.start : member.start + member.length]).strip()
    return int(text) if text.isdigit() else _NO_LABEL


def _agrees(row: Any, sample: Sample, label: int, task: CheckTask, content: memoryview) -> bool:
    payload = sample.members.get(task.extension.encode())
    return (
        payload is not None
        and row["id"] == sample.key
        and row["label"] == label
        and (row["offset"], row["extent"]) == (sample.offset, sample.end - sample.offset)
        and (row["start"], row["length"]) == (payload.start, payload.length)
        and int(row["check"]) == xxhash.xxh3_64_intdigest(content[sample.offset : sample.end])
    )


def _disagreement(task: CheckTask, sample: Sample) -> Finding:
    text = sample.key.decode("utf-8", "replace")
    sentence = f"The index and {task.path.name} disagree about sample {text}."
    return Finding("index against tar", task.path.name, text, sentence)


def _unreadable(name: str, why: str, keys: list[bytes]) -> Finding:
    last = f"after sample {keys[-1].decode('utf-8', 'replace')}" if keys else "before the first sample"
    cut = "cut short" in why or "empty" in why
    return Finding(
        "truncated shard" if cut else "damaged shard", name, "", f"{name} cannot be read on {last}: {why}."
    )
