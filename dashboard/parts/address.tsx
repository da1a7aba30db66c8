import { useState } from "preact/hooks";
import { shortHex } from "../format/names.ts";
import { Link } from "./link.tsx";

/** How long a copied text is confirmed, in ms. */
const CONFIRMED_MS = 2000;

/** Copies a text. Browsers allow it on https and on this machine only; elsewhere there is no button. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  if (!globalThis.isSecureContext) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), CONFIRMED_MS);
  };
  return (
    <button type="button" class="copy" onClick={copy} aria-label={copied ? "Copied" : `Copy ${what} ${text}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {copied ? <path d="m3 8.5 3.2 3L13 4.5" /> : <path d="M5.5 5.5V2.5h8v8h-3m-8-5h8v8h-8z" />}
      </svg>
    </button>
  );
}

/** A wallet: its short address leads to its page. */
export const Address = ({ of: address }: { of: string }) => (
  <span class="hex">
    <Link to={`/wallet/${address}`} title={address}>
      {shortHex(address)}
    </Link>
    <Copy text={address} what="address" />
  </span>
);

/** A transaction or another hash, linked to the chain's explorer where there is one. */
export const Hash = ({ of: hash, explorer }: { of: string; explorer?: string | null }) => (
  <span class="hex">
    {explorer ? (
      <a href={`${explorer}/tx/${hash}`} title={hash} rel="noreferrer">
        {shortHex(hash)}
      </a>
    ) : (
      <span title={hash}>{shortHex(hash)}</span>
    )}
    <Copy text={hash} what="hash" />
  </span>
);
