"""Checks a split manifest of the Bank Marketing table that is made for use in the future."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.errors import CourseError
from course_lib.exercises.answers import InvalidAnswerError
from course_lib.exercises.marking.trial import PropertyFailedError

if TYPE_CHECKING:
    from course_lib.splits import SampleTable, SplitManifest

_DATASET, _VARIANT = "bank_marketing", "additional-full"
_KIND, _RATIOS = "ordered", ("70", "15", "15")
_FILES = ("samples.csv", "split.json")


@dataclass(frozen=True)
class OpenedManifest:
    """A manifest as it stands in its folder now, its digest not yet verified."""

    manifest: SplitManifest

    @property
    def digest(self) -> str:
        """The digest that stands in it."""
        return self.manifest.digest


def opened(answer: object) -> OpenedManifest:
    """Read the manifest that a folder's path, a file in that folder, or a `SplitManifest` stands for.

    Raises
    ------
    InvalidAnswerError
        When there is none to read.
    """
    from course_lib.splits import Split, SplitManifest, read_split

    if isinstance(answer, Split):
        raise InvalidAnswerError(
            "This is a split in memory; write its manifest with `write_split(split, folder)` and hand it in."
        )
    if isinstance(answer, SplitManifest):
        folder = answer.folder
    elif isinstance(answer, (str, Path)):
        folder = Path(answer).expanduser()
        folder = folder.parent if folder.name in _FILES else folder
    else:
        raise InvalidAnswerError(
            f"The answer is a split manifest or the path of its folder; this is a {type(answer).__name__}."
        )
    try:
        return OpenedManifest(read_split(folder, trust=True))
    except (CourseError, OSError, ValueError) as error:
        raise InvalidAnswerError(f"No split manifest can be read there: {error}") from error


def check(artefact: OpenedManifest) -> str:
    """Return what was verified, or raise at the first property that doesn't hold.

    Raises
    ------
    PropertyFailedError
        With the symptom of the mistake.
    """
    from course_lib.datasets.samples import load_samples

    manifest = artefact.manifest
    _require_unedited(manifest)
    _require_table(manifest)
    _require_recipe(manifest)
    samples, origin = load_samples(_DATASET, _VARIANT)
    _require_origin(manifest, samples)
    _require_all_samples(manifest, samples)
    _require_order_of_time(manifest, samples)
    counts = ", ".join(f"{name} {len(manifest.positions(name)):,}" for name in manifest.names)
    return (
        f"The digest fits, the recipe is {manifest.recipe}, all {len(samples):,} samples are there with the "
        f"contents they have now, and no part overlaps another in time ({counts}). {origin.label()}."
    )


def _require_unedited(manifest: SplitManifest) -> None:
    from course_lib.splits import read_split

    try:
        read_split(manifest.folder)
    except CourseError as error:
        raise PropertyFailedError(f"The digest doesn't fit the files: {error}.", "edited") from error


def _require_table(manifest: SplitManifest) -> None:
    if manifest.dataset != _DATASET or not manifest.variant.startswith(_VARIANT):
        found = f"{manifest.dataset} ({manifest.variant})" if manifest.variant else manifest.dataset
        raise PropertyFailedError(f"This is a manifest of {found}.", "other_data")


def _require_origin(manifest: SplitManifest, samples: SampleTable) -> None:
    if manifest.variant != samples.variant:
        raise PropertyFailedError(
            f"This is a manifest of {manifest.dataset} ({manifest.variant}), and the table on this machine "
            f"is {samples.title}: the rows come from somewhere else.",
            "other_origin",
        )


def _require_recipe(manifest: SplitManifest) -> None:
    recipe = manifest.recipe
    if recipe.kind != _KIND:
        raise PropertyFailedError(f"Its recipe is {recipe}: the order of time plays no part.", "random_kind")
    if tuple(f"{100 * ratio:g}" for ratio in map(float, recipe.ratios)) != _RATIOS:
        raise PropertyFailedError(
            f"Its recipe is {recipe}, with the parts {', '.join(recipe.names)}.", "other_ratios"
        )


def _require_all_samples(manifest: SplitManifest, samples: SampleTable) -> None:
    from course_lib.splits import verify_split

    verified = verify_split(manifest, samples)
    for ids, words, symptom in (
        (verified.unexpected, "samples of the table are not in the manifest", "incomplete"),
        (verified.missing, "samples of the manifest are not in the table", "incomplete"),
        (verified.changed, "samples have other contents than the manifest says", "other_contents"),
    ):
        if len(ids):
            raise PropertyFailedError(f"{len(ids):,} {words}, `{ids[0]}` among them.", symptom)


def _require_order_of_time(manifest: SplitManifest, samples: SampleTable) -> None:
    """Look at the times themselves: a recipe is what a manifest says of itself."""
    import pyarrow.compute as pc

    assert samples.times is not None
    times = samples.times[pc.index_in(manifest.ids, value_set=samples.ids).to_numpy(zero_copy_only=False)]
    for earlier, later in itertools.pairwise(manifest.names):
        newest, oldest = times[manifest.positions(earlier)].max(), times[manifest.positions(later)].min()
        if newest >= oldest:
            raise PropertyFailedError(
                f"The newest sample of {earlier} is not earlier than the oldest of {later}.", "not_ordered"
            )
