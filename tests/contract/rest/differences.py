"""Every deliberate difference from the recorded graph contract over REST, once, with its reason.

`docs/compatibility.md` shows the same table; `python -m tests.contract.rest.differences` writes it there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "compatibility.md"
BEGIN, END = "<!-- rest: generated -->", "<!-- rest: end -->"


@dataclass(frozen=True, slots=True)
class Difference:
    """`statuses`: what we answer to each recorded call instead. `missing`: patterns of fields that recorded
    answers have and ours lack, at any place that ends so."""

    reference: str
    ours: str
    reason: str
    statuses: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


DIFFERENCES = (
    Difference(
        reference="Errors come in three shapes, of which one repeats the body that was sent.",
        ours="One envelope: `detail`, `code`, `remediation`, `request_id`.",
        reason="A program can act on a code, and nothing is repeated to whoever reads the logs.",
    ),
    Difference(
        reference="A request that breaks a rule is 400 or 422, by which part of the server noticed.",
        ours="400; 422 for a forget without one clear target and for a key reused for another body.",
        reason="The caller's mistake is the same wherever it is noticed.",
        statuses={"recall_bad_scope": 400, "search_CODE": 400, "recall_CODE": 400, "recall_topk0": 400},
    ),
    Difference(
        reference="Fields and query parameters that are not known are ignored.",
        ours="They are refused by name; so are `include_references` and `only_context`: every entry carries "
        "its document, and what an answer rests on follows it.",
        reason="A misspelt `datasets` would search everything.",
        statuses={"recall_refs": 400, "recall_onlyctx": 400},
    ),
    Difference(
        reference="An id that is somebody else's, or of nothing, is 403.",
        ours="404, the same for both.",
        reason="Whether there is such a dataset is nobody else's business.",
        statuses={
            "status_unknown": 404,
            "data_list_404": 404,
            "bob_data_denied": 404,
            "bob_status_denied": 404,
            "bob_recall_denied": 404,
            "bob_forget_denied_id": 404,
            "bob_delete_denied": 404,
            "forget_unknown_id": 404,
        },
    ),
    Difference(
        reference="`cognify` of a name that is not there makes an empty dataset and reports success.",
        ours="404, and nothing is touched.",
        reason="A misspelt name must not look like work that was done.",
        statuses={"cognify_unknown": 404},
    ),
    Difference(
        reference="`pipeline_run_id` names a run, and is null for background work.",
        ours="It is the id of the (first) job, also in the background; null when nothing was to be done.",
        reason="Whoever hands work over can ask for it.",
    ),
    Difference(
        reference="Of several items in one call, one that fails fails the run and takes the others back.",
        ours="Each has its own line; those that were accepted stay, and the call is 409.",
        reason="What was acknowledged is never taken back.",
    ),
    Difference(
        reference="Files for a session are dropped, and the answer says that they are stored.",
        ours="Their text is kept and found in the session.",
        reason="An acknowledged write is kept.",
    ),
    Difference(
        reference="A session entry without a dataset is bound to `main_dataset`, which is made if need be; a "
        "session belongs to its first dataset for ever.",
        ours="It is bound to the dataset that is named, if one is; each entry on its own.",
        reason="A note does not make a dataset, and forgetting a dataset does not close a session.",
    ),
    Difference(
        reference="`skill_run` entries feed a store of skills.",
        ours="Refused.",
        reason="No skills are kept.",
    ),
    Difference(
        reference="The score of a chunk is a distance: lower is better.",
        ours="Higher is better.",
        reason="It is the score of a fused ranking, in which no single distance stands for the order.",
    ),
    Difference(
        reference="Completing search types answer with one sentence of a language model per dataset.",
        ours="One ranking over all datasets returns the memories; with a model one answer precedes them, whose "
        "dataset is null.",
        reason="The main job works offline, and an answer can be checked.",
    ),
    Difference(
        reference="Chunks, nodes and `raw` show the internals of the reference's stores, and session entries "
        "the state of its feedback pipeline.",
        ours="Chunks have id, text, document, place and score; nodes what we know of them; `raw` and "
        "`memify_metadata` are null.",
        reason="There are no such internals here.",
        missing=(
            r"\[\]\.search_result\[\]\.\w+",
            r"\.nodes\[\]\.properties\.\w+",
            r"\[\]\.raw",
            r"\[\]\.memify_metadata",
        ),
    ),
    Difference(
        reference="`rawDataLocation` tells the server's path, and `externalMetadata` an address added to it.",
        ours="The location is null, and the metadata is the caller's own.",
        reason="Where the server keeps something is nobody's business; `…/raw` has the bytes.",
        missing=(r"\[\]\.externalMetadata(\._cognee)?",),
    ),
    Difference(
        reference="An original is shown by the browser.",
        ours="It is a download that no browser runs or guesses the type of.",
        reason="A page that somebody remembered must not act in the memory's name.",
    ),
    Difference(
        reference="A forget answers 200 whenever the request ends.",
        ours="200 once a read-back found nothing; 202, `running` and `job_ids` when the wait is over first.",
        reason="Gone means gone.",
    ),
    Difference(
        reference="Lists have `offset`, or no end at all.",
        ours="`limit` and `cursor`; the next cursor is in `X-Next-Cursor`. The graph is paged too.",
        reason="A cursor stays true while items come and go, and no answer is without a bound.",
    ),
    Difference(
        reference="Questions and answers are kept as a history, which no forget erases.",
        ours="There is no history to read.",
        reason="It would quote what was forgotten.",
        statuses={"recall_history": 405, "search_history": 405},
    ),
    Difference(
        reference="Sessions count tokens and costs, and `…/sessions/stats` adds them up.",
        ours="These fields are null, and there are no statistics.",
        reason="Only what is measured is told.",
        statuses={"sessions_stats": 404},
    ),
    Difference(
        reference="`improve` copies sessions into the graph, and each remember reports its stages.",
        ours="Not served.",
        reason="What is said in a session is short-lived and its owner's.",
        statuses={"improve": 404},
        missing=(r"\.improve",),
    ),
    Difference(
        reference="`memory_only` beside `everything` is not heeded: the items go too.",
        ours="422: it works on an item or a dataset.",
        reason="Who asks to keep the items must not lose them.",
    ),
    Difference(
        reference="`…/schema`, `…/graph-summary`, `/settings`, `/activity/…`, `/validate`, `/checks/…`.",
        ours="Not served.",
        reason="A dataset has no schema of its own, settings are the operator's, and `dormouse doctor`, "
        "metrics and traces tell of the server's state.",
        statuses={
            "schema_get": 404,
            "graph_summary": 405,
            "settings": 404,
            "pipeline_runs": 404,
            "activity_spans": 404,
            "checks": 404,
            "bob_settings_get": 404,
            "bob_settings_post": 404,
            "bob_activity_users": 404,
        },
    ),
    Difference(
        reference="Nothing bounds how much is asked, and no answer names its request.",
        ours="429 with `Retry-After` beyond generous bounds; `X-Request-Id` in every answer.",
        reason="One caller must not slow down the others.",
    ),
    Difference(
        reference="An ontology is stored unread, `.owl` only.",
        ours="RDF/XML, Turtle and N-Triples, read and checked at upload; what they import is never fetched.",
        reason="A mistake in the file is best told to whoever uploads it.",
        statuses={"onto_badext": 422},
    ),
    Difference(
        reference="Names match an ontology by the end of an IRI, also when they are four fifths alike.",
        ours="By labels as well, and only when they are the same but for case, spacing and a plural `s`.",
        reason="Two people with similar names must not become one.",
    ),
    Difference(
        reference="Users register themselves, log in with passwords, and make keys over REST.",
        ours="`dormouse keys` makes keys, for the users it names; `/auth/…`, roles and tenants are not served.",
        reason="Nobody lets themselves in, and there is no password to lose.",
        statuses=dict.fromkeys(
            (
                *("login_bad", "login_missing", "login_ok", "login_bob", "auth_me", "register", "register_dup"),
                *("apikey_create", "apikey_list", "apikey_delete_unknown", "apikey_delete"),
                *("tenants_me", "tenant_create", "tenant_select_null", "bob_user_id_lookup"),
            ),
            404,
        ),
    ),
    Difference(
        reference="An API key is taken in `X-Api-Key` only.",
        ours="Also as `Authorization: Bearer`.",
        reason="Most clients of MCP and REST have a field for that and for nothing else.",
        statuses={"bearer_with_apikey": 200},
    ),
    Difference(
        reference="`/health` tells the version, `/health/detailed` each part by name, and `/` says hello.",
        ours="`/health` and `/healthz` say that the process lives, `/readyz` that it can serve; the others "
        "are not there.",
        reason="They are open to everybody; `GET /api/v1/status` tells users more.",
        statuses={"health_detailed": 404, "root": 404},
        missing=(r"\.health", r"\.version"),
    ),
    Difference(
        reference="A grant to a user that does not exist is a crash, and anybody may ask for anybody's id.",
        ours="404 to the dataset's owner, and nothing to others; `…/datasets/{id}/grants` lists them.",
        reason="Who else is there is nobody's business.",
        statuses={"perm_bad": 404},
    ),
    Difference(
        reference="`read`, `write`, `delete` and `share` are granted one by one.",
        ours="Each of `read`, `write` and `delete` includes those before it; only the owner shares. `write` "
        "does not let anybody forget.",
        reason="Nobody can use a permission without those before it, and whoever was let in should not let in "
        "others.",
    ),
    Difference(
        reference="Names resolve among one's own datasets only; shared ones are named by id.",
        ours="Among one's own first, then the only shared one of that name. A name that was one's own stays "
        "so: forgotten, it is not found until something is remembered under it.",
        reason="Agents know names; but none of them may come to mean somebody else's data.",
        statuses={"bob_recall_name": 200},
    ),
    Difference(
        reference="A key that is twice in a JSON object counts with its last value.",
        ours="Refused, by the key.",
        reason="What was checked must be what is done.",
    ),
)

# Calls that stand for nothing here, each with its reason.
NOT_REPLAYED: Mapping[str, str] = {
    "after_key_delete": "Keys are taken back by `dormouse keys`, which has its own tests.",
    "cost_remember_162KB": "How long the reference takes for a large text.",
    "cost_recall_None": "How often the reference asks its models; no answer is recorded.",
    "cost_recall_CHUNKS": "As before.",
    "cost_recall_GRAPH_COMPLETION": "As before.",
    "cost_recall_HYBRID_COMPLETION": "As before.",
    "cost_recall_all": "As before.",
    "recall_sse": "A recall is one answer; stages are told over MCP, as progress.",
    "second_process_login": "There are no passwords, and one process owns a data folder.",
    "second_process_token_from_first": "There are no session tokens; a key is good wherever it is listed.",
    "second_process_recall_graph": "A second process on the same folder does not start: it names the first.",
    "second_process_remember": "As before.",
}


def status_of(case: str, recorded: int) -> int:
    """What we answer to this call."""
    return next((each.statuses[case] for each in DIFFERENCES if case in each.statuses), recorded)


def may_miss(place: str) -> bool:
    return any(re.fullmatch(rf".*{pattern}", place) for each in DIFFERENCES for pattern in each.missing)


def rendered() -> str:
    rows = [f"| {each.reference} | {each.ours} | {each.reason} |" for each in DIFFERENCES]
    left_out = [f"| `{case}` | {reason} |" for case, reason in NOT_REPLAYED.items()]
    return "\n".join(
        [
            *(BEGIN, "", "| recorded | here | why |", "|---|---|---|", *rows, ""),
            *(
                "Every other recorded call of REST is made again against the server; these are not:",
                "",
            ),
            *("| recorded call | why |", "|---|---|", *left_out, "", END),
        ]
    )


def in_page(page: str) -> str:
    """The page with the table as it should be."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + rendered() + tail


if __name__ == "__main__":
    PAGE.write_text(in_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
