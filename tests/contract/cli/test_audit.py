import json
import sqlite3
from contextlib import closing

from tests.contract.program import Program
from tests.promises import promise


@promise("P4")
def test_what_drifted_is_named_and_put_right(program: Program) -> None:
    program.run("remember", "-", "--name", "a.txt", given=b"The launch code word is hedgehog.")
    sound = program.run("audit")
    assert (sound.returncode, sound.stdout) == (0, "1 document, 1 passage: all stores tell the same\n")
    program.run("stop")
    with closing(sqlite3.connect(program.folder / "graph.sqlite3")) as db, db:
        db.execute("DELETE FROM passages")

    drifted = program.run("audit", "--json")

    assert drifted.returncode == 1
    assert "passage_missing" in [each["code"] for each in json.loads(drifted.stdout)["findings"]]
    repaired = program.run("doctor", "--repair")
    assert (repaired.returncode, "found passage_missing: 1" in repaired.stdout) == (0, True)
    assert program.run("audit").returncode == 0
    assert "hedgehog" in program.run("recall", "launch code word").stdout
