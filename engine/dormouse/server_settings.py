"""Settings of the servers that the cluster's form keeps everything on, each a group of its own."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from dormouse.settings import EngineSettings, Group, HttpUrl, lower


def _bolt_url(value: str) -> str:
    if value and not value.startswith(("bolt://", "bolt+s://", "bolt+ssc://")):
        raise ValueError("must start with bolt://, or with bolt+s:// for an encrypted connection")
    return value.rstrip("/")


BoltUrl = Annotated[str, AfterValidator(_bolt_url)]


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

    mechanism: Annotated[Literal["scram-sha-256", "scram-sha-512"], BeforeValidator(lower)] = "scram-sha-512"
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


class ServerSettings(EngineSettings):
    """Where the cluster's form keeps what is shared by all its processes."""

    database: DatabaseSettings = DatabaseSettings()

    graph: GraphSettings = GraphSettings()

    s3: S3Settings = S3Settings()

    kafka: KafkaSettings = KafkaSettings()

    vectors: VectorsSettings = VectorsSettings()
