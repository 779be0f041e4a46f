from dormouse.ids import PrincipalId, SessionEntryId
from dormouse.model.session import SessionEntry
from dormouse.sessions.search import rank


def an_entry(text: str, created_ms: int = 0) -> SessionEntry:
    return SessionEntry(SessionEntryId(text), PrincipalId("ann"), "s", None, text, (), created_ms, 10**15)


def test_a_shared_stop_word_is_no_hit() -> None:
    assert rank([an_entry("the keys are in the drawer")], "where is the dog", 5) == []


def test_the_rarer_word_decides() -> None:
    entries = [an_entry("deploy on Friday"), an_entry("deploy on Monday"), an_entry("rollback on Friday")]

    assert rank(entries, "rollback Friday", 5)[0].entry.text == "rollback on Friday"


def test_newer_entries_come_first_among_equals() -> None:
    older, newer = an_entry("rotate deploy keys", 1), an_entry("deploy keys rotate", 2)

    assert [hit.entry for hit in rank([older, newer], "deploy keys", 5)] == [newer, older]


def test_chinese_entries_are_found() -> None:
    assert rank([an_entry("小明的生日是五月三号"), an_entry("今天下雨")], "生日", 5)[0].entry.text.startswith(
        "小明"
    )
