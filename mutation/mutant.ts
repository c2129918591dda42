/** A hand-written change that a test must detect. */
export interface Mutant {
  /** The wrong behavior of the product, as one sentence without the final period. */
  does: string
  file: string
  /** Occurs exactly once in the file. */
  find: string
  replace: string
  /** Test file that must fail. */
  test: string
  /** Part of the name of the test that must fail. Without it, all tests of the file run. */
  named?: string
}
