import httpx
import pytest

from tests.contract.rest.test_remember import remember


def test_datasets_have_the_recorded_fields(client: httpx.Client, dataset: str) -> None:
    remember(client, dataset)

    row = next(row for row in client.get("/api/v1/datasets").json() if row["name"] == dataset)

    assert {"id", "name", "createdAt", "updatedAt", "ownerId"} <= set(row)
    assert (row["documents"], row["passages"], row["unfinishedJobs"]) == (1, 1, 0)


def test_items_are_listed_without_where_the_server_keeps_them(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset, name="notes/a.txt").json()

    (row,) = client.get(f"/api/v1/datasets/{body['dataset_id']}/data").json()

    assert row["id"] == body["items"][0]["id"]
    assert (row["name"], row["extension"], row["rawDataLocation"]) == ("notes/a.txt", "txt", None)


def test_lists_continue_where_their_cursor_says(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset).json()
    for number in range(4):
        remember(client, dataset, text=f"Fact number {number}.", name=f"{number}.txt")

    def walk(path: str, **more: str) -> list[str]:
        seen: list[str] = []
        params = {"limit": "2", **more}
        while True:
            answer = client.get(path, params=params)
            assert answer.status_code == 200, answer.text
            rows = answer.json() if isinstance(answer.json(), list) else answer.json()["jobs"]
            seen += [row["id"] for row in rows]
            cursor = answer.headers.get("x-next-cursor") or (
                answer.json()["nextCursor"] if isinstance(answer.json(), dict) else None
            )
            if cursor is None:
                return seen
            params = {**params, "cursor": cursor}

    items = walk(f"/api/v1/datasets/{body['dataset_id']}/data")
    jobs = walk("/api/v1/jobs", dataset=body["dataset_id"])

    assert len(items) == len(set(items)) == 5
    assert len(jobs) == len(set(jobs)) == 5


def test_a_job_of_nobody_is_not_found(client: httpx.Client) -> None:
    answer = client.get("/api/v1/jobs/9d6d85c4-3b04-4c34-aac4-06a145dcd1fa")

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_the_status_counts_what_the_caller_may_read(client: httpx.Client, dataset: str) -> None:
    remember(client, dataset)

    body = client.get("/api/v1/status").json()

    assert (body["status"], body["problems"]) == ("ready", [])
    assert body["documents"] >= 1


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "query"),
        ({"query": ""}, 400, "query"),
        ({"query": "x", "search_type": "NOPE"}, 400, "NOPE"),
        ({"query": "x", "scope": "nope"}, 400, "nope"),
        ({"query": "x", "dataset_name": "d"}, 400, "dataset_name"),
        ({"query": "x", "topK": 101}, 400, "top"),
        ({"query": "x", "datasets": ["no such dataset"]}, 404, ""),
    ],
)
def test_a_recall_that_cannot_be_meant_is_refused(
    client: httpx.Client, body: dict[str, object], status: int, words: str
) -> None:
    answer = client.post("/api/v1/recall", json=body)

    assert answer.status_code == status, answer.text
    assert words in answer.json()["detail"]


def test_nothing_found_is_an_empty_list(client: httpx.Client, dataset: str) -> None:
    remember(client, dataset)

    answer = client.post(
        "/api/v1/recall", json={"query": "zzzz qqqq", "datasets": [dataset], "search_type": "CHUNKS_LEXICAL"}
    )

    assert answer.json() == []


@pytest.mark.parametrize("query", ["日本語の質問", "ماذا يعرف؟", "🦔", "a\u0000b", "Việt Nam"])
def test_questions_of_every_script_are_answered(client: httpx.Client, query: str) -> None:
    assert client.post("/api/v1/recall", json={"query": query}).status_code == 200


def test_a_lone_surrogate_is_no_reason_to_fail(client: httpx.Client) -> None:
    body = b'{"query": "half a hedgehog \\ud83e"}'

    answer = client.post("/api/v1/recall", content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    ("method", "path", "content_type", "status", "code"),
    [
        ("GET", "/api/v1/nowhere", "", 404, "not_found"),
        ("PUT", "/api/v1/recall", "", 405, "method_not_allowed"),
        ("POST", "/api/v1/recall", "text/plain", 415, "unsupported_media_type"),
        ("POST", "/api/v1/forget", "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
        ("POST", "/api/v1/remember", "application/json", 415, "unsupported_media_type"),
        ("GET", "/api/v1/jobs?limit=0", "", 400, "invalid_input"),
        ("GET", "/api/v1/jobs?cursor=x", "", 400, "invalid_input"),
        ("GET", "/api/v1/jobs?stage=nope", "", 400, "invalid_input"),
        ("GET", "/api/v1/datasets?ofset=1", "", 400, "invalid_input"),
    ],
)
def test_every_refusal_has_the_one_envelope(
    client: httpx.Client, method: str, path: str, content_type: str, status: int, code: str
) -> None:
    headers = {"Content-Type": content_type} if content_type else {}

    answer = client.request(method, path, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert set(answer.json()) == {"detail", "code", "remediation", "request_id"}
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
def test_a_page_of_somebody_else_cannot_ask(client: httpx.Client, header: dict[str, str]) -> None:
    assert client.get("/api/v1/datasets", headers=header).status_code in {403, 421}
