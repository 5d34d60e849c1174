"""The judge: off, or where masked text goes, and whether it can."""

import os
import shutil

from pipeline.config import Backend
from pipeline.doctor.finding import Finding, edit, ok, red, warn
from pipeline.doctor.scene import Scene
from pipeline.errors import ModelError
from pipeline.judge.backends.api import deprecated_models
from pipeline.judge.backends.choose import NO_BACKEND, key
from pipeline.judge.backends.client import PROGRAM


def ready(scene: Scene) -> Finding:
    """Switched on, it needs a backend with a key or a program, and models that stay."""
    judge, file = scene.config.judge, scene.config.file
    if not judge.enabled:
        return ok("off; nothing leaves the machine unless a run is given --llm")
    if judge.backend is None:
        return red(NO_BACKEND, edit(file, "backend in [judge]"))
    place = judge.base_url
    if judge.backend is Backend.CLIENT:
        program = shutil.which(PROGRAM)
        if program is None:
            return red(f"no {PROGRAM} on the PATH", edit(file, "another backend in [judge]"))
        place = f"{program}, {place}" if judge.compatible else program
    else:
        try:
            key(judge, os.environ)
        except ModelError as error:
            return red(error.message, edit(file, "key_env in [judge]"))
    ending = deprecated_models()
    for model in (judge.first.id, judge.second.id):
        if model in ending:
            return warn(f"{model} ends on {ending[model]}", edit(file, "the models in [judge]"))
    return ok(f"{judge.backend} at {place}: {judge.first.id}, then {judge.second.id}")
