import type { Sabotage } from '../../rig/verdict.ts'

/** A test, and the edits of the source that make it fail. */
export interface Proof {
  test: {
    /** Path of the test file from the checkout. */
    file: string
    /** Title of the test, without the titles of enclosing suites. */
    name: string
  }
  /** Removes the guard, or one clause of it. Each `find` occurs exactly once in its file. */
  removedBy: Sabotage['edits']
}

/** One protection and the proof of each of its clauses. */
export interface Guard extends Proof {
  /** What the product does, one sentence without the final period. */
  does: string
  /** Proofs of the other clauses of `does`, each removed by itself. */
  also?: readonly Proof[]
}

/** Returns the proofs of all clauses of a guard. */
export const proofsOf = ({ test, removedBy, also = [] }: Guard): Proof[] => [{ test, removedBy }, ...also]

/** Keeps the ids of a table of guards as literal types. */
export const defineGuards = <const T extends Record<string, Guard>>(table: T): T => table
