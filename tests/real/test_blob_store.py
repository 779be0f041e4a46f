"""The blobs' suite, as it is, on a real S3 server."""

from tests.real.suites import taken_over

globals().update(taken_over(["tests.contract.ports.test_blob_store"]))
