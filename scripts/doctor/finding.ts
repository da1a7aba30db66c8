/** What `npm run doctor` found. Only a fault keeps the service from running safely. */
export type Finding =
  | { readonly level: "ok"; readonly subject: Subject; readonly text: string }
  | {
      readonly level: "warning" | "fault";
      readonly subject: Subject;
      readonly text: string;
      /** What to do about it, as an instruction. */
      readonly remedy: string;
    };

/** What a finding is about, in the order of the report. */
export const subjects = [
  "configuration",
  "secrets",
  "files",
  "chain",
  "testnet",
  "wallets",
  "signer",
  "Postgres",
  "Redis",
  "clock",
] as const;
export type Subject = (typeof subjects)[number];

/** Makes the findings of one subject. */
export const findingsOf = (subject: Subject) => ({
  ok: (text: string): Finding => ({ level: "ok", subject, text }),
  warning: (text: string, remedy: string): Finding => ({ level: "warning", subject, text, remedy }),
  fault: (text: string, remedy: string): Finding => ({ level: "fault", subject, text, remedy }),
});

export const isFault = ({ level }: Finding): boolean => level === "fault";
