"""Checks a shard set that the learner has packed: the validation split, whole, unmixed and undamaged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.errors import CourseError
from course_lib.exercises.answers import InvalidAnswerError
from course_lib.exercises.marking.trial import PropertyFailedError

if TYPE_CHECKING:
    from course_lib.shards import ShardSetManifest, ShardVerification
    from course_lib.splits import SplitManifest

RECIPE = "official-90-10"
_DATASET, _SPLIT, _FEWEST_SHARDS = "cifar10", "validation", 2
_DAMAGE = (
    "missing shard",
    "truncated shard",
    "damaged shard",
    "damaged record",
    "index",
    "index against tar",
    "extra shard",
)


@dataclass(frozen=True)
class OpenedSet:
    """A shard set whose manifest has its digest; the shards have not been read yet."""

    folder: Path
    manifest: ShardSetManifest

    @property
    def digest(self) -> str:
        """The digest of the shard manifest."""
        return self.manifest.digest


def opened(answer: object) -> OpenedSet:
    """Read the manifest of the set in a folder, or of an open `ShardSet`.

    Raises
    ------
    InvalidAnswerError
        When there is no finished set.
    """
    from course_lib.shards import ShardSet, ShardSetManifest, read_manifest

    if isinstance(answer, ShardSet):
        answer = answer.place
    if isinstance(answer, ShardSetManifest):
        raise InvalidAnswerError("This is a manifest in memory; hand in the folder that `pack` wrote into.")
    if not isinstance(answer, (str, Path)):
        raise InvalidAnswerError(
            f"The answer is the folder of a shard set; this is a {type(answer).__name__}."
        )
    folder = Path(answer).expanduser()
    folder = folder.parent if folder.name == "shards.json" else folder
    try:
        return OpenedSet(folder, read_manifest(folder))
    except (CourseError, OSError, ValueError, RuntimeError) as error:
        raise InvalidAnswerError(f"No shard set can be read there: {error}") from error


def check(artefact: OpenedSet) -> str:
    """Return what was verified, or raise at the first property that doesn't hold.

    Raises
    ------
    PropertyFailedError
        With the symptom of the mistake.
    """
    from course_lib.shards import verify_shards

    manifest = artefact.manifest
    if manifest.dataset != _DATASET or manifest.split != _SPLIT:
        raise PropertyFailedError(f"This is a set of {manifest.title}.", "other_split")
    if len(manifest.shards) < _FEWEST_SHARDS:
        raise PropertyFailedError("The set has a single shard.", "one_shard")
    try:
        split = _split(manifest.variant)
    except CourseError as error:
        raise PropertyFailedError(str(error), "other_data") from error
    _require_sound(verify_shards(artefact.folder, split=split))
    return (
        f"All {manifest.samples:,} samples of split {_SPLIT} are in {len(manifest.shards)} shards, each once "
        f"and none of another split; every byte of {manifest.shard_bytes:,} was read and fits its checksum; "
        f"the set carries the split's digest {split.digest[:12]}... {manifest.origin}."
    )


@lru_cache(maxsize=2)
def _split(variant: str) -> SplitManifest:
    """Return the split of this machine's data; it is the same for the same variant, so it is made once."""
    from course_lib.datasets.samples import load_samples
    from course_lib.splits import locked_split, parse_recipe

    samples, origin = load_samples(_DATASET)
    if samples.variant != variant:
        raise CourseError(
            "The set was packed from other data than this machine has",
            expected=f"{_DATASET} ({samples.variant})",
            found=f"{_DATASET} ({variant})",
        )
    return locked_split(samples, parse_recipe(RECIPE), origin=origin.label())


def _require_sound(found: ShardVerification) -> None:
    for kinds, symptom in (
        (_DAMAGE, "damaged"),
        (("other split",), "other_split"),
        (("missing sample",), "incomplete"),
    ):
        findings = [finding for finding in found.findings if finding.kind in kinds]
        if findings:
            raise PropertyFailedError(findings[0].sentence, symptom)
    if not found.ok:
        raise PropertyFailedError(found.sentences[0], "unsound")
