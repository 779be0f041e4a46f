"""The catalog's suites, as they are, on PostgreSQL."""

from tests.real.suites import taken_over

CONCERNS = (
    "access changes datasets documents hidden history jobs ontologies past processes sessions terms "
    "transaction work workspaces"
)

globals().update(taken_over([f"tests.contract.ports.test_catalog_{concern}" for concern in CONCERNS.split()]))
