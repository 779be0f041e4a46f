from pathlib import Path

from dormouse.cli.mail_pieces import pieces


def a_mailbox(path: Path, sizes: list[int]) -> bytes:
    content = b"\n".join(
        b"From a@example.org\nSubject: %d\n\n%s\n" % (number, b"x" * size) for number, size in enumerate(sizes)
    )
    path.write_bytes(content)
    return content


def test_pieces_end_between_messages_and_hold_everything(tmp_path: Path) -> None:
    content = a_mailbox(tmp_path / "mail.mbox", [100] * 20)

    spans = list(pieces(tmp_path / "mail.mbox", len(content), limit_bytes=500))

    assert b"".join(content[start:end] for start, end in spans) == content
    assert all(content[start:].startswith(b"From ") and end - start <= 500 for start, end in spans)


def test_later_mail_changes_the_last_piece_only(tmp_path: Path) -> None:
    before = a_mailbox(tmp_path / "mail.mbox", [100] * 20)
    first = list(pieces(tmp_path / "mail.mbox", len(before), limit_bytes=500))
    after = a_mailbox(tmp_path / "mail.mbox", [100] * 22)

    assert list(pieces(tmp_path / "mail.mbox", len(after), limit_bytes=500))[: len(first) - 1] == first[:-1]


def test_a_message_over_the_limit_is_a_piece_of_its_own(tmp_path: Path) -> None:
    content = a_mailbox(tmp_path / "mail.mbox", [10, 900, 10])

    spans = list(pieces(tmp_path / "mail.mbox", len(content), limit_bytes=500))

    assert [b"x" * 900 in content[start:end] for start, end in spans] == [False, True, False]
