import { workerPollerDetails } from '@portcullis/contract'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useQuery } from '@tanstack/react-query'

/**
 * Reads the state of the worker every three seconds. A process counts as connected for 30 s after its last check-in.
 */
export const useWorker = () => {
  const { api } = useServices()
  return useQuery({
    queryKey: ['worker'],
    queryFn: ({ signal }) => api.call(workerPollerDetails, { signal }),
    refetchInterval: 3_000,
  })
}
