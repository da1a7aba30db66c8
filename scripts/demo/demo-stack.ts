import type { StackContracts } from "../dev/running-stack.ts";
import type { Api } from "./api-client.ts";
import type { Receiver } from "./receiver.ts";

/** What every part of the demo needs: the stack that it calls, and its subscriber's server. */
export type DemoStack = {
  readonly api: Api;
  readonly contracts: StackContracts;
  readonly adminToken: string;
  readonly receiver: Receiver;
};
