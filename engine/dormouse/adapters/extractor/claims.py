"""What a sentence claims: a lasting fact, something that happened, a stated plan, or nothing to keep. Pure.

Only what is said counts: questions, requests, greetings and guesses are nothing, and nothing is inferred.
"""

import re
from enum import StrEnum

MIN_WORDS = 4
MAX_WORDS = 90
MAX_CHARACTERS = 900
_MIN_UNSPACED = 6  # characters, where words have no spaces
_CODE_SHARE = 0.4  # of the lines
_LEAST_LETTERS = 0.7  # of what is not white space; code and tables have fewer

_CODE_LINE = re.compile(
    r"^\s*(?:#(?!#|\s+[A-Z])|//|/\*|\*/|import |from \S+ import|def |class |return\b|const |let |var |<\w|</|"
    r"@\w|[{}\[\]()]+[;,]?\s*$|SELECT |INSERT |CREATE |\$ |>>> )|[;{(]\s*$|\w\(\S*\)[;:,]?\s*$|\w+\.\w+\(|"
    r"\s[=!+-]?==?=?\s|=>|->|::|</|NOT NULL"
)


class Claim(StrEnum):
    NOTHING = "nothing"
    FACT = "fact"
    HAPPENED = "happened"
    PLAN = "plan"


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_REQUEST = re.compile(
    r"(?:please|can|could|would|will|do|does|did|is|are|was|were|have|has|should|shall|may|what|why|how|who|where|"
    r"when|which|let me know|let's|feel free|tell me|help me|give me|show me|here's|here is|here are|try to|"
    r"make sure|ensure|remember to|consider|thanks|thank you|hi|hey|hello|bye|good (?:morning|night|luck)|wow|"
    r"congrat\w*|sounds|glad|great|nice|cool|totally|really|"
    r"you|your|you['’](?:re|ve|ll|d)|so (?:cool|proud|glad|nice)|"
    r"(?:i['’]m|i am) so (?:proud|glad|happy) (?:for|of|to)|i (?:totally |completely )?agree)\b",
)
_SOFT_START = re.compile(
    r"(?:wow|yeah|yes|yep|ok|okay|sure|oh|hey|hi|hello|thanks|thank you)\b[\w ]{0,20}[,!.]\s*"
)
_GUESS = re.compile(
    r"\b(?:maybe|perhaps|possibly|presumably|might|i guess|i wonder|what if|not sure|would have|could have|"
    r"if (?:i|we|you|he|she|they|it)|vielleicht|peut-être|quizás|tal vez)\b|也许|可能|なら",
)
_REFUSED_PLAN = re.compile(r"\b(?:won['’]t|will not|not going to|no longer|never|not plan\w*|cancel+ed)\b")
_FIRM_PLAN = re.compile(
    r"\b(?:(?:am|is|are|['’]m|['’]re|['’]s) (?:\w+ly )?(?:going to|planning (?:to|on|a)|about to)|"
    r"plans? (?:to|on|is to)|intends? to|(?:i|we)(?:['’]ll| will)|"
    r"(?:is|are|am|['’]s|['’]re|['’]m) (?:scheduled|booked|due|expected|supposed)|deadline (?:is|of|for)|"
    r"(?:have|has|['’]ve) (?:booked|scheduled|signed up for|"
    r"an? (?:\w+ )?(?:appointment|meeting|interview|flight))|"
    r"looking forward to|can['’]t wait (?:to|for)|"
    r"habe(?:n)? vor|werde(?:n)?|plane|vais|allons|voy a|vamos a|tengo que)\b|打算|计划|准备|つもり|予定",
)
_LOOSE_PLAN = re.compile(
    r"\b(?:will|['’]ll|wants? to|hopes? to|hoping to|thinking (?:of|about)|need(?:s)? to|(?:have|has) to|must|"
    r"(?:am|is|are|['’]m|['’]s|['’]re) \w+ing)\b",
)
_PAST_VERBS = """went had did saw met got made took came bought sold left began started ate gave told said found
    thought felt lost won wrote read ran drove flew spoke spent sent built broke caught chose drank fell fought
    forgot grew held kept knew led let paid rode rose sang sat slept stood swam taught threw wore heard hurt"""
_HAPPENED = re.compile(
    rf"\b(?<!was )(?<!were )(?<!been )(?<!is )(?<!are )(?<!be )(?<!get )(?:{'|'.join(_PAST_VERBS.split())}|"
    r"[^\W\d_]{2,}ed)\b",
)


def claim_of(sentence: str, *, has_past_date: bool, has_future_date: bool) -> Claim:
    """`has_past_date`, `has_future_date`: the sentence names a date before, or after, it was said."""
    plain = sentence.strip().lower().lstrip("-*•#> ").lstrip("0123456789.) ")
    core = _SOFT_START.sub("", plain, count=1)
    if not _is_worth_keeping(core):
        return Claim.NOTHING
    if not _REFUSED_PLAN.search(core) and (
        _FIRM_PLAN.search(core) or (has_future_date and _LOOSE_PLAN.search(core))
    ):
        return Claim.PLAN
    if has_past_date and _HAPPENED.search(core):
        return Claim.HAPPENED
    return Claim.FACT


def is_code(text: str) -> bool:
    """Lines that look like a program, a query or its output; what they say is not claimed by anybody."""
    if not any(mark in text for mark in "(={/#"):
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    return sum(_CODE_LINE.search(line) is not None for line in lines) > _CODE_SHARE * len(lines)


def is_prose(sentence: str) -> bool:
    """A whole sentence, as it stands between lines of code."""
    return sentence[0].isupper() and sentence.rstrip('"”)*')[-1:] in ".!" and not _CODE_LINE.search(sentence)


def _is_worth_keeping(core: str) -> bool:
    if len(core) > MAX_CHARACTERS or core[-1:] in "?？:：" or "?" in core[-4:]:
        return False
    words = len(_WORD.findall(core))
    if not (MIN_WORDS <= words <= MAX_WORDS or len(_UNSPACED.findall(core)) >= _MIN_UNSPACED):
        return False
    if _REQUEST.match(core) or _GUESS.search(core) or (core.endswith("!") and words < 7):
        return False
    shown = "".join(core.split())
    return sum(map(str.isalpha, shown)) >= _LEAST_LETTERS * len(shown)
