import { expect, test } from "vitest";
import { planKills, victims } from "./plan-kills.ts";

const rounds = planKills(7, 100);
const killed = rounds.map(({ kills }) => kills.map(({ victim }) => victim));

test("the same seed gives the same kills, and another seed others", () => {
  expect(planKills(7, 100)).toEqual(rounds);
  expect(planKills(8, 100)).not.toEqual(rounds);
});

test("every victim is killed in each five rounds", () => {
  for (let first = 0; first < killed.length; first += victims.length) {
    const five = new Set(killed.slice(first, first + victims.length).flat());
    expect([...five].sort()).toEqual([...victims].sort());
  }
});

test("a round kills one victim, or two different ones", () => {
  for (const round of killed) expect(new Set(round).size).toBe(round.length);
  expect(new Set(killed.map(({ length }) => length))).toEqual(new Set([1, 2]));
});
