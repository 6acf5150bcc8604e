"""What a data manifest says: files, fields, and the moments at which values become known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from course_lib.errors import CourseError

DataType = Literal["text", "integer", "float", "image"]
Role = Literal["feature", "label"]


@dataclass(frozen=True)
class Moment:
    """A point in time at which a decision can be taken; moments are kept in their order in time."""

    id: str
    title: str


@dataclass(frozen=True)
class Field:
    """One column of a table, or one part of a sample.

    Attributes
    ----------
    name : str
        The column's name as published.
    data_type : {"text", "integer", "float", "image"}
        How the value is stored.
    unit : str
        Unit of a number, "" for what has none.
    description : str
        What the value means.
    known_at : str
        Id of the first moment at which the value is known.
    doubt : str
        Why the value may not be known, or not be the same, at its own moment; "" where there is no doubt.
    role : {"feature", "label"}
        Whether it may describe a sample or is what is to be predicted.
    values : tuple of str
        Every value of a category; empty for everything else.
    """

    name: str
    data_type: DataType
    unit: str
    description: str
    known_at: str
    doubt: str
    role: Role
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class PublishedFile:
    """A file as its publisher or a mirror offers it.

    Attributes
    ----------
    name : str
        The file's name, which is its ``@id`` in the manifest too.
    url : str
        Where its publisher offers it; "" for a file that only a mirror has.
    sha256 : str
        Digest of its bytes, 64 hexadecimal digits.
    bytes : int
        Its size.
    mirror_path : str
        Its place in a mirror folder, with forward slashes; "" where a mirror has none.
    licence_note : str
        What to know about the licence of this very file; "" where the data set's licence says it all.
    """

    name: str
    url: str
    sha256: str
    bytes: int
    mirror_path: str
    licence_note: str = ""


@dataclass(frozen=True)
class MemberFile:
    """A file inside a published archive: ``path`` is its place in the archive ``contained_in``."""

    name: str
    contained_in: str
    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class PreparedFile:
    """A file that the workbook makes out of a member, because other tools can read this form only.

    ``name`` is its file name, ``prepared_from`` the member's; the digest is that of the finished file.
    """

    name: str
    prepared_from: str
    sha256: str
    bytes: int


_File = TypeVar("_File", PublishedFile, MemberFile)


@dataclass(frozen=True)
class DataManifest:
    """What is known about one variant of a data set, without any of its data.

    Attributes
    ----------
    name, variant : str
        Folder under ``data_manifests/``, and which of its tables; "" where there is one only.
    title, licence, citation, url : str
        As the publisher gives them.
    files : tuple of PublishedFile
        What can be downloaded or lie in a mirror folder.
    members : tuple of MemberFile
        What lies inside those files.
    prepared : tuple of PreparedFile
        What the workbook makes out of members.
    fields : tuple of Field
        In the order of the columns.
    moments : tuple of Moment
        In the order of time.
    label_map : mapping of str to int
        Code of each class, in the order of the codes.
    record_set : str
        ``@id`` of the record set in the Croissant file.
    """

    name: str
    variant: str
    title: str
    licence: str
    citation: str
    url: str
    files: tuple[PublishedFile, ...]
    members: tuple[MemberFile, ...]
    prepared: tuple[PreparedFile, ...]
    fields: tuple[Field, ...]
    moments: tuple[Moment, ...]
    label_map: Mapping[str, int]
    record_set: str

    @property
    def title_with_variant(self) -> str:
        """Return the name that errors and tables use, such as ``bank_marketing (full)``."""
        return f"{self.name} ({self.variant})" if self.variant else self.name

    @property
    def field_names(self) -> tuple[str, ...]:
        """Return the names of all fields in the order of the columns."""
        return tuple(field.name for field in self.fields)

    @property
    def label_field(self) -> Field:
        """Return the field that is to be predicted."""
        return next(field for field in self.fields if field.role == "label")

    def field(self, name: str) -> Field:
        """Return the field called ``name``; a CourseError lists the fields when there is none."""
        for field in self.fields:
            if field.name == name:
                return field
        raise CourseError(
            f"The manifest of {self.title_with_variant} describes no field {name!r}",
            expected="one of " + ", ".join(self.field_names),
            next_step="correct the name, or describe the field in the manifest",
        )

    def moment(self, moment_id: str) -> Moment:
        """Return the moment called ``moment_id``; a CourseError lists the moments when there is none."""
        for moment in self.moments:
            if moment.id == moment_id:
                return moment
        raise CourseError(
            f"The manifest of {self.title_with_variant} knows no moment {moment_id!r}",
            expected="one of " + ", ".join(moment.id for moment in self.moments),
            next_step="choose one of these",
        )

    def published_file(self, name: str) -> PublishedFile:
        """Return the published file called ``name``; a CourseError lists the files when there is none."""
        return self._file(self.files, name)

    def member(self, name: str) -> MemberFile:
        """Return the archived file called ``name``; a CourseError lists the files when there is none."""
        return self._file(self.members, name)

    def _file(self, files: tuple[_File, ...], name: str) -> _File:
        for file in files:
            if file.name == name:
                return file
        raise CourseError(
            f"The manifest of {self.title_with_variant} describes no file {name!r}",
            expected="one of " + ", ".join(file.name for file in files),
            next_step="choose one of these",
        )
