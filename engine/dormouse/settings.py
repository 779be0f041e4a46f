"""Settings: read once, from `DORMOUSE_` variables, and refused when a name or a value is wrong.

Nothing is read by importing this module or by making a settings object: only `read` looks at an
environment, and only at the one it is given. A group is nested with two underscores
(`DORMOUSE_LLM__MODEL`). `docs/configuration.md` is generated from the words under each field.
"""

import difflib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from dormouse.errors import MisconfiguredError

PREFIX = "DORMOUSE_"
TEST_PREFIX = "DORMOUSE_TEST_"  # belongs to the test runner; no process looks at these

# Of processes other than the one that reads: right to be set, and nothing to it.
NAMES_OF_OTHERS = frozenset(
    PREFIX + name
    for name in """
        AGENT_SCOPED ALLOWED_HOSTS API_KEYS_FILE CORS_ORIGINS HOST PORT
        RATE_LIMIT__BURST RATE_LIMIT__CONCURRENT RATE_LIMIT__CONCURRENT_PER_CALLER
        RATE_LIMIT__FAILURES_PER_MINUTE RATE_LIMIT__REQUESTS_PER_S
        RECALL_SYSTEM_PROMPT RECALL_SYSTEM_PROMPT_FILE REMOTE__API_KEY REMOTE__URL TOOL_MODE
        DATABASE__CONNECTIONS DATABASE__URL
        GRAPH__CONNECTIONS GRAPH__DATABASE GRAPH__PASSWORD GRAPH__TIMEOUT_S GRAPH__URL GRAPH__USER
        KAFKA__BOOTSTRAP_SERVERS KAFKA__CA_FILE KAFKA__CLIENT_ID KAFKA__MECHANISM KAFKA__PARTITIONS
        KAFKA__PASSWORD KAFKA__PREFIX KAFKA__REPLICAS KAFKA__TLS KAFKA__USER
        S3__ACCESS_KEY S3__BUCKET S3__ENDPOINT S3__REGION S3__SECRET_KEY S3__TIMEOUT_S
        VECTORS__API_KEY VECTORS__TIMEOUT_S VECTORS__URL
        HEALTH_PORT
        WORKSPACES_FILE
    """.split()
)

S = TypeVar("S", bound="EngineSettings")


