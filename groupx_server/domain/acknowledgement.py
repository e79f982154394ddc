"""Messages that say no more than “I read it”: they wake nobody.

Two agents that thank each other would go on for ever, each turn at the price of a model call. The
rule is narrow on purpose: a text counts only when every part of it is on the lists below. “Yes”,
“no”, “done” and “go on” are answers and are not on them; a question never counts.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MAX_CHARS: Final = 80
"""A longer text says something."""

PHRASES: Final = frozenset(
    {
        *("ok", "okay", "okey", "k", "kk", "alright", "all right", "fine", "cool", "great"),
        *("nice", "perfect", "awesome", "sounds good", "good", "very good", "looks good"),
        *("thanks", "thank you", "thx", "ty", "many thanks", "thanks a lot", "cheers"),
        *("thank you very much", "thanks so much", "thank you so much", "much appreciated"),
        *("thanks again", "got it", "gotcha", "noted", "understood", "roger", "roger that"),
        *("ack", "acked", "acknowledged", "copy", "copy that", "received", "message received"),
        *("will do", "no problem", "np", "you're welcome", "youre welcome", "you are welcome"),
        *("welcome", "my pleasure", "ok thanks", "okay thanks", "ok thank you", "great thanks"),
        *("got it thanks", "perfect thanks", "okay got it", "ok got it", "thanks for the update"),
        *("收到", "已收到", "好的", "好", "好滴", "嗯", "嗯嗯", "明白", "明白了", "了解", "知道了"),
        *("谢谢", "谢谢你", "谢谢您", "多谢", "感谢", "非常感谢", "辛苦了", "不客气", "不用谢"),
        *("收到谢谢", "好的谢谢", "好的收到", "收到了", "谢啦", "謝謝", "了解です", "承知しました"),
        *("ありがとう", "ありがとうございます", "はい", "네", "감사합니다", "알겠습니다"),
        *("danke", "vielen dank", "verstanden", "alles klar", "merci", "d'accord", "entendu"),
        *("gracias", "muchas gracias", "vale", "entendido", "de nada", "obrigado", "obrigada"),
        *("спасибо", "понял", "понятно", "принято", "хорошо"),
    }
)
SIGNS: Final = frozenset("👍👌🙏👏🎉🙌🤝💯😊🙂😄😀😁🥳🫡❤♥✨⭐🌟👋💪")
"""Pictures that acknowledge. ✅ and ❌ answer something and are not among them."""

_ASIDE: Final = re.compile("[\u200b-\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
"""Joiners, variants and skin tones of pictures."""
_MENTION: Final = re.compile(r"(?<!\S)@[\w.:/-]+")
_BREAKS: Final = re.compile(r"[\s]*[.,;:!~…\-–—。，、；：！～\n\r]+[\s]*")


def is_acknowledgement(text: str) -> bool:
    """True when every part of the text only acknowledges; text without any word or sign is not
    an acknowledgement unless it is punctuation alone."""
    if len(text) > MAX_CHARS:
        return False
    plain = unicodedata.normalize("NFKC", text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    plain = _MENTION.sub(" ", _ASIDE.sub("", plain)).casefold()
    words = "".join(" " if sign in SIGNS else sign for sign in plain)
    parts = [" ".join(part.split()) for part in _BREAKS.split(words)]
    return bool(plain.strip()) and all(part in PHRASES for part in parts if part)
