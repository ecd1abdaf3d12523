"""Models: the only package that loads fastembed, onnxruntime and tokenizers."""
