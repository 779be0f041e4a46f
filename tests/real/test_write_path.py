"""The write path's suites, as they are, with catalog, contents and vectors on real servers."""

from tests.real.suites import taken_over

SUITES = ("access_now", "forget", "forget_memory", "loops", "remember", "staging", "suppress")

globals().update(taken_over([f"tests.contract.write_path.test_{name}" for name in SUITES]))
