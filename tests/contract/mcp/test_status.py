from base64 import b64encode

from tests.contract.mcp.talk import a_call, post, result_of


def test_the_status_of_a_dataset_is_not_that_of_another_one(url: str) -> None:
    for dataset in ("kitchen", "garden"):
        post(url, a_call("remember", {"data": f"The {dataset} door sticks.", "dataset_name": dataset}))

    status = result_of(post(url, a_call("cognify_status", {"dataset_name": "garden"})))["structuredContent"]

    assert status["dataset"] == "garden"
    assert len(status["jobs"]) == 1


def test_without_a_name_it_tells_of_every_dataset_that_a_recall_may_have_meant(url: str) -> None:
    broken = {"filename": "broken.pdf", "content_base64": b64encode(b"%PDF-1.4 nothing").decode()}
    post(url, a_call("remember", {"data": "The attic is dry.", "dataset_name": "attic"}))
    post(url, a_call("remember", {**broken, "dataset_name": "cellar"}))

    recalled = result_of(post(url, a_call("recall", {"query": "anything", "datasets": "cellar"})))
    status = result_of(post(url, a_call("cognify_status", {})))

    assert "check cognify_status" in recalled["content"][0]["text"]
    text = status["content"][0]["text"]
    elsewhere = {each["dataset"]: each for each in status["structuredContent"]["elsewhere"]}
    assert "attic" not in elsewhere
    assert elsewhere["cellar"]["jobs"][0]["error"]["code"] == "unreadable_document"
    assert f"'{elsewhere['cellar']['dataset_id']}': 'DATASET_PROCESSING_ERRORED'" in text
    assert "] cellar: " in text
