import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useTest } from '@portcullis/platform/console/ui/steps/useTest.ts'
import { useCallback } from 'react'
import type { ConfigGroupName, ConfigTested } from '#features/contract.ts'
import { groupTests } from './operations.ts'

/** Tests a group with the entered values. The test stops when the page closes. */
export const useGroupTest = (group: ConfigGroupName) => {
  const { api, queries } = useServices()
  const { result, setResult, failure, busy, start: run, stop } = useTest<ConfigTested>()
  const start = useCallback(
    async (body: Record<string, string | null>) => {
      const operation = groupTests[group]?.operation
      if (operation === undefined) return
      await run(async (signal) => setResult(await api.call(operation, { body, signal })))
      void queries.invalidateQueries({ queryKey: ['integrations'] })
    },
    [api, queries, group, run, setResult],
  )
  return { result, failure, busy, start, stop }
}

export type GroupTestState = ReturnType<typeof useGroupTest>
