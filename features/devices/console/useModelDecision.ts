import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { getPeripherals, type PeripheralModel } from '#features/contract.ts'
import type { BulkQuestion } from '#features/policy/console/shared/BulkDecideDialog.tsx'
import {
  type BulkDevice,
  type BulkEffect,
  bulkDevicesOf,
  bulkLimit,
} from '#features/policy/console/shared/bulk-decide.ts'

/** Asks for a decision about all known devices of the selected models, each on the host that has it. */
export const useModelDecision = (models: () => readonly PeripheralModel[]) => {
  const { api } = useServices()
  const [question, setQuestion] = useState<BulkQuestion | null>(null)
  const [busy, setBusy] = useState(false)
  const read = async (): Promise<BulkDevice[]> => {
    const devices: BulkDevice[] = []
    for (const { vid, pid } of models()) {
      const { data } = await api.call(getPeripherals, { query: { vid, pid, PageSize: bulkLimit + 1 } })
      devices.push(...bulkDevicesOf(data))
      // The dialog refuses more.
      if (devices.length > bulkLimit) break
    }
    return devices
  }
  const ask = (effect: BulkEffect) => {
    setBusy(true)
    read()
      .then((devices) => setQuestion({ effect, devices }), tellFailure)
      .finally(() => setBusy(false))
  }
  return { question, busy, ask, close: () => setQuestion(null) }
}
