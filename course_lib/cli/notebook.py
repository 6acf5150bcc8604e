"""``course notebook``: a clean copy of a lesson's notebook."""

from __future__ import annotations

import subprocess
from pathlib import Path

import click

from course_lib.errors import CourseError


@click.group()
def notebook() -> None:
    """Get a clean copy of a changed or damaged notebook.

    \b
    Example:
      course notebook restore 01
    """


@notebook.command()
@click.argument("lesson")
def restore(lesson: str) -> None:
    """Write the notebook as it was published beside yours, which is left as it is.

    The published one is taken from the workbook's git history; a folder that was not cloned has none.

    \b
    Example:
      course notebook restore 01
    """
    from course_lib.files import write_atomically

    published = _published_notebooks()
    name = _name_of(lesson, published)
    content = _git("show", f"HEAD:./notebooks/{name}")
    target = _free_name(name)
    write_atomically(target, content)
    click.echo(f"{target} is notebooks/{name} as it was published; your own file is unchanged.")


def _published_notebooks() -> tuple[str, ...]:
    listed = _git("ls-tree", "--name-only", "HEAD", "./notebooks/").decode("utf-8").splitlines()
    return tuple(Path(line).name for line in listed if line.endswith(".ipynb"))


def _name_of(lesson: str, published: tuple[str, ...]) -> str:
    """Look among the published notebooks: the learner's own may be gone."""
    number = lesson.strip().removesuffix(".ipynb")
    for name in published:
        if name.startswith(number.zfill(2) + "_") or name == f"{number}.ipynb":
            return name
    raise CourseError(
        f"There is no published notebook for lesson {lesson}",
        expected="one of " + ", ".join(name.partition("_")[0] for name in published),
        next_step="choose one of these",
    )


def _free_name(name: str) -> Path:
    from course_lib.paths import notebooks_folder

    stem = name.removesuffix(".ipynb")
    candidates = (f"{stem}.restored{number}.ipynb" for number in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(path for path in map(notebooks_folder().joinpath, candidates) if not path.exists())


def _git(*arguments: str) -> bytes:
    from course_lib.paths import workbook_root

    try:
        answer = subprocess.run(
            ["git", "-C", str(workbook_root()), *arguments], capture_output=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CourseError(
            "The published notebooks cannot be read from the workbook's git history",
            found=getattr(error, "stderr", b"").decode("utf-8", "replace").strip() or str(error),
            next_step="get the workbook's folder once more beside this one, and copy the notebook from there",
        ) from error
    return answer.stdout
