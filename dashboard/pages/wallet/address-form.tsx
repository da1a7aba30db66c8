import { useState } from "preact/hooks";
import { go } from "../../data/place.ts";

/** Asks for a wallet's address. The policy of the page forbids forms that are sent, so the button goes there itself. */
export function AddressForm() {
  const [text, setText] = useState("");
  const show = () => {
    if (text.trim() !== "") go(`/wallet/${text.trim()}`);
  };
  return (
    <p class="address-form">
      <label for="address">Address</label>
      <input
        id="address"
        autocomplete="off"
        spellcheck={false}
        placeholder="0x…"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key }) => {
          if (key === "Enter") show();
        }}
      />
      <button type="button" class="button" onClick={show}>
        Show
      </button>
    </p>
  );
}
