"""``python -m course_lib.cli`` is the command ``course``."""

from course_lib.cli.main import main

if __name__ == "__main__":
    main()
