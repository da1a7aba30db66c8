/**
 * A signer in the test's process, with Web3Signer's API for Ethereum 1: `POST /api/v1/eth1/sign/{public key}` signs the keccak-256
 * hash of the data. A test tells it how to answer.
 */
import { createServer, type ServerResponse } from "node:http";
import { type Hex, keccak256, serializeSignature } from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";
import { z } from "zod";
import { freePort } from "../../scripts/local/ports.ts";
import { atEnd } from "./cleanup.ts";

/** What the signer does with a request. */
export type SignerMode =
  | { readonly kind: "signs" }
  /** It answers nothing until it is told something else. */
  | { readonly kind: "holds" }
  | { readonly kind: "answers"; readonly status?: number; readonly body: string }
  /** It signs with another key, or other data. */
  | { readonly kind: "lies"; readonly with?: Hex; readonly data?: Hex };

export type TestSigner = {
  readonly url: string;
  /** What it does with the requests for a key from now on; for all keys when none is named. */
  readonly set: (mode: SignerMode, publicKey?: Hex) => void;
  /** What it was asked to sign with a key, in order. */
  readonly asked: (publicKey: Hex) => readonly Hex[];
  /** The requests that it holds now, and that nobody has given up. */
  readonly held: () => number;
  /** Stops listening, as a signer that is away. */
  readonly leave: () => Promise<void>;
  readonly comeBack: () => Promise<void>;
};

/** The public key of a private one, as Web3Signer lists it: without the prefix 04. */
export const publicKeyOf = (privateKey: Hex): Hex =>
  `0x${privateKeyToAccount(privateKey).publicKey.slice(4)}`;

const bodySchema = z.object({ data: z.custom<Hex>((data) => /^0x[0-9a-f]*$/.test(String(data))) });

/** Starts a signer that has these private keys; it stops when the test file ends. */
export async function startSigner(privateKeys: readonly Hex[]): Promise<TestSigner> {
  const keys = new Map<string, Hex>(privateKeys.map((key) => [publicKeyOf(key), key]));
  const modes = new Map<string, SignerMode>();
  const asked = new Map<string, Hex[]>();
  const held = new Set<ServerResponse>();
  const port = await freePort();

  async function answer(publicKey: string, data: Hex, response: ServerResponse): Promise<void> {
    const key = keys.get(publicKey);
    if (!key) return void response.writeHead(404).end();
    asked.set(publicKey, [...(asked.get(publicKey) ?? []), data]);
    const mode = modes.get(publicKey) ?? modes.get("all") ?? { kind: "signs" };
    response.setHeader("content-type", "text/plain; charset=utf-8");
    switch (mode.kind) {
      case "holds":
        held.add(response);
        response.once("close", () => held.delete(response));
        return;
      case "answers":
        return void response.writeHead(mode.status ?? 200).end(mode.body);
      case "lies":
        return void response.end(await signature(mode.with ?? key, mode.data ?? data));
      case "signs":
        return void response.end(await signature(key, data));
    }
  }

  const server = createServer((request, response) => {
    const [, publicKey] = /^\/api\/v1\/eth1\/sign\/(0x[0-9a-f]{128})$/.exec(request.url ?? "") ?? [];
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = bodySchema.safeParse(JSON.parse(Buffer.concat(chunks).toString()));
      if (request.method !== "POST" || !publicKey || !body.success) return response.writeHead(400).end();
      return void answer(publicKey, body.data.data, response);
    });
  });
  const listen = () => new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listen();
  atEnd(close);
  return {
    url: `http://127.0.0.1:${port}`,
    set: (mode, publicKey) => {
      if (publicKey === undefined) modes.clear();
      modes.set(publicKey ?? "all", mode);
    },
    asked: (publicKey) => asked.get(publicKey) ?? [],
    held: () => held.size,
    leave: close,
    comeBack: listen,
  };
}

/** r, s and v, which is 27 or 28. */
async function signature(privateKey: Hex, data: Hex): Promise<Hex> {
  return serializeSignature(await sign({ hash: keccak256(data), privateKey }));
}
