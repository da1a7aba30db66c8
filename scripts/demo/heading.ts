/** Prints the beginning of a part of the story. */
export const heading = (text: string): void => console.log(`\n═══ ${text}`);
