"""Promises that no test holds yet, each with its reason. A promise that gets a test leaves this list."""

PENDING = {
    "P2": "a time, so it is measured by load/ and not asserted by a test",
    "P6": "the laptop's one workspace never sleeps; the operator comes with the cluster form",
}
