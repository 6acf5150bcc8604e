"""Verifying a shard set: every byte is read, and everything that is wrong is named."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.format import (
    INDEX_FILE,
    MANIFEST_FILE,
    WORK_FOLDER,
    ShardSetManifest,
    open_index,
    read_manifest,
)
from course_lib.shards.shard_check import CheckTask, Finding, Kind, ShardReport, check_shard

if TYPE_CHECKING:
    from course_lib.splits.files import SplitManifest

_FEW_FOR_AN_ORDER = 20


@dataclass(frozen=True)
class ShardVerification:
    """What is wrong with a shard set.

    Attributes
    ----------
    folder : Path
    manifest : ShardSetManifest or None
        None where there is none that can be trusted.
    findings : tuple of Finding
        Empty for a set without fault.
    samples, bytes_read : int
        Records found in the shards, and bytes of all shards.
    """

    folder: Path
    manifest: ShardSetManifest | None
    findings: tuple[Finding, ...]
    samples: int
    bytes_read: int

    @property
    def ok(self) -> bool:
        """Return whether nothing is wrong."""
        return not self.findings

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return one sentence for each finding."""
        return tuple(finding.sentence for finding in self.findings)

    def of_kind(self, kind: Kind) -> tuple[Finding, ...]:
        """Return the findings of one kind."""
        return tuple(finding for finding in self.findings if finding.kind == kind)

    def damaged_shards(self) -> tuple[str, ...]:
        """Return the names of the shards whose files have to be written anew."""
        broken = ("missing shard", "truncated shard", "damaged shard", "damaged record")
        return tuple(sorted({found.shard for found in self.findings if found.kind in broken}))


def verify_shards(
    folder: Path | str,
    *,
    split: SplitManifest | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> ShardVerification:
    """Read everything in a shard set and name everything that is wrong.

    Shards without a ``shards.json``, as WebDataset's ShardWriter leaves them, are looked through as well;
    what only checksums show cannot be seen in them.

    Parameters
    ----------
    folder : Path
    split : SplitManifest, optional
        The split that the set was packed from: then ids of other splits and missing ones are found, too.
    executor : concurrent.futures.Executor, optional
        Who reads the shards; this process where left out.
    progress : bool, optional
        Show a bar.

    Returns
    -------
    ShardVerification

    Raises
    ------
    CourseError
        When there is no such folder, or nothing in it that could be a shard set.
    """
    folder = Path(folder)
    present = {path.name for path in folder.glob("*.tar")} if folder.is_dir() else set()
    if not present and not (folder / MANIFEST_FILE).is_file() and not (folder / WORK_FOLDER).is_dir():
        raise CourseError(
            f"{folder} holds no shard set",
            expected=f"{MANIFEST_FILE} or *.tar shards",
            found="neither",
            next_step="name the folder that `course pack` wrote",
        )
    manifest, rows, findings = _opened(folder)
    reports = list(_reports(_tasks(folder, manifest, rows, present), executor, progress))
    for report in reports:
        findings += report.findings
    if manifest is not None:
        for name in sorted(present - {shard.name for shard in manifest.shards}):
            sentence = f"{name} is in the folder, but not in the shard manifest: an extra shard."
            findings.append(Finding("extra shard", name, "", sentence))
    findings += _repeated(reports)
    labels = [report.labels for report in reports if len(report.labels)]
    if labels and is_class_sorted(np.concatenate(labels)):
        sentence = "The samples stand sorted by class: batches in this order hold one class each."
        findings.append(Finding("class-sorted", "", "", sentence))
    if split is not None:
        findings += _against_split(split, manifest, reports)
    return ShardVerification(
        folder,
        manifest,
        tuple(findings),
        sum(len(report.ids) for report in reports),
        sum(report.bytes_read for report in reports),
    )


def is_class_sorted(labels: NDArray[np.integer[Any]]) -> bool:
    """Tell whether classes come in runs: neighbours share their class far more often than chance has it.

    By chance two neighbours share a class with probability sum(p_c^2) over the shares p_c of the classes;
    sorted samples nearly always do. The border is half-way; fewer than 20 samples are not judged.
    """
    counts = np.bincount(labels[labels >= 0].astype(np.int64))
    if len(labels) < _FEW_FOR_AN_ORDER or np.count_nonzero(counts) < 2:
        return False
    by_chance = float(((counts / counts.sum()) ** 2).sum())
    # With p of the neighbours alike when sorted: all but one for each border between classes.
    when_sorted = 1 - (np.count_nonzero(counts) - 1) / (len(labels) - 1)
    alike = float((labels[1:] == labels[:-1]).mean())
    return alike > (by_chance + when_sorted) / 2 > by_chance


def _opened(folder: Path) -> tuple[ShardSetManifest | None, NDArray[Any] | None, list[Finding]]:
    try:
        manifest = read_manifest(folder)
    except CourseError as error:
        if (folder / MANIFEST_FILE).exists():
            return None, None, [Finding("manifest", "", "", str(error))]
        if (folder / WORK_FOLDER).is_dir():
            return None, None, [Finding("unfinished", "", "", str(error))]
        # An index without its manifest: no other tool left these shards.
        if (folder / INDEX_FILE).is_file():
            return None, None, [Finding("manifest", "", "", str(error))]
        return None, None, []
    try:
        return manifest, open_index(folder, manifest), []
    except CourseError as error:
        return manifest, None, [Finding("index", "", "", str(error))]


def _tasks(
    folder: Path, manifest: ShardSetManifest | None, rows: NDArray[Any] | None, present: set[str]
) -> Iterator[CheckTask]:
    shards = () if manifest is None else manifest.shards
    extension = "" if manifest is None else manifest.extension
    if rows is not None:
        order = np.argsort(rows["shard"], kind="stable")
        bounds = np.searchsorted(rows["shard"][order], np.arange(len(shards) + 1))
    names = {shard.sha256: shard.name for shard in shards}
    for number, shard in enumerate(shards):
        own = None if rows is None else np.array(rows[order[bounds[number] : bounds[number + 1]]])
        yield CheckTask(folder / shard.name, shard, own, extension, names)
    # A reader that lists the folder would take these, too.
    for name in sorted(present - {shard.name for shard in shards}):
        yield CheckTask(folder / name, None, None, extension, names)


def _reports(tasks: Iterator[CheckTask], executor: Executor | None, progress: bool) -> Iterable[ShardReport]:
    from tqdm import tqdm

    waiting = list(tasks)
    done = map(check_shard, waiting) if executor is None else executor.map(check_shard, waiting)
    return tqdm(
        done,
        desc="Verifying shards",
        total=len(waiting),
        unit="shard",
        disable=not progress,
        leave=False,
        file=sys.stdout,
    )


def _repeated(reports: list[ShardReport]) -> list[Finding]:
    """Find keys that come more than once: the same sample twice, or one sample's members apart."""
    filled = [report for report in reports if len(report.ids)]
    if not filled:
        return []
    ids = np.concatenate([report.ids for report in filled])
    complete = np.concatenate([report.complete for report in filled])
    shards = np.repeat(np.arange(len(filled)), [len(report.ids) for report in filled])
    order = np.argsort(ids, kind="stable")
    in_order = ids[order]
    starts = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))
    ends = np.append(starts[1:], len(ids))
    findings = []
    named: set[bytes] = set()
    several = ends - starts > 1
    for start, end in zip(starts[several].tolist(), ends[several].tolist(), strict=True):
        places = order[start:end]
        named.add(in_order[start])
        where = sorted({filled[shard].name for shard in shards[places].tolist()})
        text = in_order[start].decode("utf-8", "replace")
        if complete[places].all():
            sentence = f"Sample {text} is there {len(places)} times, in {' and '.join(where)}."
            findings.append(Finding("id twice", where[0], text, sentence))
        else:
            sentence = f"The members of sample {text} stand apart from each other, in {' and '.join(where)}."
            findings.append(Finding("members apart", where[0], text, sentence))
    for report in filled:
        for sample_id in report.ids[~report.complete].tolist():
            if sample_id not in named:
                text = sample_id.decode("utf-8", "replace")
                sentence = f"Sample {text} in {report.name} has no label or no payload beside it."
                findings.append(Finding("incomplete sample", report.name, text, sentence))
    return findings


