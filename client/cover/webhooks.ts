/** Webhooks of the key's wallet. `parametric-cover-service/webhooks` verifies what they deliver. */
import { withBigints } from "../bigints.ts";
import type { Schema } from "../operations.ts";
import { type Context, given, type Options } from "./context.ts";
import { entries } from "./entries.ts";

/**
 * Creates a webhook; its secret is shown only here. A lost answer is not repeated, because each call makes another webhook: look
 * into {@link listWebhooks} then.
 * @throws ApiError `validation_error`, `cap_reached` …; ConnectionError
 */
export const createWebhook = async ({ api }: Context, body: Schema<"NewWebhook">, options: Options = {}) =>
  withBigints(await api.post("/api/v1/webhooks", { body, ...given(options) }));

/** The wallet's webhooks: twenty at most. */
export const listWebhooks = async ({ api }: Context, options: Options = {}) =>
  withBigints(await api.get("/api/v1/webhooks", given(options))).webhooks;

/** Deletes a webhook with its deliveries. @throws ApiError `webhook_not_found`, also when only the answer to the first try was lost */
export const deleteWebhook = ({ api }: Context, id: number, options: Options = {}) =>
  api.delete("/api/v1/webhooks/{id}", { path: { id }, ...given(options) });

/** Sends a test event now. @throws ApiError `test_pending` when its outcome is not known in time */
export const testWebhook = ({ api }: Context, id: number, options: Options = {}) =>
  api.post("/api/v1/webhooks/{id}/test", { path: { id }, ...given(options) });

/** Starts an undeliverable webhook again. */
export const retryWebhook = ({ api }: Context, id: number, options: Options = {}) =>
  api.post("/api/v1/webhooks/{id}/retry", { path: { id }, ...given(options) });

/** A new secret; the previous one signs too for 24 hours. */
export const rotateWebhookSecret = ({ api }: Context, id: number, options: Options = {}) =>
  api.post("/api/v1/webhooks/{id}/rotate-secret", { path: { id }, ...given(options) });

/** What was delivered, newest first, with each attempt. */
export const webhookDeliveries = (context: Context, id: number, options: Options = {}) =>
  entries(context, "/api/v1/webhooks/{id}/deliveries", "deliveries", { path: { id }, ...given(options) });
