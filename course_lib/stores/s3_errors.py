"""What went wrong with an S3-compatible server, in one sentence.

A server's answer may repeat access keys and signatures. Of its text only the status and the error's code word
are used, and the errors raised here carry no cause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from course_lib.errors import CourseError

_STATUS = re.compile(r"status code: (\d{3})\b")
_CODE = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")
_TRIES = re.compile(r"after (\d+) retries")


@dataclass(frozen=True)
class Trouble:
    """What is known of a failed request.

    Attributes
    ----------
    kind : str
        Name of the client's exception.
    status : int or None
        HTTP status; None where no answer came.
    code : str
        The code word of the server's error, such as ``"NoSuchBucket"``; "" where there is none.
    retries : int
        How often it was tried again.
    cause : str
        What the connection met, in words; "" where that is not known.
    """

    kind: str
    status: int | None
    code: str
    retries: int
    cause: str

    @property
    def missing(self) -> bool:
        """Whether the object or its bucket is not there."""
        return self.status == 404 or self.kind == "FileNotFoundError"

    @property
    def denied(self) -> bool:
        """Whether the server refused the credentials or the right."""
        return self.status in (401, 403) or self.kind in ("PermissionDeniedError", "UnauthenticatedError")

    @property
    def changed(self) -> bool:
        """Whether the object was no longer the one that was begun with."""
        return self.status == 412 or self.kind == "PreconditionError"

    @property
    def past_the_end(self) -> bool:
        """Whether the range begins after the object's end."""
        return self.status == 416

    @property
    def answer(self) -> str:
        """The server's answer in a few words."""
        words = f"status {self.status} {self.code}".rstrip() if self.status else self.cause
        tries = f", also after {self.retries:,} more tries" if self.retries else ""
        return words + tries


def trouble_of(error: Exception) -> Trouble:
    """Take from an exception of obstore what may be shown."""
    text = str(error)
    status, code, tries = _STATUS.search(text), _CODE.search(text), _TRIES.search(text)
    return Trouble(
        kind=type(error).__name__,
        status=int(status[1]) if status else None,
        code=code[1] if code else "",
        retries=int(tries[1]) if tries else 0,
        cause=_cause(text),
    )


def _cause(text: str) -> str:
    words = text.lower()
    if "dns error" in words:
        return "no such host"
    if "connectionrefused" in words or "connection refused" in words:
        return "connection refused"
    if "timedout" in words or "timed out" in words or "timeout" in words.replace("retry_timeout", ""):
        return "no answer in time"
    if "certificate" in words or "invalidcontenttype" in words:
        return "no secure connection"
    if "error sending request" in words or "http error" in words or "response body" in words:
        return "the connection broke off"
    return ""


def missing_bucket(bucket: str, where: str) -> CourseError:
    """Say that there is no such bucket."""
    return CourseError(
        f"There is no bucket {bucket!r} at {where}", next_step="check its name, or make the bucket first"
    )


def missing_object(what: str) -> CourseError:
    """Say that there is no such object."""
    return CourseError(f"{what} could not be read", found="no such object", next_step="check the name")


def changed_object(what: str) -> CourseError:
    """Say that an object was replaced between two parts of one read."""
    return CourseError(f"{what} changed while it was read", next_step="read it again once it is complete")


def short_object(what: str, start: int, length: int, there: int) -> CourseError:
    """Say that an object ends before a range does."""
    return CourseError(
        f"{what} ends too early",
        expected=f"{length:,} bytes from byte {start:,}",
        found=f"{there:,}",
        next_step="make or download it again",
    )


def sentence(trouble: Trouble, what: str, where: str, verb: str) -> CourseError:
    """Say what no other sentence here covers.

    Parameters
    ----------
    trouble : Trouble
    what, where : str
        The object or the store, and the server.
    verb : str
        What could not be done: ``"read"``, ``"written"``.
    """
    failed = f"{what} could not be {verb}"
    if trouble.denied:
        return CourseError(
            failed,
            found=f"access denied ({trouble.answer})" if trouble.status else "access denied",
            next_step="check the credentials in the environment and their rights to the bucket",
        )
    if trouble.kind in ("InvalidPathError", "ValueError"):
        return CourseError(
            failed,
            expected="names without empty parts, dots alone and control characters",
            found="one that has them",
            next_step="rename that object",
        )
    if trouble.status in (301, 307) or trouble.code in ("PermanentRedirect", "AuthorizationHeaderMalformed"):
        return CourseError(
            failed,
            found="the bucket lies in another region",
            next_step="set AWS_REGION to the bucket's region",
        )
    if trouble.status is None and not trouble.cause:
        return CourseError(
            failed,
            found=f"trouble of the kind {trouble.kind}",
            next_step="check the server's address and the AWS_ variables of the environment",
        )
    if trouble.status is None:
        return CourseError(
            failed,
            found=f"{where} is not reachable: {trouble.answer}",
            next_step="check that the server runs and that its address is right",
        )
    return CourseError(
        failed, found=f"the server's answer: {trouble.answer}", next_step="try again later, or ask its keeper"
    )
