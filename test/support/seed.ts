/**
 * The seed of a file's random choices: of the variable with this name, or another one in each run. Prints it, so that a run can be
 * repeated.
 */
export function drawSeed(name: `${string}_SEED`): number {
  const seed = Number(process.env[name] || Math.floor(Math.random() * 2 ** 31));
  console.log(`${name}=${seed}`);
  return seed;
}
