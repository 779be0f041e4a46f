from dormouse.ids import PrincipalId
from dormouse.model.scope import Grant, Permission, Principal
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import ANOTHER_PRINCIPAL, NOW_MS
from tests.contract.ports.catalog_samples import a_stored_dataset
from tests.hand_clock import HandClock


async def test_a_principal_is_made_once(catalog: Catalog, clock: HandClock) -> None:
    async with catalog.transaction() as tx:
        made = await tx.access.ensure_principal(PrincipalId("ada"), "Ada")
        await tx.commit()
    clock.advance(1)
    async with catalog.transaction() as tx:
        again = await tx.access.ensure_principal(PrincipalId("ada"), "Ada")

    assert made == again == Principal(PrincipalId("ada"), "Ada", NOW_MS)


async def test_a_later_grant_replaces_the_earlier(catalog: Catalog) -> None:
    dataset = await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.access.grant(dataset.id, ANOTHER_PRINCIPAL, Permission.WRITE)
        await tx.access.grant(dataset.id, ANOTHER_PRINCIPAL, Permission.READ)
        await tx.commit()

    async with catalog.reading() as tx:
        grants = await tx.access.grants_to(ANOTHER_PRINCIPAL)
    assert grants == [Grant(ANOTHER_PRINCIPAL, dataset.id, Permission.READ, NOW_MS)]


async def test_a_revoked_grant_is_gone_for_that_principal_alone(catalog: Catalog) -> None:
    dataset, third = await a_stored_dataset(catalog), PrincipalId("third")
    async with catalog.transaction() as tx:
        await tx.access.grant(dataset.id, ANOTHER_PRINCIPAL, Permission.READ)
        await tx.access.grant(dataset.id, third, Permission.READ)
        await tx.access.revoke(dataset.id, ANOTHER_PRINCIPAL)

        assert await tx.access.grants_to(ANOTHER_PRINCIPAL) == []
        assert [grant.principal for grant in await tx.access.grants_to(third)] == [third]


async def test_all_grants_on_a_dataset_go_at_once_and_those_on_others_stay(catalog: Catalog) -> None:
    dataset, other = await a_stored_dataset(catalog), await a_stored_dataset(catalog, "other")
    async with catalog.transaction() as tx:
        for principal in (ANOTHER_PRINCIPAL, PrincipalId("third")):
            await tx.access.grant(dataset.id, principal, Permission.READ)
        await tx.access.grant(other.id, ANOTHER_PRINCIPAL, Permission.READ)
        await tx.access.revoke_all(dataset.id)

        assert await tx.access.grants_on(dataset.id) == []
        assert [grant.dataset for grant in await tx.access.grants_to(ANOTHER_PRINCIPAL)] == [other.id]


async def test_a_secret_is_what_the_first_made_it(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        assert await tx.access.secret("sessions", "first") == "first"
        await tx.commit()

    async with catalog.transaction() as tx:
        assert await tx.access.secret("sessions", "second") == "first"
        assert await tx.access.secret("other", "third") == "third"
