"""Cases, keys and verdicts that were cut short or edited: a sentence names the file."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.leakage.custody import Bench, class_set, judge_verdicts
from course_lib.leakage.custody.case import make_case, open_case

DEEP = b"[" * 100_000
JSON_DAMAGE = [b"", b"{", b"[]", b"null", b"{}", DEEP, b"\xef\xbb\xbf{}", b"\xff\xfe"]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    for form in ("calls", "news", "pictures"):
        make_case(5, kind="clean", form=form, folder=folder / form)
    return folder


@pytest.fixture
def copied(cases: Path, tmp_path: Path) -> Callable[[str], Path]:
    return lambda form: Path(shutil.copytree(cases / form, tmp_path / form))


def use_every_tool(folder: Path) -> list[str]:
    """Return what the tools refused; whatever is not a CourseError comes through."""
    refused = []
    try:
        case = open_case(folder, budget=99)
    except CourseError as error:
        return [str(error)]
    for tool in case.tools:
        try:
            case.inspect(tool)
        except CourseError as error:
            refused.append(str(error))
    return refused


@pytest.mark.parametrize("damage", JSON_DAMAGE)
@pytest.mark.parametrize("name", ["case.json", "loader.json", "statistics.json"])
def test_damaged_json_of_a_case_is_told_by_name(
    copied: Callable[[str], Path], name: str, damage: bytes
) -> None:
    folder = copied("calls")
    (folder / name).write_bytes(damage)
    refused = use_every_tool(folder)
    assert refused
    assert any(name in sentence for sentence in refused) or "no statistic" in refused[0]


@pytest.mark.parametrize(
    "value", [None, 5, [], {}, "x", {"x": "y"}, {"0": 1}, {"1": "a"}, {"0": "a", "1": "a"}]
)
def test_a_label_map_must_map_codes_to_names(copied: Callable[[str], Path], value: Any) -> None:
    folder = copied("calls")
    (folder / "loader.json").write_text(json.dumps({"label_map": value}), encoding="utf-8")
    assert any("loader.json" in sentence for sentence in use_every_tool(folder))
    about = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    (folder / "case.json").write_text(json.dumps({**about, "published_label_map": value}), encoding="utf-8")
    with pytest.raises(CourseError, match=r"case\.json is not as it belongs to a case"):
        open_case(folder)


@pytest.mark.parametrize(
    "value", [None, 5, [], "x", {"mean": None}, {"mean": [1]}, {"mode": 1}, {"mean": float("nan")}]
)
def test_statistics_must_be_figures_of_fields(copied: Callable[[str], Path], value: Any) -> None:
    folder = copied("calls")
    content = json.loads((folder / "statistics.json").read_text(encoding="utf-8"))
    for changed in ({**content, next(iter(content)): value}, {**content, "no_such_field": {"mean": 1.0}}):
        (folder / "statistics.json").write_text(json.dumps(changed), encoding="utf-8")
        assert any("statistics.json is not as it belongs" in sentence for sentence in use_every_tool(folder))


@pytest.mark.parametrize("form", ["calls", "news", "pictures"])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"",
        lambda text: text[: text.index(b"\n") + 1],
        lambda text: text[:4000],
        lambda text: b"\x00\xff" + text,
        lambda text: text.replace(b"sample_id", b"id", 1),
        lambda text: text.replace(b",", b',"', 1),
        lambda text: b"\n".join([*(lines := text.split(b"\n"))[:2], lines[1], *lines[2:]]),
    ],
    ids=["empty", "header", "cut", "no text", "column", "quote", "twice"],
)
def test_a_damaged_table_is_told_by_name(
    copied: Callable[[str], Path], form: str, change: Callable[[bytes], bytes]
) -> None:
    folder = copied(form)
    file = folder / "table.csv"
    file.write_bytes(change(file.read_bytes()))
    assert any("table.csv" in sentence or "pictures.npy" in sentence for sentence in use_every_tool(folder))


def test_a_part_without_samples_has_no_times(copied: Callable[[str], Path]) -> None:
    folder = copied("calls")
    file = folder / "split" / "samples.csv"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_bytes("".join(line for line in lines if ",test," not in line).encode())
    assert ("test", "none", "none") in open_case(folder).inspect("times").rows


@pytest.mark.parametrize("damage", ["empty", "cut", "fewer", "flat", "floats", "objects"])
def test_damaged_pictures_are_told_by_name(copied: Callable[[str], Path], damage: str) -> None:
    file = copied("pictures") / "pictures.npy"
    pictures = np.load(file)
    payload = io.BytesIO()
    changed = {
        "fewer": pictures[:-1],
        "flat": pictures.reshape(-1),
        "floats": pictures.astype(np.float32),
        "objects": np.array([{}, 1], dtype=object),
    }
    np.save(payload, changed.get(damage, pictures), allow_pickle=True)
    content = {"empty": b"", "cut": payload.getvalue()[:5000]}.get(damage, payload.getvalue())
    file.write_bytes(content)
    refused = use_every_tool(file.parent)
    assert refused
    assert all("pictures.npy is not as it belongs" in sentence for sentence in refused)


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return class_set(2, 9, tmp_path_factory.mktemp("class") / "cases")


@pytest.mark.parametrize("damage", JSON_DAMAGE)
def test_a_damaged_set_is_no_set(handed_out: Any, tmp_path: Path, damage: bytes) -> None:
    folder = Path(shutil.copytree(handed_out.folder, tmp_path / "cases"))
    (folder / "set.json").write_bytes(damage)
    with pytest.raises(CourseError, match="holds no set of cases"):
        Bench.opened(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"cases": []}, {"cases": 5}, {"cases": [1]}, {"cases": "case-01"}, {"cases": ["../elsewhere"]},
        {"cases": ["case-01", "case-01"]}, {"budget": None}, {"budget": "x"}, {"budget": -1}, {"set": None},
    ],
)  # fmt: skip
def test_an_edited_set_is_no_set(handed_out: Any, tmp_path: Path, change: dict[str, Any]) -> None:
    folder = Path(shutil.copytree(handed_out.folder, tmp_path / "cases"))
    about = json.loads((folder / "set.json").read_text(encoding="utf-8"))
    (folder / "set.json").write_text(json.dumps({**about, **change}), encoding="utf-8")
    with pytest.raises(CourseError, match="holds no set of cases"):
        Bench.opened(folder)


def verdicts_file(handed_out: Any, folder: Path, **entry: Any) -> Path:
    set_id = json.loads((handed_out.folder / "set.json").read_text(encoding="utf-8"))["set"]
    content = {"schema_version": 1, "set": set_id, "learner": "Ada", "verdicts": {"case-01": entry}}
    file = folder / "ada.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


@pytest.mark.parametrize("kind", [["clean"], {}, None, 5, True, "nonsense"])
def test_a_verdict_of_no_kind_is_refused(handed_out: Any, tmp_path: Path, kind: Any) -> None:
    with pytest.raises(CourseError, match="no usable verdict on case-01"):
        judge_verdicts(verdicts_file(handed_out, tmp_path, kind=kind), handed_out.key)


@pytest.mark.parametrize("evidence", [5, None, True, [1], [None], [["s-1"]]])
def test_evidence_without_names_is_refused(handed_out: Any, tmp_path: Path, evidence: Any) -> None:
    file = verdicts_file(handed_out, tmp_path, kind="class_missing", evidence=evidence)
    with pytest.raises(CourseError, match="no usable verdict on case-01: expected ids or names as text"):
        judge_verdicts(file, handed_out.key)


@pytest.mark.parametrize("damage", JSON_DAMAGE)
def test_a_damaged_file_of_verdicts_or_key_is_refused(handed_out: Any, tmp_path: Path, damage: bytes) -> None:
    damaged = tmp_path / "damaged.json"
    damaged.write_bytes(damage)
    with pytest.raises(CourseError, match=r"damaged\.json"):
        judge_verdicts(damaged, handed_out.key)
    with pytest.raises(CourseError, match=r"damaged\.json"):
        judge_verdicts(verdicts_file(handed_out, tmp_path, kind="clean"), damaged)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "nonsense"}, {"kind": ["clean"]}, {"kind": None}, {"evidence": None}, {"evidence": [1]},
        {"evidence": ["abc"]}, {"evidence": [[1]]}, {"evidence": [[]]}, {"beside": 5}, {"beside": [[1]]},
        {"explanation": None},
    ],
)  # fmt: skip
def test_an_edited_key_judges_nobody(handed_out: Any, tmp_path: Path, change: dict[str, Any]) -> None:
    key = json.loads(handed_out.key.read_text(encoding="utf-8"))
    key["cases"]["case-01"] |= change
    edited = tmp_path / "key.json"
    edited.write_text(json.dumps(key), encoding="utf-8")
    with pytest.raises(CourseError, match=r"key\.json is no whole key"):
        judge_verdicts(verdicts_file(handed_out, tmp_path, kind="class_missing", evidence=["a"]), edited)


@pytest.mark.parametrize("cases", [None, [], {}, "x", 5])
def test_a_key_without_cases_is_no_key(handed_out: Any, tmp_path: Path, cases: Any) -> None:
    key = json.loads(handed_out.key.read_text(encoding="utf-8"))
    edited = tmp_path / "key.json"
    edited.write_text(json.dumps({**key, "cases": cases}), encoding="utf-8")
    with pytest.raises(CourseError, match=r"key\.json is no whole key"):
        judge_verdicts(verdicts_file(handed_out, tmp_path, kind="clean"), edited)
