/** Checks that the signer signs with each public key in the configuration. */
import type { WriterConfig } from "../../lib/config.ts";
import { errorText } from "../../lib/log.ts";
import { mainKeys, oracleKeys, testnetKeys } from "../../workers/common/wallet-keys.ts";
import { addressOf, askSigner, TRIAL } from "../../workers/relayer/signer.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { isThisMachine } from "./secrets.ts";

const { ok, warning, fault } = findingsOf("signer");

/** Asks for the signature of something that is no transaction, with each key. Never rejects. */
export async function examineSigner(config: WriterConfig): Promise<Finding[]> {
  const { SIGNER_URL: url } = config;
  if (url === undefined) return [];
  const ofSigner = [...mainKeys(config), ...testnetKeys(config), ...oracleKeys(config)].flatMap(
    ({ variable, keys }) =>
      keys.flatMap((key) => ("publicKey" in key ? [{ variable, key, address: addressOf(key) }] : [])),
  );
  const findings = await Promise.all(
    ofSigner.map(async ({ variable, key, address }): Promise<Finding[]> => {
      try {
        await askSigner(key, TRIAL);
        return [];
      } catch (error) {
        const remedy = "correct SIGNER_URL, start the signer, or load the key into it and restart it";
        return [fault(`${variable}: no signature for ${address}: ${errorText(error)}`, remedy)];
      }
    }),
  );
  const faults = findings.flat();
  const { protocol, hostname } = new URL(url);
  if (protocol === "http:" && !isThisMachine(hostname)) {
    const text =
      "SIGNER_URL is not encrypted: who is in between sees what is signed, and who reaches the signer can sign";
    faults.push(warning(text, "use https, and a network in which only the writers reach the signer"));
  }
  const signing = ofSigner.length - findings.flat().length;
  return signing > 0
    ? [ok(`the signer signs with ${signing} of ${ofSigner.length} keys`), ...faults]
    : faults;
}
