import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import type { Services } from '@portcullis/platform/console/lib/services.tsx'
import { tell, tellWithUndo } from '@portcullis/platform/console/ui/tell.ts'
import { type BodyOf, cancelJob, type ResponseOf, undoPolicyJob, undoPolicyVersion } from '#features/contract.ts'
import { openedHosts, openedText } from './labels.ts'
import { asReason } from './NewlyAllowed.tsx'
import { strings } from './strings.ts'

/** Reloads everything that shows rules or decisions. */
export const rereadPolicy = ({ queries }: Pick<Services, 'queries'>): void => {
  for (const key of [
    'policy',
    'policy-rule',
    'rule-groups',
    'policy-history',
    'policy-test',
    'approvals',
    'rows',
    'agent',
    'agent-peripherals',
  ])
    void queries.invalidateQueries({ queryKey: [key] })
}

type Undone = ResponseOf<typeof undoPolicyVersion>

/** Offers undo for ten seconds. Asks for confirmation if undo allows devices. */
const tellUndo = (
  services: Pick<Services, 'queries'>,
  message: string,
  undo: (body: BodyOf<typeof undoPolicyVersion>) => Promise<Undone>,
): void =>
  tellWithUndo(
    message,
    async (reason) => {
      await undo(asReason(reason))
      rereadPolicy(services)
    },
    async () => {
      const dry = await undo({ dryRun: true })
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

/** Shows that the policy changed and offers undo. */
export const tellPolicyChange = (
  services: Pick<Services, 'api' | 'queries'>,
  message: string,
  /** Version that the change made; null if nothing changed. */
  version: number | null,
): void => {
  rereadPolicy(services)
  if (version === null) tell(message)
  else tellUndo(services, message, (body) => services.api.call(undoPolicyVersion, { params: { version }, body }))
}

/** Shows that a job approves devices and offers one undo for everything it did. The undo cancels the rest of the job. */
export const tellPolicyJob = (services: Pick<Services, 'api' | 'queries'>, message: string, jobId: string): void => {
  rereadPolicy(services)
  const { api } = services
  const params = { id: jobId }
  tellUndo(services, message, async (body) => {
    if (body.dryRun !== true)
      try {
        await api.call(cancelJob, { params })
      } catch (failure) {
        // The job has ended.
        if (!(failure instanceof CallFailure) || failure.code !== 'conflict') throw failure
      }
    return api.call(undoPolicyJob, { params, body })
  })
}
