"""Ids with a meaning of their own, as in the published tokenizer and model_config."""

UNKNOWN, BEGIN, END, PAD = 0, 1, 2, 3
CONTROL_PIECES = ("<unk>", "<s>", "</s>", "<pad>")

IM_START, IM_END = 4, 5
AUDIO_START, AUDIO_END = 6, 7
AUDIO_USER_SLOT, AUDIO_ASSISTANT_SLOT = 8, 9
USER_INST, USER_INST_END = 13, 14
USER_DEFINED_PIECES = (
    "<|im_start|>",
    "<|im_end|>",
    "<|audio_start|>",
    "<|audio_end|>",
    "<|vision_pad|>",
    "<|video_pad|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|audio_pad|>",
    "<user_inst>",
    "</user_inst>",
)

FIRST_BYTE = 15
BYTES = 256
FIRST_PIECE = FIRST_BYTE + BYTES

# Pieces of the prompt template of a bundle that has no room for the published one. User text
# never becomes one of them: they are joined from symbols that no other piece contains.
TEMPLATE_PIECES = tuple(f"⟦{index}⟧" for index in range(12))
FIRST_WORD_PIECE = FIRST_PIECE + len(TEMPLATE_PIECES)
