import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { workerPollerDetails } from '#features/contract.ts'

/**
 * Reads the state of the worker every three seconds. A process counts as connected for 30 s after its last check-in.
 */
export const useWorker = () => {
  return useRead(['worker'], workerPollerDetails, { refetchInterval: 3_000 })
}
