"""Manifests that were edited after their digest was taken."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.errors import CourseError
from course_lib.leakage.detectors.finding import Figure, Finding
from course_lib.leakage.detectors.wording import counted, listed

if TYPE_CHECKING:
    from course_lib.splits import SampleTable

_KIND = "manifest_edited"


@dataclass(frozen=True)
class _Strays:
    """Samples of a manifest that the recipe, applied to the data, does not give."""

    moved: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(sorted({*self.moved, *self.changed, *self.added, *self.removed}))


def find_edited_manifest(
    folder: Path, samples: SampleTable | None = None, *, locked_digest: str = ""
) -> Finding:
    """Find out whether a split manifest is still as it was written.

    Parameters
    ----------
    folder : Path
        With ``samples.csv`` and ``split.json``.
    samples : SampleTable, optional
        The data set. With it the samples concerned are named, and an edit shows even where somebody wrote a
        new digest afterwards, as the recipe puts the moved samples elsewhere.
    locked_digest : str, optional
        The digest as it was noted somewhere else when the manifest was made.

    Returns
    -------
    Finding

    Raises
    ------
    CourseError
        When the folder holds no split manifest.
    """
    from course_lib.splits.entries import SAMPLES_FILE, SPLIT_FILE, digest_of, read_split_json
    from course_lib.splits.lines import sha256_of_lines

    content = read_split_json(folder)
    recorded = str(content["digest"])
    try:
        samples_digest, _ = sha256_of_lines(Path(folder) / SAMPLES_FILE)
    except OSError as error:
        raise CourseError(
            f"{folder} holds no whole split manifest", expected=SAMPLES_FILE, found=error.strerror
        ) from error
    actual = digest_of({**content, "samples_sha256": samples_digest})
    edited = []
    if samples_digest != content["samples_sha256"]:
        edited.append(f"{SAMPLES_FILE} is not as it was when its digest was taken")
    if digest_of(content) != recorded:
        edited.append(f"{SPLIT_FILE} does not carry its own digest")
    if locked_digest and recorded != locked_digest:
        edited.append("its digest is another one than was noted when it was made")
    strays = _strays(Path(folder), samples)
    if strays.moved and not edited:
        edited.append(
            "the digest fits, but the recipe, applied to the data, puts samples elsewhere: it was made anew"
        )
    figures: dict[str, Figure] = {"recorded_digest": recorded, "actual_digest": actual}
    if not edited:
        return Finding(_KIND, "clear", "The manifest is as it was when its digest was taken.", (), figures)
    if samples is not None:
        figures |= {name: len(getattr(strays, name)) for name in ("moved", "added", "removed")}
        figures["changed_samples"] = len(strays.changed)
    which = f" ({counted(len(strays.ids), 'sample')} concerned: {listed(strays.ids)})" if strays.ids else ""
    sentence = f"Not as it was written: {'; '.join(edited)}{which}."
    return Finding(_KIND, "found", sentence, strays.ids, figures)


def _strays(folder: Path, samples: SampleTable | None) -> _Strays:
    if samples is None:
        return _Strays()
    from course_lib.splits import read_split, verify_split

    try:
        manifest = read_split(folder, trust=True)
        checked = verify_split(manifest, samples)
    except CourseError:
        # Edited so far that it is no table any more: the digests tell of it, no sample can be named.
        return _Strays()
    if len(checked.missing) == len(manifest):
        return _Strays()
    return _Strays(checked.misplaced, checked.changed, checked.missing, checked.unexpected)
