import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useCallback, useState } from 'react'
import type { ConfigMap, ConfigSaved } from '#features/contract.ts'
import { saveOperations } from './operations.ts'
import type { SettingPage } from './pages.ts'
import { groupKey } from './useGroup.ts'

/** Refreshes everything that is read of the configuration after a change. */
const useChanged = (prefix: string) => {
  const { queries } = useServices()
  return useCallback(
    (saved: ConfigSaved) => {
      queries.setQueryData(groupKey(prefix), saved.items)
      void queries.invalidateQueries({ queryKey: ['config-history'] })
      void queries.invalidateQueries({ queryKey: ['integrations'] })
      void queries.invalidateQueries({ queryKey: ['providers'] })
    },
    [queries, prefix],
  )
}

/** Saves a change of a group. */
export const useSave = ({ group, prefix }: SettingPage) => {
  const { api, queries } = useServices()
  const changed = useChanged(prefix)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const save = async (
    body: Record<string, string | null>,
    read: Readonly<Record<string, string>>,
    reread: (now: ConfigMap) => void,
  ): Promise<ConfigSaved | null> => {
    const operation = saveOperations[group]
    if (operation === undefined) return null
    setBusy(true)
    setFailure(null)
    try {
      const ifValues = Object.fromEntries(Object.entries(read).filter(([name]) => Object.hasOwn(body, name)))
      const saved = await api.call(operation, { body: { ...body, ifValues } })
      changed(saved)
      return saved
    } catch (reason) {
      setFailure(reason)
      if (reason instanceof CallFailure && reason.code === 'conflict') {
        await queries.refetchQueries({ queryKey: groupKey(prefix) })
        reread(queries.getQueryData<ConfigMap>(groupKey(prefix)) ?? {})
      }
      return null
    } finally {
      setBusy(false)
    }
  }
  return { busy, failure, save, forget: () => setFailure(null) }
}

/** Returns the items that a failure names, without `body.`. */
export const faultyItems = (failure: unknown): string[] =>
  failure instanceof CallFailure
    ? failure.fields.flatMap(({ field }) => (field.startsWith('body.') ? [field.slice('body.'.length)] : []))
    : []
