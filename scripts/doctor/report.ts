/** Prints findings: each fault and warning with its remedy below it. */
import type { Finding } from "./finding.ts";

const marks = { ok: "ok     ", warning: "WARNING", fault: "FAULT  " } as const;

const count = (findings: readonly Finding[], level: Finding["level"], name: string): string => {
  const found = findings.filter((finding) => finding.level === level).length;
  return `${found} ${found === 1 ? name : `${name}s`}`;
};

/** The report, with the counts in the last line. */
export function reportText(findings: readonly Finding[]): string {
  const lines = findings.flatMap((finding) => {
    const line = `${marks[finding.level]}  ${finding.subject.padEnd(13)}  ${finding.text}`;
    return finding.level === "ok" ? [line] : [line, `${" ".repeat(24)}→ ${finding.remedy}`];
  });
  return [
    ...lines,
    "",
    `${count(findings, "fault", "fault")}, ${count(findings, "warning", "warning")}`,
  ].join("\n");
}
