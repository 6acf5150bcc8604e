"""Where data came from, in a form that every table, figure and record can carry."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

OriginKind = Literal["official", "mirror", "generated"]


@dataclass(frozen=True)
class Origin:
    """Where one loaded data set came from.

    Attributes
    ----------
    kind : {"official", "mirror", "generated"}
        Downloaded from its publisher, read from the ``COURSE_DATA`` folder, or made here from a seed.
    dataset, variant : str
        Name of the data set under ``data_manifests/``, and its variant ("" where there is one only).
    sample_count : int
        Samples that were loaded.
    sha256 : str
        64 hexadecimal digits: the file's digest, or for generated data the digest of its contents.
    seed : int or None
        The seed of generated data; None for the other kinds.
    """

    kind: OriginKind
    dataset: str
    variant: str
    sample_count: int
    sha256: str
    seed: int | None = None

    def label(self) -> str:
        """Return the one line that stands on figures and tables made from this data.

        Examples
        --------
        >>> Origin("generated", "bank_marketing", "full", 1200, "ab" * 32, 7).label()
        'Data: bank_marketing (full), generated from seed 7, 1,200 samples'
        """
        name = f"{self.dataset} ({self.variant})" if self.variant else self.dataset
        source = {
            "official": "official download, digest checked",
            "mirror": "mirror folder, digest checked",
            "generated": f"generated from seed {self.seed}",
        }[self.kind]
        return f"Data: {name}, {source}, {self.sample_count:,} samples"

    def as_dict(self) -> dict[str, str | int | None]:
        """Return the origin as plain values for a record."""
        return asdict(self)
