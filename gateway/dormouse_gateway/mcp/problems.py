"""Every error of the engine as the text a model reads: the one table of this edge.

A text says what is wrong and what to do about it, and never contains content, paths or traces.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dormouse.errors import DormouseError, UnavailableError


@dataclass(frozen=True, slots=True)
class ProblemText:
    """`message` None: the error's own words. `fix` is a second line, empty when the first says it all."""

    message: str | None = None
    fix: str = ""


_LATER = ProblemText(
    "the memory is not available right now", "Try again in {retry_after_s} s; nothing was lost."
)

_SAID = ProblemText(fix=_LATER.fix)  # a full disk, say: only its owner can help, so an agent must tell

PROBLEMS: Mapping[str, ProblemText] = MappingProxyType(
    {
        "invalid_input": ProblemText(),
        "unreadable_document": ProblemText(
            fix="Send the content as text, or check that the file's extension is the right one."
        ),
        "too_large": ProblemText(fix="Split the content and send the parts one by one."),
        "unknown_ontology": ProblemText(),
        "not_found": ProblemText(),
        "forbidden": ProblemText(fix="Ask the owner of the dataset for write access, or use one of your own."),
        "conflict": ProblemText(),
        "document_exists": ProblemText(),
        "idempotency_conflict": ProblemText(),
        "superseded": ProblemText("a newer version or a deletion came first"),
        "unavailable": _LATER,
        "catalog_unavailable": _SAID,
        "store_unavailable": _SAID,
        "embedder_unavailable": _LATER,
        "model_unavailable": ProblemText(fix="Nothing was lost; the memories themselves are found without it."),
        "model_refused": ProblemText(
            fix="Tell whoever runs the server to check its language model's settings."
        ),
        "model_reply_malformed": ProblemText(
            fix="Tell whoever runs the server to check its language model's settings."
        ),
        "overloaded": ProblemText("too much is asked at once", "Try again in {retry_after_s} s."),
        "data_folder_busy": ProblemText(
            "another process owns the data folder", "Use the Dormouse that is already running."
        ),
        "lease_lost": ProblemText("another process took over this work", "Try again; nothing was lost."),
        "misconfigured": ProblemText(
            "the server is not set up for this", "Tell whoever runs it to look at its log."
        ),
        "internal": ProblemText(
            "something went wrong inside", "Tell whoever runs the server to look at its log."
        ),
    }
)


def problem_text(error: DormouseError | None, failure: str) -> str:
    """The whole text of an error answer; `failure` comes first. None: an error nobody foresaw."""
    code = "internal" if error is None else error.code
    message = PROBLEMS[code].message or str(error)
    retry_after_s = error.retry_after_s if isinstance(error, UnavailableError) else 1
    fix = fix_of(code, retry_after_s=retry_after_s)
    return f"{failure}{message}\nFix: {fix}" if fix else failure + message


def fix_of(code: str, *, retry_after_s: int = 1) -> str:
    """What to do about an error of this code; empty when nothing is known to help."""
    problem = PROBLEMS.get(code)
    return problem.fix.format(retry_after_s=retry_after_s) if problem else ""
