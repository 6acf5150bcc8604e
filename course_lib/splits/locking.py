"""Where split manifests live, and the lock: made on first use, and the same from then on."""

from __future__ import annotations

import re
from pathlib import Path

import filelock

from course_lib.errors import CourseError
from course_lib.files import cannot_write
from course_lib.paths import course_home, manifests_folder
from course_lib.splits.comparing import verify_split
from course_lib.splits.entries import SPLIT_FILE, read_split_json
from course_lib.splits.files import SplitManifest, read_split, write_split
from course_lib.splits.making import make_split
from course_lib.splits.recipe import Recipe
from course_lib.splits.samples import SampleTable

_DEFAULT_VARIANT = "default"
_LOCK_TIMEOUT_SECONDS = 600


def split_folder(dataset: str, variant: str, recipe: Recipe) -> Path:
    """Return the folder for a learner's own manifest of a split; it need not exist."""
    name = "-".join(part for part in (dataset, variant) if part)
    return course_home() / "splits" / _folder_name(name) / str(recipe)


def committed_folder(dataset: str, variant: str, recipe: Recipe) -> Path:
    """Return the folder for the manifest of a split that comes with the workbook; it need not exist.

    It holds both files, or ``split.json`` alone where the ids are many: then the digest is what is kept to.
    """
    variant_name = _folder_name(variant) if variant else _DEFAULT_VARIANT
    return manifests_folder() / _folder_name(dataset) / "splits" / variant_name / str(recipe)


def locked_split(samples: SampleTable, recipe: Recipe, *, origin: str = "") -> SplitManifest:
    """Return the manifest of a split: made and locked on first use, verified at every later one.

    Where the workbook comes with this split of these very data, it must come out with the same digest.

    Parameters
    ----------
    samples : SampleTable
    recipe : Recipe
    origin : str, optional
        See `write_split`.

    Returns
    -------
    SplitManifest

    Raises
    ------
    CourseError
        When the data or the split are not those that were locked: what differs is said, with ids.
    """
    folder = split_folder(samples.dataset, samples.variant, recipe)
    with _one_process_at_a_time(folder):
        if (folder / SPLIT_FILE).exists():
            manifest = read_split(folder)
            verification = verify_split(manifest, samples)
            if not verification.ok:
                raise CourseError(
                    f"The split {recipe} of {samples.title} is not the one that was locked in {folder}",
                    found=" ".join(verification.sentences).rstrip("."),
                    next_step="restore the data, or remove this folder if the change is meant",
                )
        else:
            manifest = write_split(make_split(samples, recipe), folder, origin=origin)
    _need_committed_digest(manifest)
    return manifest


def is_committed(manifest: SplitManifest) -> bool | None:
    """Tell whether the workbook comes with this split: None where it has none of these very data."""
    folder = committed_folder(manifest.dataset, manifest.variant, manifest.recipe)
    if not (folder / SPLIT_FILE).exists():
        return None
    content = read_split_json(folder)
    if content["data_sha256"] != manifest.data_digest:
        return None
    return bool(content["digest"] == manifest.digest)


def _need_committed_digest(manifest: SplitManifest) -> None:
    if is_committed(manifest) is False:
        raise CourseError(
            f"{manifest.folder} is not the split {manifest.recipe} that the workbook has of these very data",
            found=f"the digest {manifest.digest[:12]}...",
            next_step="update the workbook, or restore its data_manifests folder",
        )


def _folder_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip(".-") or "unnamed"


def _one_process_at_a_time(folder: Path) -> filelock.BaseFileLock:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    return filelock.FileLock(folder.parent / f".{folder.name}.lock", timeout=_LOCK_TIMEOUT_SECONDS)
