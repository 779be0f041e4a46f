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
from typing import Annotated, ClassVar, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
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


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _http_url(value: str) -> str:
    if value and not value.startswith(("http://", "https://")):
        raise ValueError("must start with http:// or https://")
    return value.rstrip("/")


def _embedded(value: str) -> str:
    if value != "embedded":
        raise ValueError(
            "must be embedded: the cluster's form cannot serve yet; its stores can be set up, but nothing "
            "joins them (docs/operations.md)"
        )
    return value


def _bolt_url(value: str) -> str:
    if value and not value.startswith(("bolt://", "bolt+s://", "bolt+ssc://")):
        raise ValueError("must start with bolt://, or with bolt+s:// for an encrypted connection")
    return value.rstrip("/")


BoltUrl = Annotated[str, AfterValidator(_bolt_url)]
HttpUrl = Annotated[str, AfterValidator(_http_url)]
LogLevel = Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lower)]
Profile = Annotated[Literal["embedded", "distributed"], BeforeValidator(_lower), AfterValidator(_embedded)]
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


class DatabaseSettings(Group):
    """PostgreSQL as the catalog, for the cluster's form: `dormouse migrate` makes its tables. The laptop form
    keeps its catalog in the data folder and does not look at these."""

    url: SecretStr = SecretStr("")
    """`postgresql://user:password@host:5432/database`, with `?sslmode=verify-full&sslrootcert=file` where the
    server is to be verified; never logged."""

    connections: int = Field(default=8, ge=1, le=200)
    """Connections of one process for writing, and as many for reading; more callers wait, and after 5 s are
    answered 503."""


class GraphSettings(Group):
    """A Neo4j database for the graph, for the cluster's form; one for each workspace. The laptop form keeps its
    graph in the data folder and does not look at these."""

    url: BoltUrl = ""
    """`bolt://host:7687`, or `bolt+s://host:7687` where the connection is to be encrypted and the server
    verified."""

    user: str = "neo4j"
    """User that owns the database."""

    password: SecretStr = SecretStr("")
    """Never logged."""

    database: str = "neo4j"
    """A database for Dormouse alone: it is emptied when the graph is made anew."""

    connections: int = Field(default=10, ge=1, le=200)
    """Connections of one process; more callers wait, and after 5 s are answered 503."""

    timeout_s: float = Field(default=8.0, gt=0, le=600)
    """Seconds that one transaction may take, by the server's clock; erasing a large dataset takes several."""


class S3Settings(Group):
    """An S3 bucket for the contents, for the cluster's form. The laptop form keeps them in the data folder and
    does not look at these."""

    endpoint: HttpUrl = ""
    """Address of another service than Amazon's, for example `http://minio.example.net:9000`."""

    bucket: str = ""
    """A bucket for Dormouse alone, without versions and without retention: what is forgotten must be gone."""

    region: str = "us-east-1"
    """Region of the bucket."""

    access_key: SecretStr = SecretStr("")
    """Unset: the machine's own identity is used."""

    secret_key: SecretStr = SecretStr("")
    """Never logged."""

    timeout_s: float = Field(default=10.0, gt=0, le=600)
    """Seconds that one request may take, with what is tried again."""


class KafkaSettings(Group):
    """Kafka as the bell between processes, for the cluster's form: `dormouse topics ensure` makes its topics.
    The laptop form rings inside its process and does not look at these."""

    bootstrap_servers: str = ""
    """Brokers to begin with, as `host:port`, several with commas between."""

    prefix: str = Field(default="dormouse", pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$")
    """Begins the names of the topics, `dormouse.ingest`, `dormouse.apply` and `dormouse.dlq`, and of the
    consumer groups. Another one for each memory that shares the brokers."""

    client_id: str = "dormouse"
    """Name of this process in the brokers' logs and quotas."""

    user: str = ""
    """User of the brokers (SASL/SCRAM). Unset: they ask for none."""

    password: SecretStr = SecretStr("")
    """Its password; never logged."""

    mechanism: Annotated[Literal["scram-sha-256", "scram-sha-512"], BeforeValidator(_lower)] = "scram-sha-512"
    """How the password is proved: `scram-sha-512` or `scram-sha-256`."""

    tls: bool = False
    """Whether the brokers are reached over TLS; their certificate must be of the name they are reached by."""

    ca_file: str = ""
    """File of certificates (PEM) that verifies the brokers'. Unset: the system's."""

    partitions: int = Field(default=12, ge=1, le=1000)
    """Partitions of `ingest` and `apply`, each, at the least. A worker beyond this number hears no bell and
    finds work only by looking. They can be added later, never taken away."""

    replicas: int = Field(default=3, ge=1, le=9)
    """Brokers that keep each record, at the least; 1 for a single broker."""


class VectorsSettings(Group):
    """A Qdrant server for the vectors, for the cluster's form. The laptop form keeps them in the data folder
    and does not look at these."""

    url: HttpUrl = ""
    """Address of its gRPC port, for example `http://qdrant.example.net:6334`; `https://` where it has TLS."""

    api_key: SecretStr = SecretStr("")
    """Sent with each call; never logged."""

    timeout_s: int = Field(default=10, ge=1, le=600)
    """Whole seconds that one call may take."""


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
    """Form that runs: `embedded` keeps everything in the data folder; `distributed`, the cluster's form, cannot
    serve yet."""

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


class ServerSettings(EngineSettings):
    """Where the cluster's form keeps what is shared by all its processes."""

    database: DatabaseSettings = DatabaseSettings()

    graph: GraphSettings = GraphSettings()

    s3: S3Settings = S3Settings()

    kafka: KafkaSettings = KafkaSettings()

    vectors: VectorsSettings = VectorsSettings()


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
