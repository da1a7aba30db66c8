/** Schemas of an API key's fields in responses. */
import { z } from "@hono/zod-openapi";
import { HASH_PREFIX, keyTiers } from "./api-keys.ts";

export const KeyId = z.int().openapi({ description: "Id of the key.", example: 1 });

export const Tier = z
  .enum(keyTiers)
  .openapi({ description: "Determines the key's rate limit.", example: "free" });

export const Label = z.string().nullable().openapi({ example: "trading bot" });

export const HashPrefix = z
  .string()
  .regex(new RegExp(`^[0-9a-f]{${HASH_PREFIX}}$`))
  .openapi({
    description: `First ${HASH_PREFIX} hex digits of the key's SHA-256, to recognise a key that you have.`,
    example: "3f1c8a90",
  });
