import pytest

from dormouse.errors import MisconfiguredError
from dormouse.settings import NAMES_OF_OTHERS, EngineSettings, names, read
from dormouse_gateway.settings import GatewaySettings


def test_it_listens_on_loopback_unless_told_otherwise() -> None:
    settings = read(GatewaySettings, {})

    assert (settings.host, settings.port, settings.allowed_hosts) == ("127.0.0.1", 8000, ())
    assert (settings.tool_mode, settings.agent_scoped) == ("default", True)


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("COGNEE_MCP_TOOL_MODE", "DORMOUSE_TOOL_MODE"),
        ("COGNEE_MCP_RECALL_SYSTEM_PROMPT", "DORMOUSE_RECALL_SYSTEM_PROMPT"),
    ],
)
def test_the_graph_contracts_names_are_aliases_and_ours_win(alias: str, name: str) -> None:
    field = name.removeprefix("DORMOUSE_").lower()

    assert getattr(read(GatewaySettings, {alias: "theirs"}), field) == "theirs"
    assert getattr(read(GatewaySettings, {alias: "theirs", name: "ours"}), field) == "ours"


def test_the_remote_may_be_named_as_in_the_graph_contract() -> None:
    remote = read(GatewaySettings, {"COGNEE_BASE_URL": "http://127.0.0.1:9/", "COGNEE_API_KEY": "k"}).remote

    assert (remote.url, remote.api_key.get_secret_value()) == ("http://127.0.0.1:9", "k")


@pytest.mark.parametrize(
    ("value", "scoped"), [("false", False), (" False ", False), ("0", True), ("no", True), ("true", True)]
)
def test_only_the_word_false_switches_agent_scoping_off(value: str, scoped: bool) -> None:
    """Graph contract, "remember"."""
    assert read(GatewaySettings, {"COGNEE_MCP_AGENT_SCOPED": value}).agent_scoped is scoped


def test_hosts_are_separated_by_commas() -> None:
    hosts = read(GatewaySettings, {"DORMOUSE_ALLOWED_HOSTS": "memory.example.net, other:*,"}).allowed_hosts

    assert hosts == ("memory.example.net", "other:*")


@pytest.mark.parametrize("port", ["-1", "65536", "http", "80.5"])
def test_a_port_is_a_port(port: str) -> None:
    with pytest.raises(MisconfiguredError, match=r"^DORMOUSE_PORT "):
        read(GatewaySettings, {"DORMOUSE_PORT": port})


def test_a_program_that_reads_the_engines_settings_knows_the_gateways_names() -> None:
    assert set(names(GatewaySettings)) - set(names(EngineSettings)) <= NAMES_OF_OTHERS
