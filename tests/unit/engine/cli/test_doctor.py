import socket
from pathlib import Path

import pytest

from dormouse.adapters.data_folder.examine import Database
from dormouse.adapters.data_folder.server_file import ServerAddress
from dormouse.cli.doctor import (
    catalog,
    doctor,
    language_model,
    line,
    own_language_model,
    port,
    python_version,
    size,
    space,
)
from dormouse.cli.finding import Finding
from dormouse.settings import LLMSettings


def test_a_finding_says_what_to_do_below_what_is_wrong() -> None:
    finding = Finding("disk", "problem", "1.0 MB free", "Free some space.")

    assert line(finding) == "[problem] disk: 1.0 MB free\n     Free some space."


def test_an_old_python_is_a_problem() -> None:
    assert python_version((3, 10, 9)).state == "problem"
    assert python_version((3, 11, 0)).state == "ok"


@pytest.mark.parametrize(("free", "state"), [(10**7, "problem"), (5 * 10**8, "warning"), (10**10, "ok")])
def test_space_is_a_warning_before_it_is_a_problem(free: int, state: str) -> None:
    assert space(free).state == state


def test_a_damaged_database_is_named() -> None:
    finding = catalog([Database("catalog.db", ""), Database("graph.db", "file is not a database")])

    assert finding.state == "problem"
    assert finding.detail == "graph.db: file is not a database"


def test_a_port_that_this_server_holds_is_fine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        owner = ServerAddress(1, f"http://127.0.0.1:{number}", "token", "1")

        assert port(number, owner).state == "ok"
        assert port(number, None).state == "warning"


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_500_000, "2.5 MB"), (3 * 10**12, "3.0 TB")],
)
def test_sizes_are_read_at_a_glance(count: int, words: str) -> None:
    assert size(count) == words


async def test_a_setting_with_a_wrong_name_ends_in_one_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DORMOUSE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("DORMOUSE_LOG_LEVLE", "info")

    code = await doctor(as_json=False)

    assert code == 1
    assert "DORMOUSE_LOG_LEVEL" in capsys.readouterr().out


LLM = LLMSettings(base_url="http://ada:secret@llm.test:9000/v1", model="large")


def test_without_a_server_the_language_model_is_this_environments() -> None:
    assert own_language_model(LLM) == Finding(
        "language model", "ok", "large at llm.test:9000, by this environment: no server runs"
    )
    assert "in this environment" in own_language_model(LLMSettings()).detail


@pytest.mark.parametrize(
    ("used", "here", "state", "words"),
    [
        ({}, LLM, "ok", "large at llm.test:9000, by the server"),
        ({}, LLMSettings(), "ok", "large at llm.test:9000, by the server"),
        (
            {"lastError": "model_refused"},
            LLM,
            "warning",
            "large at llm.test:9000, by the server; its last call: model_refused",
        ),
        (
            {"configured": False, "model": None, "endpoint": None},
            LLMSettings(),
            "ok",
            "none; none is needed, by the server",
        ),
        (
            {"configured": False, "model": None, "endpoint": None},
            LLM,
            "warning",
            "none; none is needed, by the server; this environment says large at llm.test:9000",
        ),
    ],
)
def test_the_language_model_is_the_one_that_the_server_uses(
    used: dict[str, object], here: LLMSettings, state: str, words: str
) -> None:
    told = {"configured": True, "model": "large", "endpoint": "llm.test:9000", "lastError": None, **used}

    finding = language_model(told, here)

    assert (finding.state, finding.detail) == (state, words)
    assert bool(finding.remedy) == (state != "ok")
