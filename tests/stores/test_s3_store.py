"""A store over a bucket: its address, its sentences, its limits, and what it keeps to itself."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import socket
import time
import traceback
import urllib.request
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from scripted_s3 import Answer, Request, facts, failure, part_of, scripted_s3

from course_lib.errors import CourseError
from course_lib.stores import FolderStore, S3Store, open_store, s3_client

OPERATIONS = ("list", "stat", "read", "read_range", "write", "publish", "delete")


def act(store: S3Store, operation: str, name: str = "a/1.bin") -> object:
    arguments = {"list": (), "read_range": (name, 0, 1), "write": (name, b"x"), "publish": (name, b"x")}
    return getattr(store, operation)(*arguments.get(operation, (name,)))


def refused(store: S3Store, operation: str, name: str = "a/1.bin") -> CourseError:
    with pytest.raises(CourseError) as caught:
        act(store, operation, name)
    told = str(caught.value)
    assert "\n" not in told and "<" not in told and "Error {" not in told
    return caught.value


def put(store: S3Store, key: str, payload: bytes = b"") -> None:
    """Put an object past the store, under a key that the store itself would not make."""
    request = urllib.request.Request(f"{store.endpoint}/{store.bucket}/{key}", method="PUT", data=payload)
    urllib.request.urlopen(request, timeout=30).close()


@pytest.fixture
def credentials(s3_credentials: None) -> tuple[str, str]:
    return os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]


# What a bucket holds


def test_nothing_outside_the_prefix_is_seen(s3_store: S3Store) -> None:
    for key in ("pre/fixed/other.bin", "pre/fix.bin", "other/pre/fix/a.bin"):
        put(s3_store, key, b"x")
    s3_store.publish("in.bin", b"x")
    assert s3_store.list() == s3_store.list("in") == ["in.bin"]
    whole = S3Store(s3_store.bucket, endpoint=s3_store.endpoint)
    assert "pre/fix/in.bin" in whole.list("pre/fix") and "pre/fix.bin" in whole.list("pre/fix")
    assert len(whole.list()) == 6


def test_empty_objects_that_stand_for_folders_are_no_samples(s3_store: S3Store) -> None:
    for key in ("pre/fix/", "pre/fix/cat/", "pre/fix/cat/1.jpg"):
        put(s3_store, key, b"x" if key.endswith("jpg") else b"")
    assert s3_store.list() == s3_store.list("cat") == s3_store.list("cat/") == ["cat/1.jpg"]


def test_bucket_with_more_names_than_one_answer_holds_is_listed_whole(s3_store: S3Store) -> None:
    names = [f"{number:04}.bin" for number in range(1010)]
    for name in names:
        s3_store.write(name, b"")
    assert s3_store.list() == names
    assert s3_store.list("100") == names[1000:]


def test_object_whose_key_is_no_name_is_one_sentence(s3_store: S3Store) -> None:
    put(s3_store, "pre/fix/a//b.bin", b"x")
    assert "found one that has them; rename that object" in str(refused(s3_store, "list"))


@pytest.mark.parametrize("name", ["a\nb", "tab\t", "x" * 1020, "\udcff"])
def test_name_that_no_key_can_be_is_refused(s3_store: S3Store, name: str) -> None:
    for operation in OPERATIONS[1:]:
        assert "no name of an object in a bucket" in str(refused(s3_store, operation, name))


def test_removed_object_is_gone_and_may_be_removed_again(s3_store: S3Store) -> None:
    s3_store.publish("a.bin", b"x")
    for _ in range(2):
        s3_store.delete("a.bin")
    assert s3_store.list() == []
    assert "no such object" in str(refused(s3_store, "read", "a.bin"))


# One sentence for each trouble


@pytest.mark.parametrize("operation", OPERATIONS)
def test_missing_bucket_is_named(s3_store: S3Store, operation: str) -> None:
    store = S3Store("not-there", endpoint=s3_store.endpoint)
    told = str(refused(store, operation))
    assert told == (
        f"There is no bucket 'not-there' at {s3_store.endpoint}; check its name, or make the bucket first."
    )


@pytest.mark.parametrize("operation", ["stat", "read", "read_range"])
def test_missing_object_is_not_mistaken_for_a_missing_bucket(s3_store: S3Store, operation: str) -> None:
    assert str(refused(s3_store, operation)) == (
        f"s3://{s3_store.bucket}/pre/fix/a/1.bin could not be read: found no such object; check the name."
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_refused_credentials_are_one_sentence(s3_store: S3Store, operation: str) -> None:
    def let_in(requests: bytes) -> None:
        request = urllib.request.Request(
            f"{s3_store.endpoint}/moto-api/reset-auth",
            data=requests,
            headers={"content-type": "application/octet-stream"},
        )
        urllib.request.urlopen(request, timeout=30).close()

    s3_store.publish("a/1.bin", b"x")
    let_in(b"0")
    try:
        told = str(refused(s3_store, operation))
    finally:
        let_in(b"inf")
    assert "access denied (status 403" in told and "check the credentials in the environment" in told


@pytest.mark.parametrize("operation", OPERATIONS)
def test_endpoint_without_a_server_is_one_sentence(credentials: tuple[str, str], operation: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{taken.getsockname()[1]}"
        told = str(refused(S3Store("course", endpoint=endpoint, most_retries=1), operation))
    assert f"{endpoint} is not reachable: " in told and "also after 1 more tries" in told


def test_unknown_host_is_one_sentence(credentials: tuple[str, str]) -> None:
    store = S3Store("course", endpoint="http://nowhere.invalid", most_retries=0)
    assert "http://nowhere.invalid is not reachable" in str(refused(store, "read"))


def test_bucket_of_another_region_is_one_sentence(credentials: tuple[str, str]) -> None:
    with scripted_s3(lambda _: failure(400, "AuthorizationHeaderMalformed")) as (endpoint, _):
        told = str(refused(S3Store("course", endpoint=endpoint), "read"))
    assert "found the bucket lies in another region; set AWS_REGION" in told


# Bounded waits and retries


@pytest.mark.parametrize("operation", [*OPERATIONS[:-1]])
def test_server_that_fails_is_asked_again_so_often_and_no_more(
    credentials: tuple[str, str], operation: str
) -> None:
    with scripted_s3(lambda _: failure(503, "SlowDown")) as (endpoint, met):
        told = str(refused(S3Store("course", endpoint=endpoint, most_retries=2), operation))
        assert len(met) == 3
    # An answer to HEAD has no body, and so no code word.
    code = "" if operation == "stat" else " SlowDown"
    assert f"the server's answer: status 503{code}, also after 2 more tries" in told


def test_server_that_recovers_is_read(credentials: tuple[str, str]) -> None:
    def answer(request: Request) -> Answer:
        return failure(500, "InternalError") if request.number < 2 else Answer(200, b"here", facts("t"))

    with scripted_s3(answer) as (endpoint, met):
        assert S3Store("course", endpoint=endpoint).read("a.bin") == b"here"
        assert len(met) == 3


@pytest.mark.parametrize("operation", ["list", "stat", "read", "read_range", "publish"])
def test_server_that_never_answers_is_given_up(credentials: tuple[str, str], operation: str) -> None:
    with scripted_s3(lambda _: None) as (endpoint, met):
        store = S3Store("course", endpoint=endpoint, timeout_seconds=0.3, most_retries=1)
        told = str(refused(store, operation))
        # A request that changes something is not sent again when nobody knows whether it arrived.
        assert 1 <= len(met) <= 2
    assert "is not reachable: no answer in time" in told


def test_slow_answer_is_waited_for_as_long_as_the_limit_says(credentials: tuple[str, str]) -> None:
    def answer(request: Request) -> Answer:
        time.sleep(1.5)
        return Answer(200, b"late", facts("t"))

    with scripted_s3(answer) as (endpoint, _):
        hasty = S3Store("course", endpoint=endpoint, timeout_seconds=0.3, most_retries=0)
        assert "no answer in time" in str(refused(hasty, "read"))
        assert S3Store("course", endpoint=endpoint).read("a.bin") == b"late"


def test_body_that_breaks_off_is_never_handed_out(credentials: tuple[str, str]) -> None:
    def answer(request: Request) -> Answer:
        return Answer(200, b"half", facts("t"), promised=8)

    with scripted_s3(answer) as (endpoint, met):
        told = str(refused(S3Store("course", endpoint=endpoint, most_retries=2), "read"))
        assert len(met) <= 10
    assert "could not be read" in told


# Large objects


def test_ranges_reach_beyond_four_gibibytes(credentials: tuple[str, str]) -> None:
    size = 5 * 2**40

    def answer(request: Request) -> Answer:
        if request.method == "HEAD":
            return Answer(200, b"", {**facts("t"), "Content-Length": str(size)})
        start, stop = request.span
        body = b"".join(place.to_bytes(8, "big") for place in range(start // 8, -(-stop // 8)))
        return part_of(request, size, "t", body[start % 8 :][: stop - start])

    with scripted_s3(answer) as (endpoint, _):
        store = S3Store("course", endpoint=endpoint)
        assert store.stat("a.bin").size == size
        for place in (2**31, 2**32 - 8, 2**32, 2**40 + 2**32):
            assert store.read_range("a.bin", place, 16) == b"".join(
                part.to_bytes(8, "big") for part in (place // 8, place // 8 + 1)
            )
        start, length = 2**33, 17 << 20
        payload = store.read_range("a.bin", start, length)
        assert len(payload) == length
        assert all(
            payload[at : at + 8] == ((start + at) // 8).to_bytes(8, "big") for at in range(0, length, 4096)
        )
        with pytest.raises(CourseError, match="ends too early"):
            store.read_range("a.bin", 2**63 - 5, 100)


@pytest.mark.parametrize("heeds_the_version", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_object_replaced_while_it_is_read_in_parts_is_an_error(
    credentials: tuple[str, str], heeds_the_version: bool, whole: bool
) -> None:
    size = 20 << 20

    def answer(request: Request) -> Answer:
        if "range" not in request.headers:
            return Answer(
                200,
                bytes(size) if request.method == "GET" else b"",
                {**facts("old"), "Content-Length": str(size)},
            )
        start, stop = request.span
        if start < 16 << 20:
            return part_of(request, size, "old", bytes(stop - start))
        if heeds_the_version and request.headers["if-match"] != '"new"':
            return failure(412, "PreconditionFailed")
        return part_of(request, size, "new", bytes(stop - start))

    with scripted_s3(answer) as (endpoint, _), pytest.raises(CourseError, match="changed while it was read"):
        store = S3Store("course", endpoint=endpoint)
        store.read("a.bin") if whole else store.read_range("a.bin", 0, size)


def test_large_object_goes_up_in_parts_and_appears_only_when_all_are_there(
    credentials: tuple[str, str],
) -> None:
    def answer(request: Request) -> Answer:
        if request.method == "POST" and "uploads" in request.path:
            body = (
                b"<InitiateMultipartUploadResult><Bucket>course</Bucket><Key>a.bin</Key>"
                b"<UploadId>u1</UploadId></InitiateMultipartUploadResult>"
            )
            return Answer(200, body)
        if request.method == "PUT" and "partNumber=2" in request.path:
            return failure(403, "AccessDenied")
        return Answer(200, b"", {"ETag": '"t"'})

    with scripted_s3(answer) as (endpoint, met):
        store = S3Store("course", endpoint=endpoint)
        with pytest.raises(CourseError, match="could not be written: found access denied"):
            store.publish("a.bin", bytes(20_000_000))
        kinds = [(request.method, request.path.partition("?")[2]) for request in met]
    assert all("uploadId" in query or "uploads" in query for _, query in kinds)
    # The upload is never completed.
    assert not any(method == "POST" and "uploadId" in query for method, query in kinds)


# Credentials


def test_credentials_are_in_nothing_that_is_shown_or_sent(
    s3_store: S3Store, credentials: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        s3_store.publish("a.bin", b"x")
    shown = [repr(s3_store), str(s3_store), pickle.dumps(s3_store).decode("latin-1"), caplog.text]
    for text in shown:
        assert not any(secret in text for secret in credentials)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_a_server_repeats_of_credentials_is_not_passed_on(
    credentials: tuple[str, str], operation: str
) -> None:
    key, secret = credentials
    more = f"<AWSAccessKeyId>{key}</AWSAccessKeyId><StringToSign>{secret}</StringToSign>"
    for status, code in ((403, "SignatureDoesNotMatch"), (400, "InvalidRequest"), (404, "NoSuchKey")):
        told = failure(status, code, more)
        with scripted_s3(lambda _, told=told: told) as (endpoint, _):
            error = refused(S3Store("course", endpoint=endpoint), operation)
        text = "".join(traceback.format_exception(error)) + str(vars(error))
        assert key not in text and secret not in text
        assert error.__cause__ is None and error.__context__ is None


@pytest.mark.parametrize("missing", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_without_credentials_nothing_is_asked(
    credentials: tuple[str, str], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.delenv(missing)
    with scripted_s3(lambda _: Answer()) as (endpoint, met):
        told = str(refused(S3Store("course", endpoint=endpoint), "read"))
        assert met == []
    assert "no credentials for s3://course" in told
    assert not any(secret in told for secret in credentials)


def test_public_data_are_read_without_credentials(
    credentials: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
    with scripted_s3(lambda _: Answer(200, b"all", facts("t"))) as (endpoint, met):
        assert S3Store("course", endpoint=endpoint).read("a.bin") == b"all"
        assert "authorization" not in met[0].headers


# Other processes


def _read(store: S3Store) -> bytes:
    return store.read("a.bin")


def test_spawned_processes_open_the_store_anew(s3_store: S3Store) -> None:
    s3_store.publish("a.bin", b"from afar")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as workers:
        assert list(workers.map(_read, [s3_store] * 4)) == [b"from afar"] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_process_says_so_instead_of_waiting_for_ever(s3_store: S3Store) -> None:
    s3_store.publish("a.bin", b"x")
    answers, answer = multiprocessing.get_context("fork").Pipe(duplex=False)

    def child() -> None:
        try:
            answer.send(_read(s3_store))
        except CourseError as error:
            answer.send(str(error))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    try:
        assert answers.poll(30), "the forked process does not answer"
        assert "forked" in answers.recv()
    finally:
        process.kill()
        process.join()
    assert s3_store.read("a.bin") == b"x"


def test_client_is_made_once_and_only_when_it_is_needed(
    s3_store: S3Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    make = s3_client.make_client
    monkeypatch.setattr(
        "course_lib.stores.s3.make_client", lambda *given: (made.append(given), make(*given))[1]
    )
    store = pickle.loads(pickle.dumps(s3_store))
    assert made == []
    store.publish("a.bin", b"x")
    store.read("a.bin")
    assert len(made) == 1


# Addresses


@pytest.mark.usefixtures("s3_credentials")
def test_texts_name_stores() -> None:
    assert open_store("some/folder") == FolderStore(Path("some/folder"))
    assert open_store("~") == FolderStore(Path.home())
    assert open_store("C:\\data") == FolderStore(Path("C:\\data"))
    assert open_store("s3://course") == S3Store("course")
    assert open_store("s3://course/a/b/") == S3Store("course", "a/b")
    full = open_store("s3://course/a b?endpoint=http://127.0.0.1:9000&region=eu-west-1")
    assert full == S3Store("course", "a b", endpoint="http://127.0.0.1:9000", region="eu-west-1")


@pytest.mark.usefixtures("s3_credentials")
@pytest.mark.parametrize(
    "store",
    [
        S3Store("course"),
        S3Store("course", "a/b"),
        S3Store("course", endpoint="https://s3.example.org/path", region="eu-west-1"),
    ],
)
def test_text_of_a_store_names_it_again(store: S3Store) -> None:
    assert open_store(str(store)) == store


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no name of a store"),
        ("gs://bucket/x", "begins with gs://"),
        ("https://host/bucket", "begins with https://"),
        ("s3://", "no name of a bucket"),
        ("s3://UPPER", "no name of a bucket"),
        ("s3://course/../x", "no name of an object"),
        ("s3://course?endpoint=", "not understood"),
        ("s3://course?secret=x", "not understood"),
        ("s3://course?region=a&region=b", "not understood"),
        ("s3://course?nothing", "not understood"),
        ("s3://course?endpoint=127.0.0.1:9000", "no endpoint"),
        ("s3://course?endpoint=ftp://host", "no endpoint"),
        ("s3://course?endpoint=http://host:99999", "no endpoint"),
    ],
)
def test_address_that_cannot_be_is_one_sentence(text: str, says: str) -> None:
    with pytest.raises(CourseError, match=says):
        open_store(text)


@pytest.mark.parametrize(
    "text",
    [
        "s3://key:hidden@course/x",
        "s3://key:hidden@course?x",
        "s3://course?endpoint=http://key:hidden@host:9000",
    ],
)
def test_credentials_in_an_address_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(CourseError) as caught:
        open_store(text)
    assert "hidden" not in "".join(traceback.format_exception_only(caught.value))


@pytest.mark.parametrize(
    "wrong",
    [{"timeout_seconds": 0.0}, {"timeout_seconds": float("nan")}, {"most_retries": -1}, {"prefix": "a//b"}],
)
def test_store_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(CourseError):
        S3Store("course", **wrong)  # type: ignore[arg-type]


def test_endpoint_of_the_environment_counts_where_none_is_given(
    s3_store: S3Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3_store.publish("a.bin", b"x")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", str(s3_store.endpoint))
    assert S3Store(s3_store.bucket, "pre/fix") == s3_store
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    given = S3Store(s3_store.bucket, "pre/fix", endpoint=s3_store.endpoint)
    assert given.read("a.bin") == b"x"
