import { Checkbox } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Note, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { type AlertVerdict, alertsAtOnce, findingsAtOnce, type HostFinding, listFindings } from '#features/contract.ts'
import { FindingNames } from '#features/devices/console/shared/findings/FindingNames.tsx'
import { removalNeeded } from '#features/devices/console/shared/findings/removal.ts'
import type { Case } from './case.ts'
import { strings } from './strings.ts'

/** Reads the open findings of alerts. Empty if the user may not close findings. */
export const useFindingsOf = (cases: readonly Case[]) => {
  const { session } = useServices()
  const alert = cases.map(({ id }) => id).join(',')
  const { data } = useRead(['findings', 'alert', alert], listFindings, {
    query: { alert, state: 'Open', PageSize: findingsAtOnce },
    enabled: session.may('fleet:write') && cases.length <= alertsAtOnce,
  })
  return { alert, findings: data?.data ?? [], count: data?.recordsFiltered ?? 0 }
}

export interface CloseFindingsProps {
  of: ReturnType<typeof useFindingsOf>
  verdict: AlertVerdict | ''
  isTicked: boolean
  tick: (isTicked: boolean) => void
}

/** Returns why these findings cannot be closed with a verdict, or an empty string. */
export const obstacleOf = (findings: readonly HostFinding[], verdict: AlertVerdict | ''): string =>
  verdict === '' ? strings.findingsNeedVerdict : removalNeeded(findings, verdict)

/** Lists the findings of alerts, and offers to close them with the same verdict. */
export const CloseFindings = ({ of: { alert, findings, count }, verdict, isTicked, tick }: CloseFindingsProps) => {
  if (count === 0) return null
  if (count > findings.length)
    return (
      <Note>
        <PlainLink href={`/findings?alert=${alert}&state=Open`}>{strings.findingsTooMany({ count })}</PlainLink>
      </Note>
    )
  const obstacle = obstacleOf(findings, verdict)
  return (
    <Stack gap={4}>
      <Checkbox
        label={strings.closeFindings({ count })}
        description={obstacle === '' ? strings.findingsEffect : obstacle}
        disabled={obstacle !== ''}
        checked={isTicked && obstacle === ''}
        onChange={(event) => tick(event.currentTarget.checked)}
      />
      <FindingNames findings={findings} />
    </Stack>
  )
}
