from load.quality.figures import Figures, figures, table


def test_recall_counts_the_share_of_the_gold_within_each_depth() -> None:
    found = [f"x{i}" for i in range(6)] + ["a"]

    assert figures([(found, frozenset({"a", "b"}))]) == Figures(1, (0.0, 0.5, 0.5), 1 / 7)


def test_figures_are_means_over_questions() -> None:
    measured = figures([(["a"], frozenset("a")), ([], frozenset("a"))])

    assert measured == Figures(2, (0.5, 0.5, 0.5), 0.5)


def test_a_table_is_markdown_in_percent() -> None:
    lines = table("set", [("all", Figures(2, (0.5, 0.625, 1.0), 0.25))]).splitlines()

    assert lines[0] == "| set | questions | R@5 | R@10 | R@20 | MRR |"
    assert lines[2] == "| all | 2 | 50.0 | 62.5 | 100.0 | 0.250 |"
