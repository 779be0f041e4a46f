"""Whether every store tells the same story about a stopped server's folder."""

from dormouse.access import lookup
from dormouse.audit.auditor import Auditor
from dormouse.ids import PrincipalId
from dormouse.ports.bundle import Ports

LOCAL = PrincipalId("local")


async def disagreements(ports: Ports) -> list[str]:
    """One line for each; empty when all agree and nothing is left to do."""
    workspace = await ports.directory.workspace_of(LOCAL)
    async with ports.catalog.reading() as tx:
        scope = await lookup.scope_of(tx, LOCAL, workspace)
        waiting = await tx.past.unapplied_count(workspace)
    report = await Auditor(ports).audit(scope)
    found = [f"{each.drift}: {each.count} {each.examples}" for each in report.findings]
    return [*found, *([f"{waiting} changes are not applied"] if waiting else [])]
