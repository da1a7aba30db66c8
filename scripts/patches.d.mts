export function patchesHash(): string;
export function requirePatches(): void;
