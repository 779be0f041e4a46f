from pathlib import Path

import pytest

from dormouse.errors import MisconfiguredError
from dormouse.settings import NAMES_OF_OTHERS, ClientSettings, EngineSettings, default_data_dir, names, read


def refusal(environ: dict[str, str]) -> MisconfiguredError:
    with pytest.raises(MisconfiguredError) as caught:
        read(EngineSettings, environ)
    return caught.value


def test_nothing_needs_to_be_set() -> None:
    settings = read(EngineSettings, {})

    assert settings.profile == "embedded"
    assert not settings.llm.is_configured
    assert settings.otlp_endpoint == ""


def test_groups_are_nested_by_two_underscores() -> None:
    settings = read(
        EngineSettings, {"DORMOUSE_LLM__BASE_URL": "http://127.0.0.1:1/v1/", "DORMOUSE_LLM__MODEL": "m"}
    )

    assert (settings.llm.base_url, settings.llm.model) == ("http://127.0.0.1:1/v1", "m")
    assert settings.llm.is_configured


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("DORMOUSE_DATADIR", "DORMOUSE_DATA_DIR"),
        ("DORMOUSE_PRT", "DORMOUSE_PORT"),
        ("DORMOUSE_LLM_MODEL", "DORMOUSE_LLM__MODEL"),
        ("DORMOUSE_LLM", "DORMOUSE_LLM__MODEL"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_valid_one(wrong: str, nearest: str) -> None:
    error = refusal({wrong: "x"})

    assert str(error) == f"{wrong} is not a setting; did you mean {nearest}?"
    assert (error.code, error.setting) == ("misconfigured", wrong)


def test_names_of_tests_and_of_other_processes_are_left_alone() -> None:
    environ = dict.fromkeys(NAMES_OF_OTHERS, "x") | {"DORMOUSE_TEST_REQUIRE": "real", "HOME": "/home/ada"}

    assert read(EngineSettings, environ).profile == "embedded"


def test_a_wrong_value_is_named_by_its_variable_and_never_repeated() -> None:
    error = refusal({"DORMOUSE_LLM__BASE_URL": "s3cret", "DORMOUSE_LLM__API_KEY": "s3cret"})

    assert str(error) == "DORMOUSE_LLM__BASE_URL must start with http:// or https://"
    assert error.setting == "DORMOUSE_LLM__BASE_URL"
    assert error.__suppress_context__  # the cause quotes the value


def test_there_are_two_forms() -> None:
    assert read(EngineSettings, {"DORMOUSE_PROFILE": " Distributed "}).profile == "distributed"
    assert "'embedded' or 'distributed'" in str(refusal({"DORMOUSE_PROFILE": "cloud"}))


def test_a_command_that_talks_to_a_cluster_needs_a_gateways_address() -> None:
    clustered = {"DORMOUSE_PROFILE": "distributed"}

    with pytest.raises(MisconfiguredError, match="name a gateway in DORMOUSE_REMOTE__URL"):
        read(ClientSettings, clustered)
    assert read(ClientSettings, clustered | {"DORMOUSE_REMOTE__URL": "http://gateway"}).remote.url


def test_an_empty_variable_counts_as_unset() -> None:
    assert read(EngineSettings, {"DORMOUSE_LOG_LEVEL": " ", "DORMOUSE_DATA_DIR": ""}).log_level == "info"


def test_the_standard_name_of_the_endpoint_is_accepted_and_ours_wins() -> None:
    standard = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}

    assert read(EngineSettings, standard).otlp_endpoint == "http://127.0.0.1:4318"
    ours = standard | {"DORMOUSE_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    assert read(EngineSettings, ours).otlp_endpoint == "http://127.0.0.1:9"


def test_a_secret_is_not_shown() -> None:
    settings = read(EngineSettings, {"DORMOUSE_LLM__API_KEY": "s3cret"})

    assert "s3cret" not in repr(settings)
    assert settings.llm.api_key.get_secret_value() == "s3cret"


def test_the_command_line_wins(tmp_path: Path) -> None:
    settings = read(EngineSettings, {"DORMOUSE_DATA_DIR": "~/elsewhere"}, data_dir=tmp_path)

    assert settings.data_dir == tmp_path


def test_the_users_home_is_understood() -> None:
    assert read(EngineSettings, {"DORMOUSE_DATA_DIR": "~/memory"}).data_dir == Path.home() / "memory"


def test_making_settings_looks_at_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DORMOUSE_LOG_LEVEL", "debug")

    assert EngineSettings().log_level == "info"


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {}, Path.home() / ".local/share/dormouse"),
        ("linux", {"XDG_DATA_HOME": "/data"}, Path("/data/dormouse")),
        ("darwin", {}, Path.home() / "Library/Application Support/Dormouse"),
        ("win32", {"LOCALAPPDATA": "/local"}, Path("/local/Dormouse")),
    ],
)
def test_the_data_folder_is_where_the_system_keeps_such(
    platform: str, environ: dict[str, str], folder: Path
) -> None:
    assert default_data_dir(environ, platform) == folder


def test_every_setting_says_what_it_means() -> None:
    assert "DORMOUSE_EMBEDDING__MODEL" in set(names(EngineSettings))
    for field in EngineSettings.model_fields.values():
        assert field.description or hasattr(field.annotation, "model_fields")
