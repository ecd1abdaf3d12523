"""Opening a model in the way this program needs: local files, quiet threads, flat memory."""

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer


def open_session(model_name: str, weights: "Path", tokenizer_dir: "Path") -> "tuple[InferenceSession, Tokenizer]":
    """Load a model from local files; several threads may use both results at once.

    The session computes on the CPU, in the calling thread alone. The tokenizer does not pad, and splits a text over
    the model's limit into windows: the first is the encoding itself, the others are its ``overflowing``.

    Args:
        model_name: What fastembed calls the model.
        weights: The ONNX file.
        tokenizer_dir: Folder of ``tokenizer.json`` and of the small files fastembed reads with it.

    Raises:
        Exception: Whatever fastembed, onnxruntime or tokenizers raise for files they cannot use.
    """
    # Imported here: they take half a second, which a server without a model should not pay.
    import onnxruntime
    from fastembed.common.onnx_model import OnnxModel
    from fastembed.common.preprocessor_utils import load_tokenizer
    from fastembed.text.pooled_normalized_embedding import PooledNormalizedEmbedding
    from loguru import logger  # noqa: PLC0415 - fastembed's own dependency, as heavy as the rest

    logger.disable("fastembed")
    onnxruntime.disable_telemetry_events()

    class Encoder(PooledNormalizedEmbedding):
        """fastembed's encoder with weights and tokenizer in different folders and quiet session options."""

        @classmethod
        def add_extra_session_options(cls, session_options: Any, extra_options: dict[str, Any]) -> None:  # noqa: ANN401 - onnxruntime has no types
            super().add_extra_session_options(session_options, extra_options)
            _quieten(session_options)

        def load_onnx_model(self) -> None:
            # The base of all models loads weights alone; the one for text would look for the tokenizer beside them.
            OnnxModel._load_onnx_model(  # noqa: SLF001 - fastembed's hook for subclasses
                self,
                model_dir=weights.parent,
                model_file=weights.name,
                threads=1,
                providers=["CPUExecutionProvider"],
                cuda=False,
                extra_session_options={"enable_cpu_mem_arena": False},
            )
            self.tokenizer, self.special_token_to_id = load_tokenizer(tokenizer_dir)

    # fastembed wants a folder of its own to be there, and puts nothing into it for a local model.
    encoder = Encoder(
        model_name, cache_dir=str(weights.parent), local_files_only=True, specific_model_path=str(weights.parent)
    )
    session, tokenizer = encoder.model, encoder.tokenizer
    if session is None or tokenizer is None:
        raise RuntimeError("fastembed did not load the model")
    _read_plainly(tokenizer)
    return session, tokenizer


def open_files(weights: "Path", tokenizer_file: "Path", max_tokens: int) -> "tuple[InferenceSession, Tokenizer]":
    """Load a model that fastembed does not know, from its files alone; as ``open_session`` in all else.

    Raises:
        Exception: Whatever onnxruntime or tokenizers raise for files they cannot use.
    """
    import onnxruntime
    from tokenizers import Tokenizer

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    _quieten(options)
    session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.enable_truncation(max_tokens)
    _read_plainly(tokenizer)
    return session, tokenizer


def open_cross_encoder(weights: "Path", tokenizer_file: "Path", max_tokens: int) -> Any:  # noqa: ANN401 - fastembed's own, without types here
    """Load a model that reads two texts at once, as fastembed's ``TextCrossEncoder`` runs it; takes no network.

    It computes on the CPU with all cores in one run. Of a pair that is too long the longer text is cut. It does not
    pad, so one run takes one pair.

    Raises:
        Exception: Whatever fastembed, onnxruntime or tokenizers raise for files they cannot use.
    """
    import onnxruntime
    from fastembed.common.model_description import BaseModelDescription, ModelSource
    from fastembed.common.onnx_model import OnnxModel
    from fastembed.rerank.cross_encoder.onnx_text_cross_encoder import OnnxTextCrossEncoder
    from loguru import logger  # noqa: PLC0415 - fastembed's own dependency, as heavy as the rest
    from tokenizers import Tokenizer

    logger.disable("fastembed")
    onnxruntime.disable_telemetry_events()
    described = BaseModelDescription(
        model=str(weights),
        model_file=weights.name,
        description="",
        license="",
        size_in_GB=0.0,
        sources=ModelSource(url=weights.as_uri()),
    )

    class Pairs(OnnxTextCrossEncoder):
        """fastembed's cross-encoder for files that it does not know, with quiet session options."""

        @classmethod
        def _list_supported_models(cls) -> list[BaseModelDescription]:
            return [described]

        @classmethod
        def add_extra_session_options(cls, session_options: Any, extra_options: dict[str, Any]) -> None:  # noqa: ANN401 - onnxruntime has no types
            super().add_extra_session_options(session_options, extra_options)
            _quieten(session_options)

        def load_onnx_model(self) -> None:
            OnnxModel._load_onnx_model(  # noqa: SLF001 - fastembed's hook for subclasses
                self,
                model_dir=weights.parent,
                model_file=weights.name,
                threads=os.cpu_count(),
                providers=["CPUExecutionProvider"],
                cuda=False,
                extra_session_options={"enable_cpu_mem_arena": False},
            )
            tokenizer = Tokenizer.from_file(str(tokenizer_file))
            tokenizer.enable_truncation(max_tokens, strategy="longest_first")
            _read_plainly(tokenizer)
            self.tokenizer = tokenizer

    return Pairs(
        described.model, cache_dir=str(weights.parent), local_files_only=True, specific_model_path=str(weights.parent)
    )


def _quieten(options: Any) -> None:  # noqa: ANN401 - onnxruntime has no types
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    for pool in ("intra_op", "inter_op"):
        options.add_session_config_entry(f"session.{pool}.allow_spinning", "0")


def _read_plainly(tokenizer: "Tokenizer") -> None:
    tokenizer.no_padding()
    # "[SEP]" or "[MASK]" in a note is text about them, not an instruction to the encoder.
    tokenizer.encode_special_tokens = True
