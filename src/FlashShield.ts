import { ponder } from "ponder:registry";
import { noteCover } from "./shared/policies.ts";

ponder.on("FlashShield:PolicyCreated", async ({ event }) => noteCover(event));