def _against_split(
    split: SplitManifest, manifest: ShardSetManifest | None, reports: list[ShardReport]
) -> list[Finding]:
    findings = []
    name = manifest.split if manifest is not None else ""
    if manifest is not None and manifest.split_digest != split.digest:
        sentence = (
            f"The set was packed from another split manifest: expected the digest {split.digest[:12]}..., "
            f"found {manifest.split_digest[:12] or 'none'}."
        )
        findings.append(Finding("other split", "", "", sentence))
    ids = [sample_id.decode("utf-8", "replace") for report in reports for sample_id in report.ids.tolist()]
    shards = [report.name for report in reports for _ in range(len(report.ids))]
    places = pc.index_in(pa.array(ids, pa.string()), value_set=split.ids).to_pylist()
    codes = [None if place is None else int(split.codes[place]) for place in places]
    if name not in split.names:
        counted = np.bincount([code for code in codes if code is not None], minlength=len(split.names))
        name = split.names[int(counted.argmax())]
    own = split.names.index(name)
    for sample_id, shard, code in zip(ids, shards, codes, strict=True):
        if code != own:
            belongs = "no split" if code is None else f"split {split.names[code]}"
            sentence = f"Sample {sample_id} in {shard} belongs to {belongs} of the manifest, not to {name}."
            findings.append(Finding("other split", shard, sample_id, sentence))
    missing = pc.invert(pc.is_in(split.ids_of(name), value_set=pa.array(ids, pa.string())))
    count = pc.sum(missing).as_py() or 0
    if count:
        first = split.ids_of(name)[pc.index(missing, True).as_py()].as_py()
        sentence = f"{count:,} samples of split {name} are not in the set, the first is {first}."
        findings.append(Finding("missing sample", "", first, sentence))
    return findings
