/**
 * `npm run deploy` deploys the reference protocol to a test network, reads it back from the chain, and writes the deployment file
 * that indexer, api and writer read. The deployer's key is in `DEPLOYER_PRIVATE_KEY`, never on the command line, where every user
 * of the machine could read it.
 */
import { formatEther } from "viem";
import { errorText } from "../lib/log.ts";
import { compile } from "./compile.ts";
import { parseDeployArguments, usage } from "./deploy/arguments.ts";
import { deployToNetwork } from "./deploy/to-network.ts";

async function main(): Promise<void> {
  const command = parseDeployArguments(process.argv.slice(2), process.env);
  if (command.do === "help") {
    console.log(usage);
    return;
  }
  compile();
  const { deployment, checked, cost } = await deployToNetwork(command, console.log);
  console.log(`\nRead back and compared: ${checked} contracts and values, all as planned.`);
  console.log(`This run cost ${formatEther(cost)} ETH.\n`);
  for (const [key, address] of Object.entries(deployment.contracts))
    console.log(`${key.padEnd(16)} ${address}`);
  console.log(`\nDEPLOYMENT_FILE=${command.out}`);
}

main().catch((error: unknown) => {
  console.error(errorText(error));
  process.exitCode = 1;
});
