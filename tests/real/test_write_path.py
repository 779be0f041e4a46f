"""The write path's suites, as they are, with every store on a real server."""

from tests.real.suites import taken_over

SUITES = ("access_now", "forget", "forget_memory", "loops", "remember", "staging", "suppress")

globals().update(taken_over([f"tests.contract.write_path.test_{name}" for name in SUITES]))
