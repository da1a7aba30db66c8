/**
 * Why nobody could pay a policy although three observations could have been made:
 *
 * - `price_oracle`: the token had no price;
 * - `capacity`: the bond did not fit into the vault's capacity;
 * - `receiver`: the buyer is a contract that took no bond;
 * - `no_way`: the keeper contract was paused, or not the keeper of the policy's adapter;
 * - `sequencer_down`: the sequencer was down, or up for less than an hour; otherwise three could have been made.
 */
export const neverPayableReasons = [
  "price_oracle",
  "capacity",
  "receiver",
  "no_way",
  "sequencer_down",
] as const;
export type NeverPayableReason = (typeof neverPayableReasons)[number];
