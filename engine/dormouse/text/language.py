"""Which language a text is written in, cheaply: by its script, then by its commonest words."""

import re
import unicodedata
from collections import Counter

SAMPLE_CHARACTERS = 2000
LEAST_HITS = 2  # one shared word ("die", "a") proves nothing

_SCRIPTS = (
    ("kana", re.compile(r"[\u3041-\u30ff]")),
    ("hangul", re.compile(r"[\u1100-\u11ff\uac00-\ud7af]")),
    ("han", re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")),
    ("arabic", re.compile(r"[\u0620-\u06ff]")),
    ("cyrillic", re.compile(r"[\u0400-\u04ff]")),
    ("greek", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("hebrew", re.compile(r"[\u05d0-\u05ea]")),
    ("devanagari", re.compile(r"[\u0900-\u097f]")),
    ("thai", re.compile(r"[\u0e01-\u0e5b]")),
    ("armenian", re.compile(r"[\u0531-\u0587]")),
    ("latin", re.compile(r"[a-z\u00df-\u024f\u1e00-\u1eff]")),
)
_ALONE = {
    "hangul": "ko", "greek": "el", "hebrew": "he", "devanagari": "hi", "thai": "th", "armenian": "hy",
}  # fmt: skip
_KANA_SHARE = 0.1  # of kana and han together: Chinese quotes a Japanese name now and then

_COMMON: dict[str, dict[str, frozenset[str]]] = {
    "latin": {
        language: frozenset(line.split())
        for language, line in {
            "en": "the and of to is was that it with for you my have this are not what i be did on at when who",
            "de": "der die das und ist nicht ich ein eine mit zu den auf für von sich es dem wir sie war wann",
            "fr": "le la les des est et une dans pour pas que qui je vous avec sur nous du au ce sont où elle",
            "es": "el la los las de que y en un una es por con para no se su lo como más mi cuándo está del",
            "pt": "o os as de que e em um uma é para com não se do da no na por mais meu quando está eu",
            "it": "il lo la gli di che e è un una per con non si del della sono ho nel mi quando più anche",
            "nl": "de het een en van is dat niet ik op te met voor zijn wat er aan ook maar naar wij heeft",
            "sv": "och att det är en som på jag inte med för av den har till vi om ett var när",
            "da": "og at det er en som på jeg ikke med for af den har til vi om et var hvornår",
            "no": "og at det er en som på jeg ikke med for av den har til vi om et var når hva",
            "fi": "ja on ei se että hän oli mutta kun niin minä ovat olen joka mitä tämä myös",
            "pl": "i w nie na się że jest to z do jak po za od przez ale czy był ja kiedy",
            "cs": "a je v se na to že s z do jsem o pro jak ale by byl kdy jsou není",
            "ro": "și în de la este nu cu pe un o că pentru din mai sunt care am ce a fost când",
            "hu": "a az és hogy nem is egy van de meg ez volt csak mi én már mikor vagy",
            "tr": "ve bir bu için ile de da ne çok ben mi gibi var değil olarak daha ama nerede",
            "id": "yang dan di ini itu dengan untuk tidak saya dari akan pada ke adalah kami ada apa",
            "vi": "và là của không tôi có được cho một những trong người này với các đã khi ở gì đi",
        }.items()
    },
    "cyrillic": {
        "ru": frozenset("и в не на что я с как это по но он она мы они для был где когда".split()),
        "uk": frozenset("і в не на що я з як це та але він вона ми вони для був де коли є".split()),
        "bg": frozenset("и в не на че аз с как това по но той тя ние те за беше къде кога е да се".split()),
        "sr": frozenset("и у не на да ја с како то по али он она ми они за је где када се".split()),
    },
    "arabic": {
        "ar": frozenset("في من على إلى أن هذا هذه التي الذي لا ما كان مع عن هو هي ثم أو متى أين".split()),
        "fa": frozenset("در از به که این را با است برای آن یک خود تا بر هم نیز می ها کجا چه".split()),
        "ur": frozenset("کے کی میں ہے سے کا کو اور پر یہ نے کہ ہیں تھا بھی اس ایک وہ کیا".split()),
    },
}
_LANGUAGES = {
    script: {
        word: tuple(name for name, common in languages.items() if word in common)
        for word in frozenset().union(*languages.values())
    }
    for script, languages in _COMMON.items()
}
_OF_ONE_SCRIPT = {"cyrillic": "ru", "arabic": "ar"}
_WORD = re.compile(r"[^\W\d_]+")


def detect_language(text: str) -> str:
    """ISO 639-1, or "" where the text does not say: too short, mixed, or none we know."""
    sample = unicodedata.normalize("NFC", text[:SAMPLE_CHARACTERS]).casefold()
    if sample.isascii():  # most text; eleven searches less
        return _by_common_words(sample, "latin")
    counts = {name: len(pattern.findall(sample)) for name, pattern in _SCRIPTS}
    script = max(counts, key=lambda name: counts[name])
    if not counts[script]:
        return ""
    if script in ("kana", "han"):
        return "ja" if counts["kana"] > _KANA_SHARE * (counts["kana"] + counts["han"]) else "zh"
    if script in _ALONE:
        return _ALONE[script]
    return _by_common_words(sample, script) or _OF_ONE_SCRIPT.get(script, "")


def _by_common_words(sample: str, script: str) -> str:
    if script not in _COMMON:
        return ""
    known = _LANGUAGES[script]
    hits = Counter(dict.fromkeys(_COMMON[script], 0))
    for word in _WORD.findall(sample):
        hits.update(known.get(word, ()))
    (best, most), (_, second) = hits.most_common(2)
    return best if most >= LEAST_HITS and most > second else ""
