"""Settings of the gateway: where it listens, whom it lets in, how the graph contract's tools behave."""

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from dormouse.server_settings import ServerSettings
from dormouse.settings import EngineSettings, Folder, Group, RemoteSettings

_ORIGIN = re.compile(r"https?://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:\d{1,5})?", re.IGNORECASE)


def _split_at_commas(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _anything_but_false(value: object) -> object:
    """The graph contract's rule: only the word `false` switches it off."""
    return value.strip().lower() != "false" if isinstance(value, str) else value


def _origins(value: object) -> object:
    """Raises ValueError for what no browser would send as an origin."""
    origins = _split_at_commas(value)
    if isinstance(origins, tuple):
        for origin in origins:
            if not (origin == "*" or _ORIGIN.fullmatch(str(origin))):
                raise ValueError("must hold origins such as https://app.example.net, or *")
        return tuple(str(origin).lower() for origin in origins)
    return origins


class RateLimitSettings(Group):
    """How much one caller, and all of them at once, may ask. Beyond it the answer is 429 with `Retry-After`."""

    requests_per_s: float = Field(default=200, gt=0)
    """Requests a second that one caller may keep up; far more than an agent makes."""

    burst: int = Field(default=2000, ge=1)
    """Requests that one caller may make at once after a pause, such as many agents that start together."""

    concurrent_per_caller: int = Field(default=128, ge=1)
    """Requests of one caller that may be under way at once; a waiting one counts."""

    concurrent: int = Field(default=512, ge=1)
    """Requests of all callers that may be under way at once."""

    failures_per_minute: float = Field(default=30, gt=0)
    """Requests a minute without a valid credential that one address (of IPv6: one /64 network) may make before
    it is answered 429 instead of 401. A valid credential is served whatever others at its address did."""


class GatewaySettings(ServerSettings):
    """Everything that `dormouse serve` and `dormouse mcp` may be told."""

    aliases: ClassVar[Mapping[str, str]] = {
        **EngineSettings.aliases,
        "COGNEE_API_KEY": "DORMOUSE_REMOTE__API_KEY",
        "COGNEE_BASE_URL": "DORMOUSE_REMOTE__URL",
        "COGNEE_MCP_AGENT_SCOPED": "DORMOUSE_AGENT_SCOPED",
        "COGNEE_MCP_RECALL_SYSTEM_PROMPT": "DORMOUSE_RECALL_SYSTEM_PROMPT",
        "COGNEE_MCP_RECALL_SYSTEM_PROMPT_FILE": "DORMOUSE_RECALL_SYSTEM_PROMPT_FILE",
        "COGNEE_MCP_TOOL_MODE": "DORMOUSE_TOOL_MODE",
    }

    host: str = "127.0.0.1"
    """Address to listen on. Any other than loopback needs `DORMOUSE_API_KEYS_FILE`."""

    port: int = Field(default=8000, ge=0, le=65535)
    """TCP port to listen on; 0 takes a free one, which the `Dormouse ready` line names."""

    allowed_hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_at_commas)] = Field(
        default=(), json_schema_extra={"shown_default": "none besides loopback names"}
    )
    """Names, comma-separated, under which clients may reach it besides `127.0.0.1`, `localhost` and `[::1]`;
    `:*` at the end allows any port. Requests to other names are refused, which stops DNS rebinding."""

    cors_origins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_origins)] = Field(
        default=(), json_schema_extra={"shown_default": "the server's own names"}
    )
    """Origins, comma-separated, whose web pages may call besides those of the server's own names, such as
    `https://app.example.net`; `*` allows all and needs `DORMOUSE_API_KEYS_FILE`."""

    rate_limit: RateLimitSettings = RateLimitSettings()

    api_keys_file: Folder | None = None
    """File that lists who may call. Unset: one local user, and only from loopback. `docs/operations.md`
    describes it."""

    remote: RemoteSettings = RemoteSettings()

    tool_mode: str = "default"
    """Which graph tools are listed: `default`, `minimal`, `all` or `hosted`; all stay callable. An unknown
    value logs a warning and means `default`."""

    agent_scoped: Annotated[bool, BeforeValidator(_anything_but_false)] = True
    """Whether each client remembers into a dataset of its own name unless it says which; only `false` switches
    it off, and then `main_dataset` is used."""

    recall_system_prompt: str = ""
    """What an answering recall tells the language model when the caller gives no `system_prompt`."""

    recall_system_prompt_file: Folder | None = None
    """UTF-8 file with the same; `DORMOUSE_RECALL_SYSTEM_PROMPT` wins over it."""
