/** A request of the fuzz: the values that it carries, and what its answer must be. */
import type { Operation } from "./operations.ts";

export const badKeys = ["none", "malformedKey", "unknownKey", "revokedKey", "tokenAsKey"] as const;
export const badTokens = ["none", "wrongToken", "keyAsToken"] as const;
/** Wallets with a key, each for another purpose; the last one's is revoked. */
export const holders = [
  "owner",
  "poor",
  "subscriber",
  "redeemer",
  "trader",
  "stranger",
  "revokedKey",
] as const;
export type Credential = "admin" | (typeof holders | typeof badKeys | typeof badTokens)[number];

export type Pairs = readonly (readonly [name: string, value: string])[];
export type Body = Readonly<Record<string, unknown>>;

/** The values of a request. */
export type Parts = {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Pairs;
  readonly headers: Pairs;
  /** Undefined sends none. */
  readonly body: Body | undefined;
  readonly credential: Credential;
};

export type Expected =
  /** 2xx. */
  | { readonly kind: "success" }
  /** 304. */
  | { readonly kind: "unchanged" }
  /** Any documented answer but one that finds the request's shape or credential wrong. */
  | { readonly kind: "well-formed" }
  /** 400 for the shape, with the field's name. */
  | { readonly kind: "invalid"; readonly field: string }
  /** This error, documented for the operation or for all of them. */
  | { readonly kind: "refused"; readonly status: number; readonly code: string }
  /** Any answer that is documented for the operation or for all of them. */
  | { readonly kind: "documented" }
  /** Any answer of another address, which the document need not describe. */
  | { readonly kind: "elsewhere" };

export type Planned = {
  readonly operation: Operation;
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: Pairs;
  readonly credential: Credential;
  readonly body: string | undefined;
  /** What is special about the request, for people. */
  readonly about: string;
  readonly expected: Expected;
};

/** Percent-encodes what needs it, or every byte. Lone surrogates become U+FFFD, as in every UTF-8 text. */
const encode = (text: string, all: boolean): string =>
  all
    ? Buffer.from(text).toString("hex").replace(/../g, "%$&")
    : encodeURIComponent(Buffer.from(text).toString());

/** The path and the query that carry the parts. */
function address({ path: template }: Operation, { path, query }: Parts, all: boolean): string {
  const texts = query.map(([name, value]) => `${encode(name, false)}=${encode(value, all)}`);
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encode(path[name] ?? "", all));
  return filled + (texts.length > 0 ? `?${texts.join("&")}` : "");
}

export type Overrides = Partial<Pick<Planned, "method" | "target" | "headers" | "body">> & {
  /** Percent-encodes every byte of the values in the address. */
  readonly escaped?: boolean;
};

/** The request that carries the parts; `overrides` replace what has no form in parts. */
export function planned(
  operation: Operation,
  parts: Parts,
  about: string,
  expected: Expected,
  { escaped = false, ...overrides }: Overrides = {},
): Planned {
  const type: Pairs = parts.body ? [["Content-Type", "application/json"]] : [];
  return {
    operation,
    method: operation.method.toUpperCase(),
    target: address(operation, parts, escaped),
    headers: [...type, ...parts.headers],
    credential: parts.credential,
    body: parts.body && JSON.stringify(parts.body),
    about,
    expected,
    ...overrides,
  };
}

/** The path of a request, without its query. */
export const pathOf = ({ target }: Pick<Planned, "target">): string => target.replace(/\?.*/s, "");
