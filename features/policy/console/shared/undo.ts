import type { Services } from '@portcullis/platform/console/lib/services.tsx'
import { tell, tellWithUndo } from '@portcullis/platform/console/ui/tell.ts'
import { undoPolicyVersion } from '#features/contract.ts'
import { openedHosts, openedText } from './labels.ts'
import { asReason } from './NewlyAllowed.tsx'
import { strings } from './strings.ts'

/** Reloads everything that shows rules or decisions. */
export const rereadPolicy = ({ queries }: Pick<Services, 'queries'>): void => {
  for (const key of [
    'policy',
    'policy-rule',
    'policy-history',
    'policy-test',
    'approvals',
    'rows',
    'agent',
    'agent-peripherals',
  ])
    void queries.invalidateQueries({ queryKey: [key] })
}

/** Shows that the policy changed and offers undo for ten seconds. Asks for confirmation if undo allows devices. */
export const tellPolicyChange = (
  services: Pick<Services, 'api' | 'queries'>,
  message: string,
  /** Version that the change made; null if nothing changed. */
  version: number | null,
): void => {
  rereadPolicy(services)
  if (version === null) {
    tell(message)
    return
  }
  tellWithUndo(
    message,
    async (reason) => {
      await services.api.call(undoPolicyVersion, { params: { version }, body: asReason(reason) })
      rereadPolicy(services)
    },
    async () => {
      const dry = await services.api.call(undoPolicyVersion, { params: { version }, body: { dryRun: true } })
      const hosts = openedHosts(dry)
      if (hosts === 0) return null
      return {
        title: strings.undoTitle,
        names: [],
        count: hosts,
        kind: strings.hostCount,
        consequence: strings.undoEffect,
        action: strings.undo,
        worksAgain: openedText(dry),
        ...(hosts > 1 ? { reasonFor: strings.whyDevices } : {}),
      }
    },
  )
}
