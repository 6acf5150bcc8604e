"""environment.yml, pyproject.toml, course.py and the doctor agree on what the workbook needs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from course_lib.experiments import environment
from course_lib.experiments.machine import PACKAGE

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def declared() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    return content


@pytest.fixture(scope="module")
def course_py() -> ModuleType:
    spec = importlib.util.spec_from_file_location("course_py", ROOT / "course.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def conda_packages(declared: dict[str, Any]) -> dict[str, Requirement]:
    specs = [Requirement(entry) for entry in declared["dependencies"] if isinstance(entry, str)]
    return {spec.name: spec for spec in specs}


def test_conda_brings_python_and_pip_alone_and_pip_the_workbook(declared: dict[str, Any]) -> None:
    assert set(conda_packages(declared)) == {"python", "pip"}
    assert [entry["pip"] for entry in declared["dependencies"] if isinstance(entry, dict)] == [["-e ."]]
    assert declared["channels"] == ["conda-forge"]
    assert re.search(
        rf'^name = "{declared["name"]}"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M
    )


def test_pythons_agree(declared: dict[str, Any], course_py: ModuleType) -> None:
    of_package = SpecifierSet(importlib.metadata.metadata(PACKAGE)["Requires-Python"])
    of_conda = conda_packages(declared)["python"].specifier
    for minor in range(6, 20):
        version = f"3.{minor}.1"
        accepted = course_py.OLDEST <= (3, minor) <= course_py.NEWEST
        assert of_conda.contains(version) == accepted
        assert of_package.contains(version) or not accepted
    assert (environment.OLDEST_PYTHON, environment.NEWEST_PYTHON) == (course_py.OLDEST, course_py.NEWEST)


def test_pip_is_new_enough_for_an_editable_folder(declared: dict[str, Any], course_py: ModuleType) -> None:
    wanted = re.search(r'"pip(>=[\d.]+)"', (ROOT / "course.py").read_text(encoding="utf-8"))
    assert wanted is not None
    assert conda_packages(declared)["pip"].specifier == SpecifierSet(wanted[1])


def test_installed_packages_are_those_of_pyproject() -> None:
    """What pip installed from pyproject.toml is what the doctor compares with."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^dependencies = \[(.*?)^\]", text, re.M | re.S)
    assert block is not None
    in_pyproject = {str(Requirement(line)) for line in re.findall(r'"(.+)"', block[1])}
    installed = {
        str(requirement)
        for requirement in map(Requirement, importlib.metadata.requires(PACKAGE) or [])
        if requirement.marker is None
    }
    assert installed == in_pyproject
