import subprocess
import sys

import pytest

import course_lib.datasets


@pytest.mark.parametrize("name", course_lib.datasets.__all__)
def test_each_public_name_is_there(name):
    assert getattr(course_lib.datasets, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="load_mnist"):
        course_lib.datasets.load_mnist  # noqa: B018


def test_importing_the_package_loads_nothing_heavy():
    heavy = {"torch", "numpy", "pandas", "json"}
    script = f"import sys; import course_lib.datasets; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
