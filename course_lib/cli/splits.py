"""``course split``: make, show, verify and compare the manifests that say which sample was where."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from course_lib.cli.output import print_json, print_table, visible
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.datasets.origin import Origin
    from course_lib.splits.files import SplitManifest
    from course_lib.splits.samples import SampleTable

DIFFERENT = 1
_LISTED = 20
_FOLDER = click.Path(path_type=Path)


@click.group()
def split() -> None:
    """Say which sample belongs to which split, and prove it tomorrow.

    \b
    Example:
      course split make bank_marketing --recipe ordered-70-15-15
    """


@split.command()
@click.argument("name")
@click.option(
    "--recipe",
    "recipe_text",
    required=True,
    help="A kind and shares in percent, such as ordered-70-15-15, stratified-70-15-15 or official-90-10.",
)
@click.option("--variant", default="", help="Which of the data set's tables; the first one where left out.")
@click.option("--seed", type=int, help="Another number gives another split; 2026 where left out.")
@click.option("--out", type=_FOLDER, help="A new folder for it; the workbook's own place where left out.")
@click.option("--allow-missing-classes", is_flag=True, help="Accept a split without a sample of some class.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def make(
    name: str,
    recipe_text: str,
    variant: str,
    seed: int | None,
    out: Path | None,
    allow_missing_classes: bool,
    as_json: bool,
) -> None:
    """Split a data set by a recipe and write samples.csv and split.json.

    \b
    Example:
      course split make bank_marketing --recipe ordered-70-15-15
      course split make cifar10 --recipe official-90-10 --seed 7 --out my_split
    """
    from course_lib.datasets.samples import load_samples
    from course_lib.splits import make_split, parse_recipe, split_folder, write_split
    from course_lib.splits.locking import is_committed

    recipe = parse_recipe(recipe_text, seed)
    samples, origin = load_samples(name, variant)
    made = make_split(samples, recipe, allow_missing_classes=allow_missing_classes)
    folder = out or split_folder(samples.dataset, samples.variant, recipe)
    described = (
        f"data generated from seed {origin.seed}" if origin.kind == "generated" else "the published data"
    )
    manifest = write_split(made, folder, origin=described)
    committed = is_committed(manifest)
    if as_json:
        print_json({**_as_dict(manifest), "data": origin.as_dict(), "equals_committed": committed})
        return
    _print_manifest(manifest)
    click.echo(origin.label())
    if committed is not None:
        click.echo(
            "It equals the split that comes with the workbook."
            if committed
            else "It is NOT the split that comes with the workbook for these very data."
        )


@split.command()
@click.argument("folder", type=_FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def show(folder: Path, as_json: bool) -> None:
    """Show what a split manifest says, after verifying its digest.

    \b
    Example:
      course split show my_split
    """
    from course_lib.splits import read_split

    manifest = read_split(folder)
    if as_json:
        print_json(_as_dict(manifest))
        return
    _print_manifest(manifest)


@split.command()
@click.argument("folder", type=_FOLDER)
@click.option("--variant", help="Of the data, where it is not the one that the manifest names.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of sentences.")
def verify(folder: Path, variant: str | None, as_json: bool) -> None:
    """Verify a split manifest against the data and its recipe; ends with status 1 where they differ.

    \b
    Example:
      course split verify my_split
    """
    from course_lib.splits import read_split, verify_split

    manifest = read_split(folder)
    samples, origin = _samples_of(manifest, variant)
    result = verify_split(manifest, samples)
    if as_json:
        listed = ("missing", "unexpected", "changed", "misplaced")
        print_json(
            {
                "schema_version": 1,
                "ok": result.ok,
                "digest": manifest.digest,
                **{kind: list(getattr(result, kind)) for kind in listed},
                "sentences": list(result.sentences),
                "data": origin.as_dict(),
            }
        )
    else:
        for sentence in result.sentences:
            click.echo(visible(sentence))
        click.echo(origin.label())
        if origin.kind == "generated" and "generated-" not in manifest.variant:
            word = f"course data fetch {manifest.dataset}"
            click.echo(f"The manifest is of published data, which are not here: `{word}` gets them.")
    if not result.ok:
        sys.exit(DIFFERENT)


@split.command()
@click.argument("first", type=_FOLDER)
@click.argument("second", type=_FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def diff(first: Path, second: Path, as_json: bool) -> None:
    """List what differs between two split manifests, by id; ends with status 1 where something does.

    \b
    Example:
      course split diff my_split the_other
    """
    from course_lib.splits import diff_splits, read_split

    manifests = read_split(first), read_split(second)
    result = diff_splits(*manifests)
    kinds = {f"from {old} to {new}": ids for (old, new), ids in result.moved.items()}
    kinds |= {
        "only in the second": result.added,
        "only in the first": result.removed,
        "changed": result.changed,
    }
    if as_json:
        print_json(
            {
                "schema_version": 1,
                "same": result.same,
                "moved": [
                    {"from": old, "to": new, "ids": list(ids)} for (old, new), ids in result.moved.items()
                ],
                **{kind: list(getattr(result, kind)) for kind in ("added", "removed", "changed")},
            }
        )
    elif result.same:
        compared = all(manifest.sample_digests is not None for manifest in manifests)
        click.echo(f"Every sample is in both, in the same split{' and with the same digest' * compared}.")
        if not compared:
            click.echo("Contents were not compared, as one side has no digests of them.")
    else:
        print_table(
            ("What", "Samples", "Ids"),
            [
                (what, f"{len(ids):,}", ", ".join(ids[:_LISTED]) + (", ..." if len(ids) > _LISTED else ""))
                for what, ids in kinds.items()
                if ids
            ],
        )
    if not result.same:
        sys.exit(DIFFERENT)


@split.command()
@click.argument("folder", type=_FOLDER)
@click.option("--out", type=_FOLDER, help="The Croissant file; croissant.json in the folder where left out.")
def export(folder: Path, out: Path | None) -> None:
    """Write a split manifest as Croissant splits, which other tools read.

    \b
    Example:
      course split export my_split
    """
    from course_lib.splits import export_croissant, read_split

    manifest = read_split(folder)
    target = out or folder / "croissant.json"
    if os.path.lexists(target) and not _is_croissant(target):
        raise CourseError(
            f"{target} is there already, and is no Croissant file",
            expected="a new file, or one that an export wrote",
            next_step="name another one",
        )
    click.echo(visible(str(export_croissant(manifest, target))))


def _is_croissant(file: Path) -> bool:
    """Tell whether a file says of itself that it is Croissant metadata: only such a file is written over."""
    if not file.is_file():
        return False
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "croissant" in str(content.get("conformsTo"))


def _samples_of(manifest: SplitManifest, variant: str | None) -> tuple[SampleTable, Origin]:
    """Load the data that a manifest is about; its variant also tells how the data were made."""
    from course_lib.datasets.samples import load_samples
    from course_lib.manifests.reading import variant_names

    if variant is None:
        fitting = [
            known
            for known in variant_names(manifest.dataset)
            if manifest.variant == known or manifest.variant.startswith(f"{known}-")
        ]
        variant = fitting[0] if fitting else ""
    generated = "generated-" in manifest.variant
    return load_samples(manifest.dataset, variant, source="generated" if generated else "auto")


def _as_dict(manifest: SplitManifest) -> dict[str, object]:
    return {
        "schema_version": 1,
        "folder": str(manifest.folder),
        "dataset": manifest.dataset,
        "variant": manifest.variant,
        "recipe": str(manifest.recipe),
        "seed": manifest.recipe.seed,
        "sample_count": len(manifest),
        "counts": manifest.counts,
        "digest": manifest.digest,
        "data_digest": manifest.data_digest,
        "id_kind": manifest.id_kind,
        "origin": manifest.origin,
        "notes": list(manifest.notes),
    }


def _print_manifest(manifest: SplitManifest) -> None:
    classes = list(dict.fromkeys(label for counts in manifest.counts.values() for label in counts))
    print_table(
        ("Split", "Samples", *classes),
        [
            (name, f"{sum(counts.values()):,}", *(f"{counts.get(label, 0):,}" for label in classes))
            for name, counts in manifest.counts.items()
        ],
    )
    about = f"{manifest.title} by {manifest.recipe} (seed {manifest.recipe.seed}); ids: {manifest.id_kind}"
    made_from = f"Made from {manifest.origin}." if manifest.origin else ""
    place = f"Folder {manifest.folder}"
    for line in (about, *manifest.notes, made_from, f"Digest {manifest.digest}", place):
        if line:
            click.echo(visible(line))
