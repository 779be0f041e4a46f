import ssl

import certifi
import pytest

from dormouse.adapters.catalog.postgresql_url import address_of, is_postgresql
from dormouse.errors import MisconfiguredError


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+asyncpg"])
def test_every_usual_spelling_names_the_same_address(scheme: str) -> None:
    address = address_of(f"{scheme}://ada:s3cret@db.example.net:5433/memory")

    assert is_postgresql(f"{scheme}://host/db")
    assert address.url.render_as_string(hide_password=False) == (
        "postgresql+asyncpg://ada:s3cret@db.example.net:5433/memory"
    )
    assert address.arguments == {}


def test_a_mode_of_encryption_is_handed_to_the_driver() -> None:
    assert address_of("postgresql://host/db?sslmode=require").arguments == {"ssl": "require"}


def test_authorities_of_ones_own_are_trusted() -> None:
    address = address_of(f"postgresql://host/db?sslmode=verify-full&sslrootcert={certifi.where()}")

    context = address.arguments["ssl"]

    assert isinstance(context, ssl.SSLContext)
    assert context.check_hostname


@pytest.mark.parametrize(("mode", "has_name"), [("verify-full", True), ("verify-ca", False)])
def test_without_authorities_of_ones_own_the_systems_verify(mode: str, has_name: bool) -> None:
    context = address_of(f"postgresql://host/db?sslmode={mode}").arguments["ssl"]

    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, has_name)


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("postgresql://ada:s3cret@host", "names no database"),
        ("postgresql://ada:s3cret@host:port/db", "is not a URL"),
        ("postgresql://ada:s3cret@host/db?sslmode=s3cret", "sslmode that is none of"),
        ("postgresql://ada:s3cret@host/db?options=-c", "has the option options"),
        ("postgresql://ada:s3cret@host/db?sslrootcert=/nowhere", "needs sslmode=verify-ca"),
        ("postgresql://ada:s3cret@host/db?sslmode=verify-full&sslrootcert=/nowhere", "cannot be read"),
    ],
)
def test_a_wrong_url_is_refused_by_its_rule_and_never_repeated(url: str, rule: str) -> None:
    with pytest.raises(MisconfiguredError, match=rule) as told:
        address_of(url)

    assert told.value.setting == "DATABASE__URL"
    assert "s3cret" not in str(told.value)
