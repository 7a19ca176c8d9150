"""What the metrics of a training job are about, by the names that people give them: no library exports them by itself, so only words
that say it count. Names with dots, slashes or dashes are read as with underscores.

Sources: https://prometheus.io/docs/practices/naming/ (units), the scalars of Lightning, the Trainer of transformers and Megatron-LM.
"""

from __future__ import annotations

from gpudoctor.patterns import regex

_OF = r"(?:\w*[_:])?(?:train|training|trainer|pretrain|pretraining|finetune)[_:]"
# The first that fits decides.
ABOUT = (
    # training_last_step_timestamp_seconds  |  trainer_last_step_time  |  train_progress_timestamp_seconds
    (
        "last_step",
        regex(
            rf"{_OF}\w*?(?:last_(?:\w+_)?(?:step|iteration|iter|batch|progress)(?:_\w*time\w*)?|(?:step|iteration|progress|heartbeat)(?:_\w+)?_timestamp)(?:_seconds|_ms)?"
        ),
    ),
    # training_checkpoint_failures_total{reason="ENOSPC"}
    ("checkpoint_failures", regex(r"(?:\w*[_:])?(?:checkpoint|ckpt)\w*_(?:fail|error)\w*")),
    # training_val_loss  |  eval_loss
    ("validation_loss", regex(r"(?:\w*[_:])?(?:val|valid|validation|eval)_(?:\w+_)?loss")),
    ("loss", regex(rf"(?:{_OF}(?:\w+_)?)?(?:lm_)?loss")),
    ("gradient_norm", regex(rf"(?:{_OF}(?:\w+_)?)?(?:grad|gradient)_norm")),
    (
        "samples_per_second",
        regex(rf"(?:{_OF}(?:\w+_)?)?(?:samples|tokens|examples|images|sequences)_per_sec(?:ond)?(?:_per_gpu)?|{_OF}(?:\w+_)?throughput"),
    ),
    ("total_steps", regex(rf"{_OF}(?:total|max)_(?:steps|iterations)")),
    ("step", regex(rf"{_OF}(?:global_|current_)?(?:steps?|iterations?)(?:_total|_count)?|(?:\w*_)?global_step")),
)
UNIT = regex(r"_(seconds|bytes|ratio|total|celsius|watts|percent|tokens|count)$")
OTHER = regex(r"[./-]")


def about(metric: str) -> str:
    """What a metric is about, "" where its name doesn't say.

    >>> about("training_last_step_timestamp_seconds"), about("train/loss"), about("training_val_loss"), about("node_load1")
    ('last_step', 'loss', 'validation_loss', '')
    """
    name = OTHER.sub("_", metric[:200]).lower()
    return next((word for word, pattern in ABOUT if pattern.fullmatch(name)), "")


def unit(metric: str) -> str:
    """The unit that a name ends with.

    >>> unit("training_steps_total"), unit("training_loss")
    ('total', '')
    """
    match = UNIT.search(metric[:200])
    return match[1] if match else ""
