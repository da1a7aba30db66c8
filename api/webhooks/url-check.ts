import { ApiError } from "../../lib/errors.ts";
import { within } from "../../lib/timeout.ts";
import { type AllowedHost, LOOPBACK_HOSTS } from "../../lib/webhooks/allowed-hosts.ts";
import { createTargetGuard, type Resolve, ResolverUnavailable } from "../../lib/webhooks/target-guard.ts";

/** Longest wait for the name servers, in ms. */
const CHECK_MS = 4500;

export type Targets = {
  /**
   * Checks a webhook's URL and returns its normal form.
   * @throws ApiError `validation_error` with the reason, or `resolver_unavailable`
   */
  check(url: string): Promise<string>;
};

export type TargetOptions = {
  /** Hosts that the operator allows; undefined if not configured. */
  allow: readonly AllowedHost[] | undefined;
  /** On a local chain this machine is allowed by default. */
  isLocalChain: () => Promise<boolean>;
  resolve?: Resolve;
};

const unavailable = (cause?: unknown) =>
  new ApiError("resolver_unavailable", "The host name could not be resolved now; try again later.", {
    cause,
  });

/** Checks URLs for clients; the writer checks again before each delivery. */
export function createTargets({ allow, isLocalChain, ...resolver }: TargetOptions): Targets {
  const allowed = async () => allow ?? ((await isLocalChain()) ? LOOPBACK_HOSTS : []);
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
