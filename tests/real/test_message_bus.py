"""The bells' suite, as it is, on a real Kafka."""

from tests.real.suites import taken_over

globals().update(taken_over(["tests.contract.ports.test_message_bus"]))
