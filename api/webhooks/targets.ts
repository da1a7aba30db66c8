import { ApiError } from "../../lib/errors.ts";
import { type AllowedHost, LOOPBACK_HOSTS } from "../../lib/webhooks/allowed-hosts.ts";
import { createTargetGuard, type Resolve, ResolverUnavailable } from "../../lib/webhooks/guard.ts";
import { within } from "../../lib/within.ts";

/** No answer waits longer for the name servers, in ms. */
const CHECK_MS = 4500;

export type Targets = {
  /**
   * The normal form of an address to which a webhook may lead.
   * @throws ApiError `validation_error` with the reason, or `resolver_unavailable`
   */
  check(url: string): Promise<string>;
};

export type TargetOptions = {
  /** Hosts that the operator allowed; undefined when nothing was said. */
  allow: readonly AllowedHost[] | undefined;
  /** Whether the chain is a local one, where this machine is allowed unless something else was said. */
  isLocal: () => Promise<boolean>;
  resolve?: Resolve;
};

const unavailable = (cause?: unknown) =>
  new ApiError("resolver_unavailable", "The host's name could not be looked up now; try again later.", {
    cause,
  });

/** The guard as clients meet it; the writer asks the same one before each delivery. */
export function createTargets({ allow, isLocal, ...resolver }: TargetOptions): Targets {
  const allowed = async () => allow ?? ((await isLocal()) ? LOOPBACK_HOSTS : []);
  return {
    async check(url) {
      const guard = createTargetGuard({ allow: await allowed(), ...resolver });
      try {
        const verdict = await within(CHECK_MS, guard.check(url), unavailable);
        if (verdict.ok) return verdict.url;
        throw new ApiError("validation_error", `The request is not valid: url ${verdict.reason}`, {
          details: [{ path: "url", message: verdict.reason }],
        });
      } catch (error) {
        throw error instanceof ResolverUnavailable ? unavailable(error) : error;
      }
    },
  };
}
