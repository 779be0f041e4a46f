from dormouse.cli.recall import block, blocks


def an_entry(**about: object) -> dict[str, object]:
    return {"source": "graph", "text": "Words.", "dataset_name": "docs", "metadata": about}


def test_a_memory_is_shown_with_its_headings_and_its_date() -> None:
    entry = an_entry(
        document_name="plan.md", heading="Kitchen › Budget", occurred_at="2026-03-02T10:00:00.000Z"
    )

    assert block(1, entry) == "1. plan.md › Kitchen › Budget, 2026-03-02 [docs]\n   Words.\n"


def test_a_heading_does_not_repeat_the_name_of_the_file() -> None:
    table = an_entry(document_name="a.csv", heading="a.csv › item, price")
    plain = an_entry(document_name="a.txt", heading="a.txt")

    assert block(1, table).startswith("1. a.csv › item, price [docs]")
    assert block(1, plain).startswith("1. a.txt [docs]")


def test_what_was_said_is_shown_with_who_and_when() -> None:
    turn = an_entry(
        document_name="chat.json",
        heading="2026-02-01T20:06:00Z Maya",
        speaker="Maya",
        occurred_at="2026-02-01T20:06:00.000Z",
    )

    assert block(1, turn).startswith("1. chat.json › Maya, 2026-02-01 20:06 UTC [docs]")


def test_a_memory_without_a_date_says_when_it_was_remembered() -> None:
    entry = an_entry(document_name="a.md", occurred_at=None, remembered_at="2026-11-30T19:49:21.622Z")

    assert block(1, entry).startswith("1. a.md, remembered 2026-11-30 [docs]")


def test_an_answer_has_no_number_so_that_it_cites_the_numbers_that_are_shown() -> None:
    answer = {"source": "graph", "kind": "graph_completion", "text": "In Lisbon [1].", "metadata": {}}

    shown = list(blocks([answer, an_entry(document_name="a.txt"), an_entry(document_name="b.txt")]))

    assert [each.splitlines()[0] for each in shown] == ["Answer", "1. a.txt [docs]", "2. b.txt [docs]"]
