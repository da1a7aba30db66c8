/** API keys in URLs: requests with one are refused, and no log contains one. */

/** Text that looks like a key, in any case and with anything around it. */
const KEY_ANYWHERE = /lk_[0-9a-f]{64}/gi;

/** True when the text contains a key. */
export const containsKey = (text: string): boolean => text.search(KEY_ANYWHERE) >= 0;

/** The text with each key replaced by `lk_…`, for the log. */
export const withoutKeys = (text: string): string => text.replace(KEY_ANYWHERE, "lk_…");
