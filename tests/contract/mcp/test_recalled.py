"""What an agent reads of a memory."""

import re
from base64 import b64encode

from tests.contract.mcp.talk import a_call, post, result_of


def test_a_found_memory_can_be_cited_told_from_an_older_one_and_forgotten(url: str) -> None:
    for name, day in (("old.txt", "Tuesday"), ("new.txt", "Thursday")):
        said = {"filename": name, "content_base64": _encoded(f"The deploy day of Atlas is {day}.")}
        post(url, a_call("remember", {**said, "dataset_name": "plans"}))

    asked = a_call("recall", {"query": "On which day is the deploy of Atlas?", "datasets": "plans"})
    found = result_of(post(url, asked))
    text = found["content"][0]["text"]
    days = re.findall(r"\[graph\] .* is (\w+)\.", text)
    hits = found["structuredContent"]["hits"]
    (old,) = [hit for hit in hits if hit["document"] == "old.txt"]
    gone = result_of(post(url, a_call("forget", {"data_id": old["data_id"], "dataset": old["dataset"]})))
    left = result_of(post(url, asked))["structuredContent"]["hits"]

    assert days == ["Thursday", "Tuesday"]
    assert not gone["isError"]
    assert [hit["document"] for hit in left] == ["new.txt"]
    assert {"data_id", "dataset", "document", "remembered"} <= left[0].keys()


def _encoded(text: str) -> str:
    return b64encode(text.encode()).decode()
