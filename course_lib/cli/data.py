"""``course data``: which data there are, where they come from, what their fields mean."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from course_lib.cli.output import print_json, print_table

if TYPE_CHECKING:
    from course_lib.manifests import DataManifest


@click.group()
def data() -> None:
    """See, fetch and understand the data sets.

    \b
    Example:
      course data status
      course data fetch bank_marketing
      course data show bank_marketing
    """


@data.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def status(as_json: bool) -> None:
    """Tell for each data set whether official, mirror or generated data would be used.

    \b
    Example:
      course data status
      COURSE_DATA=/media/stick/data course data status
    """
    from course_lib.datasets import data_status
    from course_lib.units import format_bytes

    statuses = data_status()
    if as_json:
        print_json({"schema_version": 1, "data": [asdict(one) for one in statuses]})
        return
    rows = [
        (
            one.dataset + (f" ({one.variant})" if one.variant else ""),
            one.source,
            format_bytes(one.bytes_on_disk) if one.bytes_on_disk else "-",
            one.detail + (f"\nPROBLEM: {one.problem}" if one.problem else ""),
        )
        for one in statuses
    ]
    print_table(("Data set", "Source", "On disk", "Why"), rows)


@data.command()
@click.argument("name")
def fetch(name: str) -> None:
    """Download a data set from its publisher and check every file by its digest.

    Files that are here already are only checked.

    \b
    Example:
      course data fetch bank_marketing
    """
    from course_lib.datasets import fetch as fetch_files
    from course_lib.manifests import load_manifest
    from course_lib.units import format_bytes

    manifest = load_manifest(name)
    for path in fetch_files(name):
        click.echo(f"{path}  {format_bytes(path.stat().st_size)}, digest checked")
    click.echo(f"Licence: {manifest.licence}")


@data.command()
@click.argument("name")
@click.option("--variant", default="", help="Which of its tables; the first one where left out.")
def show(name: str, variant: str) -> None:
    """Print a manifest to read: licence, citation, files, and when each field's value is known.

    \b
    Example:
      course data show bank_marketing --variant full
    """
    from course_lib.manifests import load_manifest, manifest_path, variant_names

    manifest = load_manifest(name, variant)
    click.echo(f"{manifest.title}: {manifest.title_with_variant}")
    for word, text in (
        ("Licence", manifest.licence),
        ("Citation", manifest.citation),
        ("Page", manifest.url),
        ("Variants", ", ".join(filter(None, variant_names(name)))),
        ("Manifest", str(manifest_path(name))),
        ("Moments", ", then ".join(f"{moment.id} ({moment.title})" for moment in manifest.moments)),
        ("Classes", ", ".join(f"{label} = {code}" for label, code in manifest.label_map.items())),
    ):
        if text:
            click.echo(textwrap.fill(f"{word}: {text}", 100, subsequent_indent="  ", break_long_words=False))
    print_table(("File", "Size", "SHA-256", "Licence note"), _file_rows(manifest))
    print_table(("Field", "Type", "Unit", "Known at", "Doubt"), _field_rows(manifest))


def _file_rows(manifest: DataManifest) -> list[tuple[str, ...]]:
    from course_lib.units import format_bytes

    return [
        (file.name, format_bytes(file.bytes), f"{file.sha256[:12]}...", file.licence_note)
        for file in manifest.files
    ]


def _field_rows(manifest: DataManifest) -> list[tuple[str, ...]]:
    return [
        (
            field.name + (" (label)" if field.role == "label" else ""),
            field.data_type,
            field.unit or "-",
            field.known_at,
            field.doubt or "-",
        )
        for field in manifest.fields
    ]
