/** A change that a person wrote and that a test must notice. */
export interface Mutant {
  /** What the product would do wrong, one sentence without the final period. */
  does: string
  file: string
  /** Occurs exactly once in the file. */
  find: string
  replace: string
  /** Test file that must notice. */
  test: string
  /** Part of the name of the test that must notice; without it all tests of the file run. */
  named?: string
}
