import type { Mutant } from '../mutant.ts'
import { ingestMutants } from './ingest.ts'

/** Mutants by the part of the product that they break. */
export const mutants: Readonly<Record<string, readonly Mutant[]>> = {
  ingest: ingestMutants,
}
