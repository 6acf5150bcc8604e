"""``course shards``: verify, show, repair and unpack a shard set, or index one of another tool."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from course_lib.cli.output import bar_wanted, print_json, print_table
from course_lib.cli.pack import JOBS, described, executor_of, print_set, source_loader, source_options
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.shards import ShardSetManifest, ShardVerification

FAULTY = 1
_LISTED = 20


class _Folder(click.Path):
    """A folder on this machine; the address of a store is refused before it is taken for a path."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the path."""
        if "://" in str(value):
            raise CourseError(
                "`course shards` reads shard sets in a folder",
                expected="a folder on this machine",
                found=f"the address {value}",
                next_step="copy the set from the store into a folder, and name that folder",
            )
        return super().convert(value, param, ctx)


_FOLDER = _Folder(path_type=Path)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of sentences.")


@click.group()
def shards() -> None:
    """Verify, show, repair and unpack shard sets.

    \b
    Example:
      course shards verify my_shards
    """


@shards.command()
@click.argument("folder", type=_FOLDER)
@click.option("--against", type=_FOLDER, help="The split manifest's folder: finds samples of other splits.")
@JOBS
@_JSON
def verify(folder: Path, against: Path | None, jobs: int, as_json: bool) -> None:
    """Read everything in a shard set and name everything that is wrong; status 1 where something is.

    \b
    Example:
      course shards verify my_shards
      course shards verify my_shards --against my_split
    """
    from course_lib.shards import verify_shards
    from course_lib.splits import read_split

    split = None if against is None else read_split(against)
    with executor_of(jobs) as executor:
        result = verify_shards(folder, split=split, executor=executor, progress=bar_wanted(as_json=as_json))
    if as_json:
        print_json(_as_dict(result))
    else:
        _print_verification(result)
    if not result.ok:
        sys.exit(FAULTY)


@shards.command()
@click.argument("folder", type=_FOLDER)
@_JSON
def show(folder: Path, as_json: bool) -> None:
    """Show what a shard set holds, from its manifest and index; `verify` reads the shards too.

    \b
    Example:
      course shards show my_shards
    """
    import numpy as np

    from course_lib.shards import ShardSet, read_manifest

    manifest = read_manifest(folder)
    with ShardSet.open(folder) as opened:
        counts = np.bincount(opened.labels, minlength=len(manifest.class_names)).tolist()
    if as_json:
        by_class = dict(zip(manifest.class_names, counts, strict=True))
        print_json({**described(manifest, folder), "samples_by_class": by_class})
        return
    print_set(manifest, folder)
    print_table(
        ("Class", "Samples"),
        [(name, f"{count:,}") for name, count in zip(manifest.class_names, counts, strict=True)],
    )


@shards.command()
@click.argument("folder", type=_FOLDER)
@source_options(None, "Which split; the set's own if left out.")
@JOBS
def repair(
    folder: Path,
    split_name: str | None,
    recipe: str | None,
    manifest_folder: Path | None,
    variant: str,
    source_kind: str,
    jobs: int,
) -> None:
    """Write damaged and missing shards anew from the data; each must have the very bytes that it had.

    Split, variant and generated data are as the set says; name a recipe, a manifest or another source where
    it was packed with one.

    \b
    Example:
      course shards repair my_shards
    """
    from course_lib.shards import read_manifest, repair_shards

    manifest = read_manifest(folder)
    table, made = _packed_from(manifest)
    load = source_loader(
        manifest.dataset,
        split_name or manifest.split,
        recipe,
        manifest_folder,
        variant or table,
        made if source_kind == "auto" and made else source_kind,
    )
    with executor_of(jobs) as executor:
        result = repair_shards(folder, load, executor=executor, progress=bar_wanted())
    for name in result.rewritten:
        click.echo(f"Written anew: {name}")
    _print_verification(result.after)
    if not result.after.ok:
        sys.exit(FAULTY)


@shards.command()
@click.argument("folder", type=_FOLDER)
@click.option("--out", required=True, type=_FOLDER, help="A folder that is not there yet.")
def unpack(folder: Path, out: Path) -> None:
    """Write each sample to a file of its own, in one folder for each class.

    \b
    Example:
      course shards unpack my_shards --out my_files
    """
    from course_lib.shards import read_manifest, unpack_shards

    written = unpack_shards(folder, out, progress=bar_wanted())
    click.echo(f"{written}: {read_manifest(folder).samples:,} files, in one folder for each class.")


@shards.command()
@click.argument("folder", type=_FOLDER)
@click.option("--split", required=True, help="Which split the samples are.")
@click.option("--extension", help="Which member is the payload, where there are several.")
@click.option("--classes", help="Names of the classes in the order of their labels, with commas.")
def index(folder: Path, split: str, extension: str | None, classes: str | None) -> None:
    """Index tar shards that another tool wrote, in place, so that they can be read and verified as a set.

    \b
    Example:
      course shards index their_shards --split train --classes cat,dog
    """
    from course_lib.shards import index_foreign

    names = None if classes is None else [name.strip() for name in classes.split(",")]
    print_set(index_foreign(folder, split=split, extension=extension, class_names=names), folder)


def _packed_from(manifest: ShardSetManifest) -> tuple[str, str]:
    """Return what a manifest tells of its pack: the table's variant, and "generated" where it is; else ""."""
    variant, made, _ = manifest.variant.partition("generated-")
    table = variant.rstrip("-") if manifest.dataset == "bank_marketing" else ""
    return table, "generated" if made else ""


def _as_dict(result: ShardVerification) -> dict[str, object]:
    return {
        "schema_version": 1,
        "folder": str(result.folder),
        "ok": result.ok,
        "samples": result.samples,
        "bytes_read": result.bytes_read,
        "digest": result.manifest.digest if result.manifest else None,
        "findings": [
            {
                "kind": found.kind,
                "shard": found.shard,
                "sample_id": found.sample_id,
                "sentence": found.sentence,
            }
            for found in result.findings
        ],
    }


def _print_verification(result: ShardVerification) -> None:
    from course_lib.units import format_bytes

    for found in result.findings[:_LISTED]:
        click.echo(found.sentence)
    if len(result.findings) > _LISTED:
        kinds = Counter(found.kind for found in result.findings)
        listed = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
        click.echo(f"... {len(result.findings):,} findings in all: {listed}; --json lists each.")
    samples = f"{result.samples:,} samples"
    if not result.ok and result.manifest is not None:
        samples = f"{result.samples:,} of {result.manifest.samples:,} samples found"
    read = f"{samples}, {format_bytes(result.bytes_read)} read"
    if result.ok and result.manifest is None:
        click.echo("There is no shards.json to compare with: what only checksums show was not looked for.")
    click.echo(f"Nothing is wrong: {read}." if result.ok else f"The shard set is faulty: {read}.")
    for step in _next_steps(result):
        click.echo(step)


def _next_steps(result: ShardVerification) -> Iterator[str]:
    from course_lib.shards.repair import is_repairable

    if is_repairable(result):
        quoted = f'"{result.folder}"' if " " in str(result.folder) else str(result.folder)
        yield f"`course shards repair {quoted}` writes damaged and missing files anew."
    extra = [found.shard for found in result.of_kind("extra shard")]
    if extra:
        more = f" and {len(extra) - 1:,} more" if extra[1:] else ""
        yield f"A repair removes nothing: move {extra[0]}{more} out of the folder yourself."
