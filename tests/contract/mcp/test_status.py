from tests.contract.mcp.talk import a_call, post, result_of


def test_the_status_of_a_dataset_is_not_that_of_another_one(url: str) -> None:
    for dataset in ("kitchen", "garden"):
        post(url, a_call("remember", {"data": f"The {dataset} door sticks.", "dataset_name": dataset}))

    status = result_of(post(url, a_call("cognify_status", {"dataset_name": "garden"})))["structuredContent"]

    assert status["dataset"] == "garden"
    assert len(status["jobs"]) == 1
