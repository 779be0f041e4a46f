"""Words that say how a sentence is built and not what it is about, by language.

English is a list of our own: function words, auxiliaries, the fragments contractions leave behind, and
small talk. Public lists of over a thousand words also drop "fire", "room", "young" or "computer", which
people ask about. For other languages the lists are stopwords-iso's (MIT), through `stopwordsiso`.
"""

from functools import cache

import stopwordsiso

ENGLISH = frozenset(
    """
    a about above after again against ago all almost along already also although always am among an and
    another any anybody anyone anything are aren as at away be because been before being below between both
    but by came can cannot come could couldn d did didn do does doesn doing don done down during each either
    else enough even ever every everybody everyone everything few for from get gets getting go goes going gone
    got had hadn has hasn have haven having he hence her here hers herself him himself his how however i if in
    indeed instead into is isn it its itself just least less let like ll m made make makes many may maybe me
    might mine more most mostly much must my myself near need neither never no nobody none nor not nothing now
    of off often oh ok okay on once one ones only onto or other others otherwise ought our ours ourselves out
    over own per perhaps please put quite rather re really s said same say says see seem seemed seems several
    shall she should shouldn since so some somebody someone something sometimes somewhere soon still such t
    than that the their theirs them themselves then there therefore these they thing things this those though
    through thus to together too toward towards under unless until up upon us use used using ve very via was
    wasn we well went were weren what whatever when whenever where whereas wherever whether which while who
    whoever whole whom whose why will with within without won would wouldn yeah yes yet you your yours yourself
    yourselves hi hey hello thanks thank
    """.split()
)  # fmt: skip


@cache
def stop_words(language: str) -> frozenset[str]:
    """Casefolded; `language` is ISO 639-1. Unknown ("") is read as English, as `terms` stems it."""
    if language in ("", "en"):
        return ENGLISH
    if not stopwordsiso.has_lang(language):
        return frozenset()
    return frozenset(word.casefold() for word in stopwordsiso.stopwords(language))
