"""Data manifests: what a data set is, where its files come from, and when each value is known.

A manifest is a Croissant 1.0 file under ``data_manifests/``; :func:`load_manifest` reads it at once, and
mlcroissant and pandas are loaded only by the functions that need them.
"""

from course_lib.manifests.croissant import croissant_records, validate_with_mlcroissant
from course_lib.manifests.model import (
    DataManifest,
    DataType,
    Field,
    MemberFile,
    Moment,
    PreparedFile,
    PublishedFile,
    Role,
)
from course_lib.manifests.reading import load_manifest, manifest_names, manifest_path, variant_names
from course_lib.manifests.tables import read_header, read_table

__all__ = [
    "DataManifest",
    "DataType",
    "Field",
    "MemberFile",
    "Moment",
    "PreparedFile",
    "PublishedFile",
    "Role",
    "croissant_records",
    "load_manifest",
    "manifest_names",
    "manifest_path",
    "read_header",
    "read_table",
    "validate_with_mlcroissant",
    "variant_names",
]
