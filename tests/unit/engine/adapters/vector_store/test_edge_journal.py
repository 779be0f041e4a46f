from pathlib import Path

import pytest

from dormouse.adapters.vector_store.edge_journal import Journal, ReachedSeq
from dormouse.adapters.vector_store.rows import Row

ROW = Row(
    "id",
    {"session": "séance \ud800", "occurred": -1},
    b"\x00\xff\x00\x01",
    ([1, 2**32 - 1], [0.5, 2.0]),
    ([], []),
)


def records_in(path: Path) -> list[tuple[list[Row], int]]:
    journal = Journal(path)
    try:
        return list(journal.records())
    finally:
        journal.close()


def write_two(path: Path) -> int:
    """Returns where the second record starts."""
    journal = Journal(path)
    journal.append([ROW, ROW], 1)
    first = journal.size_bytes
    journal.append([ROW], 2)
    journal.close()
    return first


def test_records_come_back_as_they_were_appended(tmp_path: Path) -> None:
    write_two(tmp_path / "journal")

    assert records_in(tmp_path / "journal") == [([ROW, ROW], 1), ([ROW], 2)]


@pytest.mark.parametrize("kept", [1, 7, 8, 9, 60])
def test_a_record_cut_short_is_dropped(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "journal"
    start = write_two(path)
    with path.open("r+b") as file:
        file.truncate(start + kept)

    assert records_in(path) == [([ROW, ROW], 1)]


def test_a_record_whose_bytes_changed_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    start = write_two(path)
    content = bytearray(path.read_bytes())
    content[start + 20] ^= 1
    path.write_bytes(content)

    assert records_in(path) == [([ROW, ROW], 1)]


def test_an_emptied_journal_holds_nothing_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    journal.append([ROW], 1)

    journal.empty()

    assert (journal.size_bytes, path.read_bytes()) == (0, b"")
    journal.append([ROW], 2)
    journal.close()
    assert records_in(path) == [([ROW], 2)]


def test_how_far_it_got_is_kept_and_never_goes_back(tmp_path: Path) -> None:
    reached = ReachedSeq(tmp_path / "reached")
    reached.note(7)
    reached.note(3)
    before = ReachedSeq(tmp_path / "reached").seq
    reached.keep()

    assert (before, ReachedSeq(tmp_path / "reached").seq) == (0, 7)


def test_a_file_that_says_nothing_means_everything_again(tmp_path: Path) -> None:
    (tmp_path / "reached").write_bytes(b"\xffno")

    assert ReachedSeq(tmp_path / "reached").seq == 0