def default_data_dir(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """Where a user's programs keep data on this system; the folder is made when it is first written to."""
    given = os.environ if environ is None else environ
    if platform == "win32":
        return Path(given.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "Dormouse"
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Dormouse"
    return Path(given.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "dormouse"


def lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _http_url(value: str) -> str:
    if value and not value.startswith(("http://", "https://")):
        raise ValueError("must start with http:// or https://")
    return value.rstrip("/")


HttpUrl = Annotated[str, AfterValidator(_http_url)]
LogLevel = Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(lower)]
Profile = Annotated[Literal["embedded", "distributed"], BeforeValidator(lower)]
Folder = Annotated[Path, AfterValidator(Path.expanduser)]


class Group(BaseModel):
    """Settings that belong together; unknown members are refused with the whole name."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class LLMSettings(Group):
    """A language model behind an OpenAI-compatible interface. It is asked once both address and model are set.

    It derives memories from what was remembered, after that is searchable, and words the answers of recalls.
    `docs/language-models.md` says what it changes and what it costs.
    """

    base_url: HttpUrl = ""
    """Address up to and including the version, for example `http://127.0.0.1:11434/v1`."""

    api_key: SecretStr = SecretStr("")
    """Sent as a bearer token; never logged."""

    model: str = ""
    """Name of the model as the endpoint knows it."""

    enrich: bool = True
    """Whether memories are derived from what is remembered; `false` uses the model for answers alone."""

    timeout_s: float = Field(default=120.0, gt=0, le=3600)
    """Seconds that one call for deriving memories may take before it is tried again."""

    answer_timeout_s: float = Field(default=20.0, gt=0, le=600)
    """Seconds that a recall waits for its answer; after that it quotes the best memories and says so."""

    concurrent_calls: int = Field(default=2, ge=1, le=64)
    """Calls for deriving memories at the same time, over all jobs. Answers do not count."""

    job_tokens: int = Field(default=250_000, ge=0)
    """Tokens, in and out, that deriving memories from one remembered item may take; the rest of a longer item
    stays as it was found by rules, and its job says so. 0: no limit."""

    @property
    def is_configured(self) -> bool:
        return bool(self.base_url and self.model)

    @property
    def host(self) -> str:
        """Of the endpoint, with its port, never with credentials."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


class EmbeddingSettings(Group):
    """An embedding model behind an OpenAI-compatible interface. Unset, the bundled model, which is English, is
    used."""

    base_url: HttpUrl = ""
    """Address up to and including the version. After another model was configured,
    `dormouse migrate-embedding` moves what is remembered to it."""

    api_key: SecretStr = SecretStr("")
    """Sent as a bearer token; never logged."""

    model: str = ""
    """Name of the model as the endpoint knows it."""

    timeout_s: float = Field(default=30.0, gt=0, le=600)
    """Seconds that one call may take."""

    batch: int = Field(default=64, ge=1, le=2048)
    """Texts sent with one call."""

    @property
    def is_configured(self) -> bool:
        return bool(self.base_url and self.model)


class RemoteSettings(Group):
    """Another Dormouse that this process relays to, instead of opening a data folder of its own."""

    url: HttpUrl = ""
    """Its address, for example `http://memory.example.net:8000`. Unset: this process holds the memory."""

    api_key: SecretStr = SecretStr("")
    """API key that it knows; sent as a bearer token and never logged."""


class EngineSettings(BaseSettings):
    """What the engine itself needs, whichever process it runs in."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="ignore", use_attribute_docstrings=True
    )
    aliases: ClassVar[Mapping[str, str]] = {"OTEL_EXPORTER_OTLP_ENDPOINT": "DORMOUSE_OTLP_ENDPOINT"}

    data_dir: Folder = Field(
        default_factory=default_data_dir,
        json_schema_extra={"shown_default": "the user's data folder, on Linux `~/.local/share/dormouse`"},
    )
    """Folder with everything that is remembered. One process owns it at a time."""

    profile: Profile = "embedded"
    """Form that runs: `embedded` keeps everything in the data folder; `distributed`, the cluster's form, keeps
    it on servers that any number of processes share (`docs/operations.md`)."""

    llm: LLMSettings = LLMSettings()

    embedding: EmbeddingSettings = EmbeddingSettings()

    otlp_endpoint: HttpUrl = ""
    """Where traces and metrics go, by OTLP over HTTP, for example `http://127.0.0.1:4318`. Unset: nowhere, and
    nothing is spent on them."""

    log_level: LogLevel = "info"
    """Least serious level that is logged: `debug`, `info`, `warning` or `error`."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the name belongs to the overridden method
        init_settings: PydanticBaseSettingsSource,
        *_: object,
        **__: object,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is handed over: `read` is the one place that looks at an environment."""
        return (init_settings,)


class ClientSettings(EngineSettings):
    """What a command that only talks to a server needs."""

    remote: RemoteSettings = RemoteSettings()

    @model_validator(mode="after")
    def _refuse_to_look_for_a_folder(self) -> Self:
        """Raises `MisconfiguredError`: of a cluster there is no server of this machine to find."""
        refuse_no_gateway(self.profile, self.remote)
        return self


def refuse_no_gateway(profile: str, remote: RemoteSettings) -> None:
    """Raises `MisconfiguredError` where whoever talks to a server would have to look for this machine's own."""
    if profile == "distributed" and not remote.url:
        raise MisconfiguredError(
            "with DORMOUSE_PROFILE=distributed, name a gateway in DORMOUSE_REMOTE__URL, and a key of it in "
            "DORMOUSE_REMOTE__API_KEY",
            setting="REMOTE__URL",
        )


def read(settings: type[S], environ: Mapping[str, str], **overrides: object) -> S:
    """Settings of one process from `environ`; `overrides` come from its command line and win.

    Empty variables count as unset. Raises MisconfiguredError, naming the variable and never its value.
    """
    given = _with_aliases(settings, environ)
    _refuse_unknown(settings, given)
    source = EnvSettingsSource(settings)
    source.env_vars = {name.lower(): value for name, value in given.items() if value.strip()}
    try:
        return settings(**(source() | overrides))
    except ValidationError as exc:
        raise _misconfigured(exc) from None  # its text quotes values, secrets among them


def names(settings: type[BaseModel], prefix: str = PREFIX) -> Iterator[str]:
    """Every variable that these settings know, aliases aside."""
    for name, field in settings.model_fields.items():
        variable = prefix + name.upper()
        if isinstance(field.annotation, type) and issubclass(field.annotation, Group):
            yield from names(field.annotation, f"{variable}__")
        else:
            yield variable


def _with_aliases(settings: type[EngineSettings], environ: Mapping[str, str]) -> dict[str, str]:
    given = {name.upper(): value for name, value in environ.items()}
    for alias, name in settings.aliases.items():
        if given.get(alias, "").strip() and not given.get(name, "").strip():
            given[name] = given[alias]
    return given


def _refuse_unknown(settings: type[EngineSettings], given: Mapping[str, str]) -> None:
    known = NAMES_OF_OTHERS | set(names(settings))
    for name in sorted(given):
        if name.startswith(PREFIX) and not name.startswith(TEST_PREFIX) and name not in known:
            nearest = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.0)[0]
            raise MisconfiguredError(f"{name} is not a setting; did you mean {nearest}?", setting=name)


def _misconfigured(exc: ValidationError) -> MisconfiguredError:
    first = exc.errors(include_url=False, include_input=False, include_context=False)[0]
    setting = PREFIX + "__".join(str(part) for part in first["loc"]).upper()
    rule = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return MisconfiguredError(f"{setting} {rule}", setting=setting)
