"""AG News through Hugging Face ``datasets``: short news articles under four topics."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.datasets.downloads import data_folder
from course_lib.datasets.generated_text import JOIN, Part, generate_news
from course_lib.datasets.origin import Origin
from course_lib.datasets.settings import Source
from course_lib.datasets.sources import FileKind, FoundFile, find_data_set
from course_lib.datasets.subsets import checked_count, checked_part, checked_seed, spread_over_classes
from course_lib.errors import CourseError
from course_lib.files import cannot_write, sha256_file, write_atomically
from course_lib.manifests import DataManifest, load_manifest

if TYPE_CHECKING:
    import datasets

NAME = "ag_news"
DEFAULT_GENERATED_COUNTS: dict[Part, int] = {"train": 10_000, "test": 7_600}
LARGEST_GENERATED_COUNT = 1_000_000
TEST_TABLE_WITH_HEADER = "test.header.csv"
_HEADER = b"label,title,description\n"
_SAMPLE_FILE = "train_sample_10000.csv"
_FILES: dict[tuple[FileKind, Part], str] = {
    ("mirror", "train"): _SAMPLE_FILE,
    ("mirror", "test"): "test.csv",
    ("official", "train"): "train.csv",
    ("official", "test"): "test.csv",
}
_ID_PREFIXES = {_SAMPLE_FILE: "sample", "train.csv": "train", "test.csv": "test"}


@dataclass(frozen=True)
class TextSet:
    """One part of AG News with its manifest and where it came from.

    Attributes
    ----------
    dataset : datasets.Dataset
        Columns ``text`` (title and description), ``label`` (0 to 3, with the topics' names) and
        ``sample_id``, such as ``test-000042``: the row of the file that it came from. Ids of the
        mirror's training sample begin with ``sample``, for its rows are not the publisher's.
    origin : Origin
        Publisher, mirror or seed.
    manifest : DataManifest
        What the fields mean and when each is known.
    """

    dataset: datasets.Dataset
    origin: Origin
    manifest: DataManifest


def load_ag_news(
    part: Part = "train",
    *,
    source: Source = "auto",
    sample_count: int | None = None,
    seed: int = 2026,
) -> TextSet:
    """Load one part of AG News.

    The text of every row is ``title + " . " + description``, as in the mirror's training sample; all
    other characters stay as they were published, backslashes and left-over markup too.

    Parameters
    ----------
    part : {"train", "test"}, optional
        Which part. The mirror has 10,000 rows of the 120,000 for training, and all 7,600 for testing.
    source : {"auto", "official", "mirror", "generated"}, optional
        Where from; "auto" takes what the learner chose, else what is there, else generates.
    sample_count : int, optional
        Rows wanted. Generated data get that many (10,000 and 7,600 are usual); of real data as many
        are picked by ``seed``, evenly over the topics. Without it all real rows are loaded.
    seed : int, optional
        Seed of generated data and of picking.

    Returns
    -------
    TextSet

    Raises
    ------
    CourseError
        When the chosen source is not there or damaged, for more rows than there are, and when there
        is no room for temporary files.
    """
    checked_part(part)
    checked_seed(seed)
    manifest = load_manifest(NAME)
    found = find_data_set(manifest, source=source)
    if found is None:
        count = checked_count(sample_count, LARGEST_GENERATED_COUNT) or DEFAULT_GENERATED_COUNTS[part]
        return _generated(part, manifest, count, seed)
    checked_count(sample_count)
    kind = next(iter(found.values())).kind
    name = _FILES[kind, part]
    dataset = _read(found[name], name, manifest)
    picked = spread_over_classes(np.asarray(dataset["label"]), sample_count, seed, NAME)
    if sample_count is not None:
        dataset = dataset.select(picked)
    return TextSet(dataset, Origin(kind, NAME, "", len(dataset), found[name].sha256), manifest)


def prepare_for_croissant(*, source: Source = "auto") -> dict[str, Path]:
    """Make the test table with a header line, which Croissant readers need.

    The rest of the file stays as it was published. It is made once, under the course's home, and its
    digest is checked on every call.

    Parameters
    ----------
    source : {"auto", "official", "mirror"}, optional
        Where the published table comes from.

    Returns
    -------
    dict of str to Path
        ``@id`` of each file to its place, as :func:`course_lib.manifests.croissant_records` takes it;
        the training sample is among them when the source is a mirror.

    Raises
    ------
    CourseError
        When the published files are not here or damaged, and when the file cannot be written.
    """
    manifest = load_manifest(NAME)
    found = find_data_set(manifest, source=source)
    if found is None:
        raise CourseError(
            "The published files of AG News are not on this machine",
            next_step=f"run `course data fetch {NAME}` or set COURSE_DATA",
        )
    (prepared,) = (file for file in manifest.prepared if file.name == TEST_TABLE_WITH_HEADER)
    path = data_folder(NAME) / "prepared" / prepared.name
    if not path.is_file() or sha256_file(path) != prepared.sha256:
        write_atomically(path, _HEADER + found["test.csv"].path.read_bytes())
    return {prepared.name: path} | {name: file.path for name, file in found.items() if name == _SAMPLE_FILE}


def _generated(part: Part, manifest: DataManifest, count: int, seed: int) -> TextSet:
    topics = list(manifest.label_map)
    news = generate_news(part, topics, count, seed)
    with _quiet_library() as library:
        dataset = library.Dataset.from_dict(
            {
                "text": news.texts,
                "label": news.labels,
                "sample_id": [f"{part}-{row:06d}" for row in range(count)],
            },
            features=_features(topics),
        )
    return TextSet(dataset, Origin("generated", NAME, "", count, news.sha256, seed), manifest)


def _read(file: FoundFile, name: str, manifest: DataManifest) -> datasets.Dataset:
    has_header = name == _SAMPLE_FILE
    # The library trusts its cached tables unseen, so they must not outlive the check of the file's digest.
    with _quiet_library() as library, _temporary_folder() as cache:
        text = library.Value("string")
        columns = {"text": text} if has_header else {"title": text, "description": text}
        try:
            published = library.load_dataset(
                "csv",
                data_files=str(file.path),
                split="train",
                cache_dir=cache,
                keep_in_memory=True,
                features=library.Features({"label": library.Value("int64"), **columns}),
                column_names=None if has_header else ["label", *columns],
                na_filter=False,
            )
            dataset = published.map(
                _as_text_and_label,
                batched=True,
                with_indices=True,
                fn_kwargs={"prefix": _ID_PREFIXES[name]},
                remove_columns=published.column_names,
                features=_features(list(manifest.label_map)),
                keep_in_memory=True,
            )
        except (OSError, library.exceptions.DatasetGenerationError) as error:
            raise cannot_write(Path(cache), _first_os_error(error)) from error
    return dataset


def _as_text_and_label(batch: dict[str, list[Any]], rows: list[int], *, prefix: str) -> dict[str, list[Any]]:
    if "text" in batch:
        texts = batch["text"]
    else:
        texts = [
            title + JOIN + description
            for title, description in zip(batch["title"], batch["description"], strict=True)
        ]
    return {
        "text": texts,
        "label": [published - 1 for published in batch["label"]],
        "sample_id": [f"{prefix}-{row:06d}" for row in rows],
    }


def _features(topics: list[str]) -> Any:
    with _quiet_library() as library:
        return library.Features(
            {
                "text": library.Value("string"),
                "label": library.ClassLabel(names=topics),
                "sample_id": library.Value("string"),
            }
        )


@contextlib.contextmanager
def _temporary_folder() -> Iterator[str]:
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="course-ag-news-", ignore_cleanup_errors=True)
            )
        except OSError as error:
            raise cannot_write(Path(error.filename or tempfile.gettempdir()), error) from error
        yield folder


@contextlib.contextmanager
def _quiet_library() -> Iterator[Any]:
    """Give the ``datasets`` library without telemetry, and without its progress bars in the block."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_UPDATE_DOWNLOAD_COUNTS", "0")
    import datasets

    had_bars = not datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield datasets
    finally:
        if had_bars:
            datasets.enable_progress_bars()


def _first_os_error(error: BaseException) -> OSError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return OSError(str(error))
