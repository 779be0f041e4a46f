"""How Kafka is reached: the settings as a client wants them, and what is wrong with them.

The client itself tells a refused password, a certificate of another name and a broker that is away by one and
the same error, and logs the difference. So each broker is asked once before, on a connection of its own.
"""

import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.conn import collect_hosts, create_conn
from aiokafka.errors import (
    IllegalSaslStateError,
    KafkaError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
    UnsupportedSaslMechanismError,
)

from dormouse.errors import MisconfiguredError, UnavailableError
from dormouse.server_settings import KafkaSettings

CALL_MS = 10_000
METADATA_MS = 30_000  # how long a partition that was added may stay unnoticed
_NAME_MISMATCHES = {62, 64}  # OpenSSL's numbers for a host name and an IP address
_REFUSALS = (
    (SaslAuthenticationFailed, "PASSWORD", "and DORMOUSE_KAFKA__USER are refused"),
    (UnsupportedSaslMechanismError, "MECHANISM", "is none that the brokers know"),
    (IllegalSaslStateError, "USER", "is set, and these brokers ask for no password"),
    (TopicAuthorizationFailedError, "USER", "may not do this with the topics"),
    (ssl.SSLError, "TLS", "is set, and the brokers answer without it"),
)


class KafkaConnection:
    """Raises `MisconfiguredError` for settings that can be told from wrong ones without asking a broker."""

    def __init__(self, settings: KafkaSettings) -> None:
        self.settings = settings
        self._security = _security(settings)

    @property
    def options(self) -> Mapping[str, Any]:
        """For each of the library's clients."""
        return {
            "bootstrap_servers": self.settings.bootstrap_servers,
            "client_id": self.settings.client_id,
            "request_timeout_ms": CALL_MS,
            "metadata_max_age_ms": METADATA_MS,
            **self._security,
        }

    async def topics(self) -> Mapping[str, int]:
        """Their partitions by name. Raises `MisconfiguredError` and `UnavailableError`."""
        await self._ask_each(_bootstrap_hosts(self.settings))
        with translated():
            client = AIOKafkaAdminClient(**self.options)
            try:
                await client.start()
                brokers = (await client.describe_cluster())["brokers"]
                found = await client.describe_topics()  # all: asking for one by name may make it
            finally:
                await client.close()
        # The names that brokers give for themselves are what everybody goes on with.
        await self._ask_each([(each["host"], each["port"]) for each in brokers])
        return {each["topic"]: len(each["partitions"]) for each in found if not each["error_code"]}

    async def _ask_each(self, hosts: Sequence[tuple[str, int]]) -> None:
        """One that answers is enough; what a broker refuses, it refuses all."""
        answers = 0
        for host, port in hosts:
            with suppress(UnavailableError), translated():
                opened = await create_conn(
                    host, port, client_id=self.settings.client_id, request_timeout_ms=CALL_MS, **self._security
                )
                opened.close()
                answers += 1
        if not answers:
            raise UnavailableError(
                "no broker of DORMOUSE_KAFKA__BOOTSTRAP_SERVERS answers; one that wants TLS or a password does "
                "not without"
            )


@contextmanager
def translated() -> Iterator[None]:
    """Raises `MisconfiguredError` and `UnavailableError` for what the library raises."""
    try:
        yield
    except ssl.SSLCertVerificationError as exc:
        if exc.verify_code in _NAME_MISMATCHES:
            raise wrong("BOOTSTRAP_SERVERS", "names a broker otherwise than its certificate does") from exc
        raise wrong("CA_FILE", "does not verify the brokers' certificate") from exc
    except (KafkaError, OSError, TimeoutError) as exc:
        for kind, setting, rule in _REFUSALS:
            if isinstance(exc, kind):
                raise wrong(setting, rule) from exc
        raise UnavailableError("Kafka does not answer") from exc


def wrong(setting: str, rule: str) -> MisconfiguredError:
    return MisconfiguredError(f"DORMOUSE_KAFKA__{setting} {rule}", setting=f"KAFKA__{setting}")


def _bootstrap_hosts(settings: KafkaSettings) -> Sequence[tuple[str, int]]:
    """None where one of them is no address."""
    try:
        found = [(host, port) for host, port, _ in collect_hosts(settings.bootstrap_servers)]
    except ValueError:
        return []
    return found if all(host for host, _ in found) else []


def _security(settings: KafkaSettings) -> dict[str, Any]:
    if not _bootstrap_hosts(settings):
        raise wrong("BOOTSTRAP_SERVERS", "must name brokers, as host:port,host:port")
    password = settings.password.get_secret_value()
    if bool(settings.user) != bool(password):
        raise wrong("PASSWORD", "must be set together with DORMOUSE_KAFKA__USER, or neither")
    if settings.ca_file and not settings.tls:
        raise wrong("CA_FILE", "is set, and DORMOUSE_KAFKA__TLS is not")
    protocol = "SSL" if settings.tls else "PLAINTEXT"
    found: dict[str, Any] = {"security_protocol": protocol, "ssl_context": _context(settings)}
    if settings.user:
        found |= {
            "security_protocol": f"SASL_{protocol}",
            "sasl_mechanism": settings.mechanism.upper(),
            "sasl_plain_username": settings.user,
            "sasl_plain_password": password,
        }
    return found


def _context(settings: KafkaSettings) -> ssl.SSLContext | None:
    if not settings.tls:
        return None
    try:
        return ssl.create_default_context(cafile=settings.ca_file or None)
    except OSError as exc:  # an SSLError is one too
        raise wrong("CA_FILE", "is not a file of certificates in PEM that can be read") from exc
