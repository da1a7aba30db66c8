import { useState } from "preact/hooks";
import { Head } from "../../parts/head.tsx";
import { open } from "./session.ts";

/**
 * Asks for the admin token. Its field is no password field: browsers offer to keep those, and the token is to be in memory only.
 * The style hides what is typed.
 */
export function Gate({ reason }: { reason: string | undefined }) {
  const [token, setToken] = useState("");
  const [opening, setOpening] = useState(false);
  const submit = async () => {
    if (token.trim() === "" || opening) return;
    setOpening(true);
    await open(token.trim());
    setOpening(false);
  };
  return (
    <>
      <Head title="Operator">The operator’s page needs the admin token.</Head>
      <p class="note" id="token-note">
        It is ADMIN_TOKEN of the API’s configuration. It stays in this page’s memory until you forget it, load
        the page again or close it, and goes to this API alone.
      </p>
      <p class="fields">
        <label for="token">Admin token</label>
        <input
          id="token"
          class="secret"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-describedby="token-note token-fault"
          aria-invalid={reason !== undefined}
          value={token}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
          onKeyDown={({ key }) => {
            if (key === "Enter") void submit();
          }}
        />
        <button type="button" class="button" aria-disabled={opening} onClick={submit}>
          {opening ? "Asking …" : "Open"}
        </button>
      </p>
      <p id="token-fault" class="refusal" role="alert">
        {opening ? undefined : reason}
      </p>
    </>
  );
}
