"""Bank Marketing: the published table out of the publisher's archive, or a generated stand-in for it."""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.datasets.generated_bank import DEFAULT_ROW_COUNTS, content_digest, generate_bank_marketing
from course_lib.datasets.origin import Origin
from course_lib.datasets.settings import Source
from course_lib.datasets.sources import FoundFile, find_file
from course_lib.errors import CourseError
from course_lib.files import sha256_file, write_atomically
from course_lib.manifests import DataManifest, MemberFile, PreparedFile, load_manifest
from course_lib.manifests.tables import table_from_bytes
from course_lib.paths import course_home

if TYPE_CHECKING:
    import pandas

_NAME = "bank_marketing"
_ARCHIVE = "bank+marketing.zip"
DEFAULT_VARIANT = "additional-full"


@dataclass(frozen=True)
class Table:
    """A table with its manifest and where it came from.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row for each contact, in the published order, which is the order of the calls; columns in the
        order of the manifest, with the types that pandas gives the published CSV.
    origin : Origin
        Publisher, mirror or seed.
    manifest : DataManifest
        What each column means and when it is known.
    """

    frame: pandas.DataFrame
    origin: Origin
    manifest: DataManifest


def load_bank_marketing(
    variant: str = DEFAULT_VARIANT,
    *,
    source: Source = "auto",
    row_count: int | None = None,
    seed: int = 2026,
) -> Table:
    """Load one variant of the Bank Marketing data.

    Parameters
    ----------
    variant : {"additional-full", "full"}, optional
        With the five economic indicators, or with account balance and day of the month.
    source : {"auto", "official", "mirror", "generated"}, optional
        "auto" takes the mirror named by ``COURSE_DATA``, else an official download that is already here,
        else generates the data.
    row_count : int, optional
        Rows of a generated table; as many as the real one has where it is not given.
    seed : int, optional
        Seed of a generated table.

    Returns
    -------
    Table

    Raises
    ------
    CourseError
        For an unknown variant, for a source that is not there or whose digest is wrong, and for a
        ``row_count`` together with published data.

    Examples
    --------
    >>> table = load_bank_marketing("full", source="generated", row_count=2000, seed=7)
    >>> table.origin.label()
    'Data: bank_marketing (full), generated from seed 7, 2,000 samples'
    """
    manifest = load_manifest(_NAME, variant)
    found = find_file(_NAME, manifest.published_file(_ARCHIVE), source=source)
    if found is None:
        return _generated(manifest, row_count, seed)
    if row_count is not None:
        raise CourseError(
            f"row_count goes with generated data only, and {manifest.title_with_variant} was found",
            found=f"row_count={row_count!r} for {found.path}",
            next_step='leave row_count out, or ask for source="generated"',
        )
    member = _table_member(manifest)
    frame = table_from_bytes(_member_bytes(found, manifest, member), member.name, manifest)
    origin = Origin(found.kind, _NAME, manifest.variant, len(frame), member.sha256)
    return Table(frame, origin, manifest)


def prepare_for_croissant(variant: str = DEFAULT_VARIANT, *, source: Source = "auto") -> dict[str, Path]:
    """Make the comma-separated form of a published table, which Croissant readers can open.

    Croissant 1.0 has no way to state a delimiter, and the published table has semicolons. The values stay
    as they are. The file is made once, under the course's home, and its digest is checked on every call.

    Parameters
    ----------
    variant : {"additional-full", "full"}, optional
        Which table.
    source : {"auto", "official", "mirror"}, optional
        Where the published archive comes from.

    Returns
    -------
    dict of str to Path
        ``@id`` of the file to its place, as :func:`course_lib.manifests.croissant_records` takes it.

    Raises
    ------
    CourseError
        When the published archive is not here or is damaged, and when the file cannot be written.
    """
    manifest = load_manifest(_NAME, variant)
    found = find_file(_NAME, manifest.published_file(_ARCHIVE), source=source)
    if found is None:
        raise CourseError(
            f"{_ARCHIVE} is not on this machine",
            expected="a mirror folder named by COURSE_DATA, or the official download",
            next_step=f"run `course data fetch {_NAME}` or set COURSE_DATA",
        )
    member = _table_member(manifest)
    prepared = _prepared_file(manifest, member)
    path = course_home() / "data" / _NAME / "prepared" / prepared.name
    if not path.is_file() or sha256_file(path) != prepared.sha256:
        content = _with_commas(_member_bytes(found, manifest, member))
        _check_digest(content, prepared.name, prepared.sha256, member.name)
        write_atomically(path, content)
    return {prepared.name: path}


def _generated(manifest: DataManifest, row_count: int | None, seed: int) -> Table:
    rows = DEFAULT_ROW_COUNTS[manifest.variant] if row_count is None else row_count
    frame = generate_bank_marketing(manifest.variant, row_count=rows, seed=seed)
    frame.attrs["undescribed"] = []
    origin = Origin("generated", _NAME, manifest.variant, len(frame), content_digest(frame), seed)
    return Table(frame, origin, manifest)


def _prepared_file(manifest: DataManifest, member: MemberFile) -> PreparedFile:
    return next(prepared for prepared in manifest.prepared if prepared.prepared_from == member.name)


def _table_member(manifest: DataManifest) -> MemberFile:
    return manifest.member(f"bank-{manifest.variant}.csv")


def _member_bytes(found: FoundFile, manifest: DataManifest, member: MemberFile) -> bytes:
    """Read a member out of its archive, which may be a member itself, and check every digest on the way."""
    outer = manifest.member(member.contained_in)
    try:
        published = found.path.read_bytes()
    except OSError as error:
        raise CourseError(
            f"{found.path} cannot be read", found=error.strerror, next_step="check the file"
        ) from error
    inner = _unpacked(published, outer, str(found.path))
    return _unpacked(inner, member, f"{found.path}/{outer.name}")


def _unpacked(archive: bytes, member: MemberFile, archive_name: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            content = opened.read(member.path)
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError) as error:
        raise CourseError(
            f"{member.path} cannot be taken out of {archive_name}",
            expected="a whole zip archive",
            found=str(error),
            next_step="replace the archive with an undamaged one",
        ) from error
    _check_digest(content, member.path, member.sha256, archive_name)
    return content


def _check_digest(content: bytes, name: str, expected: str, made_from: str) -> None:
    digest = hashlib.sha256(content).hexdigest()
    if digest != expected:
        raise CourseError(
            f"{name} out of {made_from} is not what the manifest describes",
            expected=f"sha256 {expected}",
            found=digest,
            next_step="replace the file with an undamaged one",
        )


def _with_commas(content: bytes) -> bytes:
    rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""), delimiter=";")
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode("utf-8")
