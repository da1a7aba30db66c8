/** Keys that somebody has put into an address: they are refused there, and written to no log. */

/** Whatever looks like a key, however it is written or wrapped. */
const KEY_ANYWHERE = /lk_[0-9a-f]{64}/gi;

/** True when the text holds what looks like a key. */
export const holdsKey = (text: string): boolean => text.search(KEY_ANYWHERE) >= 0;

/** The text with `lk_…` in the place of each key, for the log. */
export const withoutKeys = (text: string): string => text.replace(KEY_ANYWHERE, "lk_…");
