/**
 * `npm run fork -- --rpc URL` runs the whole service on a fork of a live chain: the stack of `npm run dev`, whose main chain is an anvil
 * that forks the node's chain, with wallets that may relay and have ether and USDC. Each start forks anew.
 */
import { runStackCommand } from "./dev/run-stack-command.ts";
import { parseForkArguments } from "./fork/arguments.ts";

runStackCommand((argv) => ({ kind: "fork", fork: parseForkArguments(argv) }));
