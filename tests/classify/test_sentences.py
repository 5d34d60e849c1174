"""Sentences and the language of each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.classify import sentences
from pipeline.classify.rule import Packs
from pipeline.classify.sentences import Latin

LATIN = Latin(
    words={
        "en": frozenset({"the", "is", "no"}),
        "es": frozenset({"el", "es", "no", "que"}),
        "pt": frozenset({"o", "que"}),
    },
    letters={"es": frozenset("ñó"), "pt": frozenset("ãó")},
)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        pytest.param("One. Two! Three?", ["One.", "Two!", "Three?"], id="marks"),
        pytest.param("see file.py and 3.5 now", ["see file.py and 3.5 now"], id="inner-dots"),
        pytest.param("a\n\nb", ["a", "b"], id="lines"),
        pytest.param("違います。直して", ["違います。", "直して"], id="no-space-after"),
        pytest.param(" . ", ["."], id="lonely-mark"),
        pytest.param("", [], id="empty"),
    ],
)
def test_split(text: str, pieces: list[str]) -> None:
    assert [text[a:b] for a, b in sentences.split(text)] == pieces


@given(st.text(max_size=200))
def test_spans_are_ordered_trimmed_and_lose_only_spaces(text: str) -> None:
    spans = sentences.split(text)
    at = 0
    for start, end in spans:
        assert text[at:start].strip() == ""
        assert text[start:end] == text[start:end].strip() != ""
        at = end
    assert text[at:].strip() == ""


def languages(text: str, latin: Latin = LATIN, before: str = "") -> list[str]:
    return [sentence.lang for sentence in sentences.cut(text, latin, before=before)]


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        pytest.param("handleLogin 함수가 빠졌어", "ko", id="korean-with-identifiers"),
        pytest.param("The API 응답 is wrong", "ko", id="korean-among-english-words"),
        pytest.param("useStateは違います", "ja", id="japanese-with-identifiers"),
        pytest.param("这里不对", "zh", id="chinese"),
        pytest.param("README.md 漏了 the install step", "zh", id="chinese-with-english-words"),
        pytest.param("это не так", "ru", id="russian"),
        pytest.param("кнопка Submit is broken", "ru", id="russian-with-english-words"),
        pytest.param("the file is here", "en", id="english"),
        pytest.param("no es el archivo que", "es", id="spanish-vote"),
        pytest.param("no", "en", id="a-draw-is-english"),
        pytest.param("que", "es", id="a-draw-without-english-is-the-first"),
        pytest.param("mañana", "es", id="a-letter-votes"),
        pytest.param("versão", "pt", id="a-letter-votes-too"),
        pytest.param("avión", "es", id="a-shared-letter-is-a-draw"),
        pytest.param("12345", "en", id="no-letters"),
        pytest.param("PyTorch", "en", id="no-votes"),
    ],
)
def test_language(text: str, lang: str) -> None:
    assert languages(text) == [lang]


@pytest.mark.parametrize(
    ("text", "before", "langs"),
    [
        pytest.param("El archivo es viejo. Bueno", "", ["es", "es"], id="the-text-around"),
        pytest.param("Bueno", "el archivo es", ["es"], id="the-words-before"),
        pytest.param("the file. Bueno", "el archivo", ["en", "en"], id="the-text-beats-before"),
        pytest.param("no", "el archivo es", ["es"], id="a-draw-follows-too"),
        pytest.param("the file", "el archivo es", ["en"], id="a-clear-vote-does-not"),
        pytest.param("Bueno", "파일이 없어", ["en"], id="scripts-say-nothing-of-latin-letters"),
    ],
)
def test_without_a_clear_vote_a_sentence_follows_what_is_around_it(
    text: str, before: str, langs: list[str]
) -> None:
    assert languages(text, before=before) == langs


# Short sentences, made up, as people type them: told apart by the shipped word lists.
SHORT = [
    ("es", "no es eso, usa el otro archivo"),
    ("es", "te falta la última fila"),
    ("es", "así no, está al revés"),
    ("es", "¿por qué lo borraste?"),
    ("pt", "não era isso que eu pedi"),
    ("pt", "faltou a última linha"),
    ("pt", "você esqueceu do botão"),
    ("pt", "isso está errado"),
    ("fr", "ce n'est pas ce que j'ai demandé"),
    ("fr", "tu as oublié la dernière ligne"),
    ("fr", "pas celui-là, l'autre"),
    ("fr", "il manque le pied de page"),
    ("de", "das ist nicht die richtige Datei"),
    ("de", "du hast die letzte Zeile vergessen"),
    ("de", "nein, die andere Spalte"),
    ("de", "der Knopf fehlt noch"),
    ("en", "no, use the other file"),
    ("en", "you forgot the last row"),
    ("en", "this is still wrong"),
    ("en", "not that one"),
]


@pytest.mark.parametrize(("lang", "text"), SHORT, ids=[text for _, text in SHORT])
def test_short_sentences_are_told_apart(shipped: Packs, lang: str, text: str) -> None:
    assert set(languages(text, shipped.latin)) == {lang}


def test_han_alone_is_japanese_among_kana() -> None:
    assert languages("修正。それは違います。") == ["ja", "ja"]


def test_a_forced_language_holds_for_all() -> None:
    assert {s.lang for s in sentences.cut("no. 아니", LATIN, "de")} == {"de"}
