import { type TestClient, testClient } from "../../support/chain.ts";

/** A client of the same node whose reads of one tick share a request: for many reads at once. */
export function batched({ chain, transport }: TestClient): TestClient {
  if (transport.url === undefined) throw new Error("the client has no URL");
  return testClient(chain, transport.url, { batch: true });
}
