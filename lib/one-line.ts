/** A joiner, which Persian and Indian scripts need, or an emoji, which may contain formatting characters as England's flag does. */
const JOINER_OR_EMOJI = /[\u200C\u200D]|\p{RGI_Emoji}/gv;

/** Control and formatting characters, line ends, lone surrogates. */
const NOT_SHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Whether a text is one line, in which nothing but joiners is hidden, and nothing changes its direction. */
export const isOneLine = (text: string): boolean => !NOT_SHOWN.test(text.replace(JOINER_OR_EMOJI, ""));
