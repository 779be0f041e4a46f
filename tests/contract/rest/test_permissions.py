"""Sharing: who gives, who sees, and what strangers learn. Source: recorded cases share_*, users_me."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from dormouse_gateway.auth.api_keys import KeyFile
from tests.builders import NOW_MS
from tests.contract.program import Program
from tests.contract.rest.test_datasets import NOBODYS
from tests.contract.rest.test_remember import remember
from tests.promises import promise

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "recorded" / "rest_ontologies_and_grants.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, httpx.Client]]:
    """Ada, Bob and Eve, each with a key."""
    folder = tmp_path_factory.mktemp("users")
    keys = {name: KeyFile(folder / "keys.json").create(name, "", NOW_MS)[1] for name in ("ada", "bob", "eve")}
    program = Program(folder / "data folder", {"DORMOUSE_API_KEYS_FILE": str(folder / "keys.json")})
    with program.serving() as url:
        clients = {
            name: httpx.Client(base_url=url, headers={"X-Api-Key": key}, timeout=60, trust_env=False)
            for name, key in keys.items()
        }
        yield clients
        for client in clients.values():
            client.close()


def share(
    client: httpx.Client, user: str, datasets: list[str], permission: str = "read", *, method: str = "POST"
) -> httpx.Response:
    return client.request(
        method, f"/api/v1/permissions/datasets/{user}", params={"permission_name": permission}, json=datasets
    )


def seen(client: httpx.Client) -> set[str]:
    return {each["id"] for each in client.get("/api/v1/datasets").json()}


def test_everybody_is_told_who_they_are(users: dict[str, httpx.Client]) -> None:
    assert users["bob"].get("/api/v1/users/me").json()["id"] == "bob"


@promise("P5")
def test_what_is_shared_is_seen_from_the_next_call_on_and_no_longer_when_taken_back(
    users: dict[str, httpx.Client], dataset: str
) -> None:
    place = remember(users["ada"], dataset).json()["dataset_id"]

    given = share(users["ada"], "bob", [place])
    during = seen(users["bob"])
    writes = remember(users["bob"], place)
    taken = share(users["ada"], "bob", [place], method="DELETE")

    assert (given.status_code, given.json()) == (RECORDED["share_bob"]["status"], RECORDED["share_bob"]["body"])
    assert place in during
    assert writes.status_code == 403
    assert taken.status_code == 200
    assert place not in seen(users["bob"])


def test_write_includes_read_and_taking_it_back_leaves_read(
    users: dict[str, httpx.Client], dataset: str
) -> None:
    place = remember(users["ada"], dataset).json()["dataset_id"]

    share(users["ada"], "bob", [place], "write")
    wrote = remember(users["bob"], place)
    share(users["ada"], "bob", [place], "write", method="DELETE")
    grants = users["ada"].get(f"/api/v1/datasets/{place}/grants").json()

    assert wrote.status_code == 200
    assert [(each["principalId"], each["permission"]) for each in grants] == [("bob", "read")]


def test_delete_includes_write_and_taking_it_back_leaves_write(
    users: dict[str, httpx.Client], dataset: str
) -> None:
    place = remember(users["ada"], dataset).json()["dataset_id"]

    share(users["ada"], "bob", [place], "delete")
    share(users["ada"], "bob", [place], "read")
    most = users["ada"].get(f"/api/v1/datasets/{place}/grants").json()
    share(users["ada"], "bob", [place], "delete", method="DELETE")
    less = users["ada"].get(f"/api/v1/datasets/{place}/grants").json()

    assert [[each["permission"] for each in grants] for grants in (most, less)] == [["delete"], ["write"]]


@promise("P3")
def test_only_the_owner_and_who_was_granted_delete_may_forget(
    users: dict[str, httpx.Client], dataset: str
) -> None:
    told = remember(users["ada"], dataset).json()
    place, item = told["dataset_id"], told["items"][0]["id"]
    share(users["ada"], "bob", [place], "write")

    refused = [
        users["bob"].delete(f"/api/v1/datasets/{place}"),
        users["bob"].delete(f"/api/v1/datasets/{place}/data/{item}"),
        users["bob"].post("/api/v1/forget", json={"dataset": dataset}),
        users["bob"].post("/api/v1/forget", json={"dataset_id": place, "data_id": item}),
    ]
    kept = users["ada"].get(f"/api/v1/datasets/{place}/data/{item}")
    share(users["ada"], "bob", [place], "delete")
    of_the_item = users["bob"].delete(f"/api/v1/datasets/{place}/data/{item}")
    of_the_dataset = users["bob"].delete(f"/api/v1/datasets/{place}")

    assert [(each.status_code, each.json()["code"]) for each in refused] == [(403, "forbidden")] * 4
    assert kept.status_code == 200
    assert (of_the_item.status_code, of_the_dataset.status_code) == (200, 200)
    assert place not in seen(users["ada"])


@promise("P5")
def test_a_forgotten_dataset_of_ones_own_never_gives_its_name_to_a_shared_one(
    users: dict[str, httpx.Client], dataset: str
) -> None:
    theirs = remember(users["ada"], dataset).json()["dataset_id"]
    mine = remember(users["bob"], dataset).json()["dataset_id"]
    share(users["ada"], "bob", [theirs], "delete")
    _forget(users["bob"], dataset, "delete")

    read = users["bob"].get(f"/api/v1/datasets/{dataset}/data")
    forgotten = users["bob"].post("/api/v1/forget", json={"dataset": dataset})
    anew = remember(users["bob"], dataset).json()["dataset_id"]

    assert [(each.status_code, each.json()["code"]) for each in (read, forgotten)] == [(404, "not_found")] * 2
    assert anew == mine != theirs
    assert theirs in seen(users["ada"])


def test_a_permission_that_is_none_is_refused_in_the_recorded_words(
    users: dict[str, httpx.Client], dataset: str
) -> None:
    place = remember(users["ada"], dataset).json()["dataset_id"]

    refused = share(users["ada"], "bob", [place], "zzz")

    assert refused.status_code == RECORDED["share_badperm"]["status"]
    assert RECORDED["share_badperm"]["body"]["detail"].startswith(refused.json()["detail"])


@promise("P5")
def test_who_does_not_own_it_gives_nothing_away_and_learns_nothing(
    users: dict[str, httpx.Client], dataset: str
) -> None:
    place = remember(users["ada"], dataset).json()["dataset_id"]
    share(users["ada"], "bob", [place])

    of_a_reader = share(users["bob"], "eve", [place])
    of_a_stranger = share(users["eve"], "eve", [place])
    of_nothing = share(users["eve"], "eve", ["00000000-0000-0000-0000-000000000000"])
    unknown_user = share(users["eve"], "nobody", [place])
    grants = [users[name].get(f"/api/v1/datasets/{place}/grants").status_code for name in ("bob", "eve")]

    assert of_a_reader.status_code == 403
    assert of_a_stranger.status_code == of_nothing.status_code == unknown_user.status_code == 404
    assert grants == [403, 404]
    assert place not in seen(users["eve"])


def test_a_user_without_a_key_is_given_nothing_and_all_datasets_stay_as_they_were(
    users: dict[str, httpx.Client], dataset: str
) -> None:
    place = remember(users["ada"], dataset).json()["dataset_id"]

    nobody = share(users["ada"], "nobody", [place])
    half = share(users["ada"], "bob", [place, "nope"])

    assert (nobody.status_code, half.status_code) == (404, 404)
    assert users["ada"].get(f"/api/v1/datasets/{place}/grants").json() == []


@promise("P5")
@pytest.mark.parametrize("way", ["forget", "delete", "everything"])
def test_a_grant_ends_with_the_dataset_and_not_even_its_name_made_anew_brings_it_back(
    users: dict[str, httpx.Client], dataset: str, way: str
) -> None:
    before = remember(users["eve"], dataset).json()
    place, job = before["dataset_id"], before["pipeline_run_id"]
    share(users["eve"], "bob", [place])
    assert users["bob"].get(f"/api/v1/jobs/{job}").status_code == 200
    _forget(users["eve"], place, way)

    again = remember(users["eve"], dataset)

    assert again.json()["dataset_id"] == place
    assert users["eve"].get(f"/api/v1/datasets/{place}/grants").json() == []
    assert place not in seen(users["bob"])
    for kind, rest, wanted in (
        ("datasets", "/data", place),
        ("jobs", "", job),
        ("jobs", "", again.json()["pipeline_run_id"]),
    ):
        shown, never = (users["bob"].get(f"/api/v1/{kind}/{each}{rest}") for each in (wanted, NOBODYS))
        assert (shown.status_code, shown.json()["code"]) == (never.status_code, never.json()["code"])
        assert shown.status_code == 404
    eves, bobs = (users[name].post("/api/v1/recall", json={"query": "Initech"}) for name in ("eve", "bob"))
    assert place in eves.text
    assert bobs.status_code == 200
    assert place not in bobs.text


@pytest.mark.parametrize(("deed", "permission"), [("retry", "read"), ("retry", "write"), ("cancel", "read")])
def test_another_users_job_is_nobody_elses_to_change(
    users: dict[str, httpx.Client], dataset: str, deed: str, permission: str
) -> None:
    body = remember(users["ada"], dataset, name="broken.pdf").json()
    path = f"/api/v1/jobs/{body['pipeline_run_id']}/{deed}"
    unreadable = users["bob"].post(path)

    share(users["ada"], "bob", [body["dataset_id"]], permission)
    readable = users["bob"].post(path)

    assert (unreadable.status_code, unreadable.json()["code"]) == (404, "not_found")
    assert (readable.status_code, readable.json()["code"]) == (403, "forbidden")


def _forget(client: httpx.Client, place: str, way: str) -> None:
    if way == "delete":
        answer = client.delete(f"/api/v1/datasets/{place}")
    else:
        body = {"everything": True} if way == "everything" else {"dataset": place}
        answer = client.post("/api/v1/forget", json=body)
    assert answer.is_success, answer.text
