export function patchesHash(packageName?: string): string;
export function requirePatches(): void;
