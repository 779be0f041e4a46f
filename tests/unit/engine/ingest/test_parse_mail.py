from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.ingest.parse_mail import Attachment, is_mail, mail_parts
from dormouse.ingest.parsed import Turn
from dormouse.model.passage import Precision

UTC = ZoneInfo("UTC")
ADA = """From: Ada Lovelace <ada@example.org>
To: Bob <bob@example.org>, carol@example.org
Subject: Budget for spring
Date: Tue, 03 Mar 2026 10:22:00 +0100
Message-ID: <1@example.org>

We spend 400 on tulips.
"""
BOB = """From: bob@example.org
Subject: Re: Budget for spring
Date: Tue, 03 Mar 2026 12:00:00 +0000

Too much.

On Tue, 3 Mar 2026 at 10:22, Ada Lovelace wrote:
> We spend 400 on tulips.
"""
MAILBOX = f"From ada@example.org Tue Mar  3 10:22:00 2026\n{ADA}\nFrom bob@example.org Tue Mar  3\n{BOB}"


def turns(mail: str | bytes) -> list[Turn]:
    body = mail.encode() if isinstance(mail, str) else mail
    return [part for part in mail_parts(body, UTC) if isinstance(part, Turn)]


def test_a_message_is_a_turn_with_sender_time_and_subject() -> None:
    assert turns(ADA) == [
        Turn(
            speaker="Ada Lovelace",
            role="",
            text="To: Bob, carol@example.org\nWe spend 400 on tulips.",
            time="2026-03-03 10:22",
            occurred_ms=1772529720000,
            offset_minutes=60,
            precision=Precision.INSTANT,
            external_id="<1@example.org>",
            session="budget for spring",
            subject="Budget for spring",
        )
    ]


def test_answers_are_of_the_thread_they_answer() -> None:
    assert [(turn.speaker, turn.session) for turn in turns(MAILBOX)] == [
        ("Ada Lovelace", "budget for spring"),
        ("bob@example.org", "budget for spring"),
    ]


def test_what_a_reply_quotes_is_dropped_where_the_original_has_its_place() -> None:
    assert turns(MAILBOX)[1].text == "Too much."
    assert "> We spend 400 on tulips." in turns(BOB)[0].text


def test_a_line_that_begins_with_from_starts_no_message() -> None:
    mail = MAILBOX.replace("Too much.", "Too much.\n\nFrom here on it is cheaper.\n>From me too.")

    assert [turn.text for turn in turns(mail)][1] == "Too much.\n\nFrom here on it is cheaper.\nFrom me too."


def test_a_mailbox_is_known_by_its_name_or_its_first_line() -> None:
    assert is_mail(b"", "a/b.EML")
    assert is_mail(MAILBOX.encode(), "Inbox")
    assert not is_mail(b"From here on: nothing.\nReally", "notes.txt")


def test_without_plain_text_the_page_is_read() -> None:
    mail = "From: a@b\nContent-Type: text/html\n\n<style>p{}</style><p>Four&nbsp;hundred</p><p>tulips</p>"

    assert turns(mail)[0].text == "Four hundred\ntulips"


def test_encoded_words_and_charsets_are_decoded() -> None:
    mail = (
        b"From: =?utf-8?b?SsO8cmdlbg==?= <j@example.org>\nSubject: =?iso-8859-1?q?F=FCr_M=E4rz?=\n"
        b"Content-Type: text/plain; charset=iso-8859-1\n\nSch\xf6n.\n"
    )

    assert [(turn.speaker, turn.subject, turn.text) for turn in turns(mail)] == [
        ("Jürgen", "Für März", "Schön.")
    ]


def test_an_unknown_charset_costs_no_message() -> None:
    mail = b"From: a@example.org\nContent-Type: text/plain; charset=x-nowhere\n\nStill readable.\n"

    assert turns(mail)[0].text == "Still readable."


@pytest.mark.parametrize("date", ["", "yesterday", "Tue, 99 Foo 2026", "Mon, 1 Jan 99999 00:00:00 +0000"])
def test_a_date_that_is_none_is_left_out(date: str) -> None:
    turn = turns(f"From: a@example.org\nDate: {date}\n\nHello.\n")[0]

    assert (turn.time, turn.occurred_ms) == ("", None)


def test_a_date_without_offset_is_read_in_the_zone_of_the_content() -> None:
    mail = b"From: a@example.org\nDate: Tue, 03 Mar 2026 10:22:00 -0000\n\nHello.\n"
    (turn,) = mail_parts(mail, ZoneInfo("Europe/Berlin"))

    assert isinstance(turn, Turn)
    assert turn.offset_minutes == 60


def test_attachments_follow_their_message_under_their_own_name() -> None:
    mail = (
        'From: a@example.org\nSubject: Plan\nContent-Type: multipart/mixed; boundary="b"\n\n'
        "--b\n\nSee it.\n"
        '--b\nContent-Disposition: attachment; filename="../../etc/plan.txt"\n\nTulips.\n--b--\n'
    )
    message, attachment = mail_parts(mail.encode(), UTC)

    assert isinstance(message, Turn)
    assert isinstance(attachment, Attachment)
    assert (attachment.filename, attachment.content.strip()) == ("plan.txt", b"Tulips.")
    assert attachment.turn.subject == "Plan › plan.txt"


@given(
    st.binary(max_size=300), st.sampled_from([b"From ", b"From: a@b\n\n", b"Content-Type: multipart/mixed; "])
)
def test_any_bytes_are_read_or_refused(tail: bytes, head: bytes) -> None:
    for part in mail_parts(head + tail, UTC):
        assert isinstance(part, Turn | Attachment)


def test_a_date_that_no_calendar_shows_is_none() -> None:
    (turn,) = turns(ADA.replace("Tue, 03 Mar 2026 10:22:00 +0100", "31 Dec 9999 23:59:59 -2359"))

    assert (turn.occurred_ms, turn.time, turn.precision) == (None, "", None)
