import { workerPollerDetails } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'

/** How the worker is, read every three seconds: a process counts as alive for 30 s after its last word. */
export const useWorker = () => {
  const { api } = useServices()
  return useQuery({
    queryKey: ['worker'],
    queryFn: ({ signal }) => api.call(workerPollerDetails, { signal }),
    refetchInterval: 3_000,
  })
}
