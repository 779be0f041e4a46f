"""How many tokens one job may still spend on a model. Pure.

What a call will take is only guessed before it: the guess is held back while the call runs, and replaced by
what it really took. So calls that run at the same time cannot overspend together.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class TokenBudget:
    """`limit` 0: none."""

    limit: int
    spent: int = 0
    held: int = 0
    refused: bool = False

    def hold(self, estimate: int) -> bool:
        """Whether a call of about this size may begin; it counts as spent from now on."""
        if estimate and self.limit and self.spent + self.held + estimate > self.limit:
            self.refused = True
            return False
        self.held += estimate
        return True

    def settle(self, estimate: int, actual: int) -> None:
        """The call that was held back for is over, and took this."""
        self.held -= estimate
        self.spent += actual
