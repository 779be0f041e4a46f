"""The catalog over TLS: to a relay that speaks it as PostgreSQL does, in front of the real server.

The server that package registries ship was built without.
"""

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.errors import MisconfiguredError
from tests.toolchain.postgresql import PostgresqlServer

REQUEST_BYTES = 8  # of a client that asks for TLS
NAME = "localhost"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of `localhost`, with its key, signed by itself."""
    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)]),
    )
    now, day = dt.datetime.now(dt.UTC), dt.timedelta(days=1)
    made = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "certificate.pem"
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return file


@asynccontextmanager
async def speaking_tls(server: PostgresqlServer, certificate: Path) -> AsyncIterator[int]:
    """Its port."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readexactly(REQUEST_BYTES)
            writer.write(b"S")
            await writer.drain()
            await writer.start_tls(context)
            from_server, to_server = await asyncio.open_connection("127.0.0.1", server.port)
            async with asyncio.TaskGroup() as group:
                group.create_task(_carried(reader, to_server))
                group.create_task(_carried(from_server, writer))
        writer.close()

    relay = await asyncio.start_server(served, "127.0.0.1", 0)
    try:
        yield relay.sockets[0].getsockname()[1]
    finally:
        relay.close()


async def _carried(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while words := await reader.read(65536):
            writer.write(words)
            await writer.drain()
    writer.close()


def url_of(server: PostgresqlServer, host: str, port: int, options: str) -> str:
    return server.url().replace(f"127.0.0.1:{server.port}", f"{host}:{port}") + options


async def test_a_server_that_is_verified_is_asked(
    postgresql_server: PostgresqlServer, certificate: Path
) -> None:
    async with speaking_tls(postgresql_server, certificate) as port:
        options = f"?sslmode=verify-full&sslrootcert={certificate}"
        catalog = SqlCatalog(url_of(postgresql_server, NAME, port, options))

        with pytest.raises(MisconfiguredError, match="dormouse migrate"):
            await catalog.check()
        await catalog.close()


@pytest.mark.parametrize(
    ("host", "options", "rule"),
    [
        (
            "127.0.0.1",
            "?sslmode=verify-full&sslrootcert={}",
            "names the server otherwise than its certificate does",
        ),
        (NAME, "?sslmode=verify-full", "does not verify"),
        (NAME, "?sslmode=verify-ca", "does not verify"),
    ],
)
async def test_a_server_that_is_not_verified_is_told_by_the_setting(
    postgresql_server: PostgresqlServer, certificate: Path, host: str, options: str, rule: str
) -> None:
    async with speaking_tls(postgresql_server, certificate) as port:
        catalog = SqlCatalog(url_of(postgresql_server, host, port, options.format(certificate)))

        with pytest.raises(MisconfiguredError, match=rule) as told:
            await catalog.check()
        await catalog.close()

    assert told.value.setting == "DATABASE__URL"
    assert str(told.value).startswith("DORMOUSE_DATABASE__URL ")
    assert postgresql_server.password not in str(told.value)


@pytest.mark.parametrize("mode", ["require", "verify-full"])
async def test_a_server_without_tls_is_told_where_it_was_wanted(
    postgresql_server: PostgresqlServer, mode: str
) -> None:
    catalog = SqlCatalog(f"{postgresql_server.url()}?sslmode={mode}")

    with pytest.raises(MisconfiguredError, match="wants TLS, and the server answers without it") as told:
        await catalog.check()
    await catalog.close()

    assert told.value.setting == "DATABASE__URL"
