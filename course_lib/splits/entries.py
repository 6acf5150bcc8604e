"""The entries of ``split.json``, and the digest over those that count.

The digest is the SHA-256 of the canonical JSON (keys sorted, no blanks, UTF-8) of the entries in
`_UNDER_DIGEST`, among them the SHA-256 of ``samples.csv``. So it depends on the contents alone: not on the
order of the samples, the time, a path, or how ``split.json`` is laid out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.splits.given import shown
from course_lib.splits.lines import not_a_manifest

SAMPLES_FILE, SPLIT_FILE = "samples.csv", "split.json"
SCHEMA_VERSION = 1
_UNDER_DIGEST = (
    "schema_version", "dataset", "variant", "recipe", "seed", "splits", "counts", "samples_sha256",
    "data_sha256",
)  # fmt: skip


def read_split_json(folder: Path) -> dict[str, Any]:
    """Return the entries of ``split.json``: presence and types are checked, the digest is not."""
    path = Path(folder) / SPLIT_FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CourseError(
            f"{folder} holds no split manifest",
            expected=f"{SPLIT_FILE} and {SAMPLES_FILE}",
            found=f"{SPLIT_FILE}: {error.strerror}",
            next_step="name the folder that `course split make` wrote",
        ) from error
    except (ValueError, RecursionError) as error:
        # RecursionError: brackets within brackets, thousands deep.
        raise not_a_manifest(path, "no JSON in UTF-8") from error
    version = content.get("schema_version") if isinstance(content, dict) else None
    if type(version) is not int or version != SCHEMA_VERSION:
        raise CourseError(
            f"{path} has a layout that this workbook cannot read",
            expected=f"schema_version {SCHEMA_VERSION}",
            found=shown(version),
            next_step="update the workbook, or make the split anew",
        )
    texts = ("dataset", "variant", "recipe", "samples_sha256", "data_sha256", "digest", "id_kind", "origin")
    usable = (
        all(isinstance(content.get(key), str) for key in texts)
        and all(_is_text_list(content.get(key)) for key in ("splits", "notes"))
        and all(content[key].isprintable() for key in ("dataset", "variant"))
        and type(content.get("seed")) is int
        and _are_counts(content.get("counts"), content["splits"])
    )
    if not usable:
        raise not_a_manifest(path, "entries that are missing or of another type")
    return content


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the digest over the entries of a ``split.json`` that count."""
    counted = {key: content[key] for key in _UNDER_DIGEST}
    canonical = json.dumps(counted, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _are_counts(value: object, splits: list[str]) -> bool:
    return (
        isinstance(value, dict)
        and list(value) == splits
        and all(
            isinstance(classes, dict) and all(type(size) is int and size >= 0 for size in classes.values())
            for classes in value.values()
        )
    )
