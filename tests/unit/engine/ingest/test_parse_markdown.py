from dormouse.ingest.parse_markdown import looks_like_markdown, parse_markdown
from dormouse.ingest.parsed import Section


def sections(text: str) -> tuple[Section, ...]:
    return parse_markdown(text, "UTC").sections


def test_text_stands_under_its_path_of_headings() -> None:
    text = "Before.\n\n# A\n\nOne.\n\n## B ##\n\nTwo.\n\nC\n===\n\nThree.\n"

    assert sections(text) == (
        Section((), "Before."),
        Section(("A",), "One."),
        Section(("A", "B"), "Two."),
        Section(("C",), "Three."),
    )


def test_a_fence_holds_no_headings() -> None:
    text = "# A\n\n```sh\n# not one\n~~~\n```\n\n# B\n\nb\n"

    assert [section.heading for section in sections(text)] == [("A",), ("B",)]
    assert not looks_like_markdown("```\n# not one\n```")


def test_a_heading_without_text_is_not_lost() -> None:
    assert sections("# A\n\n## B\n\nb\n\n## Empty\n") == (Section(("A", "B"), "b"), Section(("A",), "Empty"))


def test_a_rule_under_a_list_makes_no_heading() -> None:
    assert [section.heading for section in sections("- item\n---\n\ntext\n")] == [()]


def test_everything_under_one_heading_is_named_by_it() -> None:
    assert parse_markdown("# Runbook\n\na\n\n## Part\n\nb", "UTC").title == "Runbook"
    assert parse_markdown("# One\n\na\n\n# Two\n\nb", "UTC").title == ""


def test_headings_without_any_text_are_read_together() -> None:
    assert sections("# a\n# b\n# c\n") == (Section((), "a\nb\nc"),)
