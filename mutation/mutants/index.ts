import type { Mutant } from '../mutant.ts'
import { accountsMutants } from './accounts.ts'
import { agentsMutants } from './agents.ts'
import { doorMutants } from './door.ts'
import { exportsMutants } from './exports.ts'
import { ingestMutants } from './ingest.ts'
import { modeOrdersMutants } from './mode-orders.ts'
import { predictionsMutants } from './predictions.ts'

/** Mutants by the part of the product that they break. */
export const mutants: Readonly<Record<string, readonly Mutant[]>> = {
  ingest: ingestMutants,
  accounts: accountsMutants,
  agents: agentsMutants,
  exports: exportsMutants,
  predictions: predictionsMutants,
  'mode-orders': modeOrdersMutants,
  door: doorMutants,
}
