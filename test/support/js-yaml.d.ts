/** The one function of js-yaml that tests use; the package has no types. */
declare module "js-yaml" {
  export function load(text: string): unknown;
}
