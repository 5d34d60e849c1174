"""What the text of a piece tells of itself, wherever in a line it stands."""

from pipeline.records import Kind
from pipeline.transcripts import markers
from pipeline.transcripts.human.piece import Class, Piece


def own_text(text: str) -> Piece | None:
    """G4: what our own hook or a memory plug-in wrote; None for anything else."""
    if markers.OUR_FENCE in text or markers.starts_observer(text):
        return Piece(Class.HARNESS, "G4", "own_text")
    return None


def tagged(text: str, trusted: bool, row: str) -> Piece | None:
    """What a beginning says about a text; None when it says nothing.

    `trusted` texts are known to be typed: of the tags only those count that the client writes
    around a person's words, and only closed ones (people type such beginnings).
    """
    start = text.lstrip()
    if start.startswith(markers.COMMAND_TAGS) and (not trusted or markers.is_closed(start)):
        words = markers.command_words(start)
        if words:
            return Piece(Class.EMBEDDED, row, text=words, kind=Kind.COMMAND_ARGS)
        return Piece(Class.HARNESS, row, "command")
    if start.startswith("<bash-input>") and (not trusted or markers.is_closed(start)):
        return Piece(Class.HARNESS, row, "shell_command")
    if start.startswith(markers.INJECTED_TAGS):
        rest = markers.strip_injected(start)
        if not rest.strip():
            return Piece(Class.HARNESS, row, "injected")
        return None if trusted or rest != start else Piece(Class.HARNESS, row, "injected")
    if not trusted and start.startswith(markers.CLIENT_BEGINNINGS):
        return Piece(Class.HARNESS, row, "client_text")
    return None
