import { Button } from '@mantine/core'
import { endApprovalLift, getPolicy } from '@portcullis/features/contract.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import classes from './ConnectionBanner.module.css'
import { strings } from './strings.ts'

/** Milliseconds between two reads: the command line of the server can lift the approval at any time. */
const gap = 15_000

/** Shows Administrators on every page that no second approver is required, and lets them end that early. */
export const LiftBanner = () => {
  const { api, session } = useServices()
  const [busy, setBusy] = useState(false)
  const mayEnd = session.may('config:write')
  const policy = useRead(['policy'], getPolicy, { refetchInterval: gap, enabled: mayEnd })
  const until = policy.data?.twoPerson.liftedUntil ?? null
  if (!mayEnd || until === null) return null
  const end = async () => {
    setBusy(true)
    try {
      await api.call(endApprovalLift)
      tell(strings.approvalRestored)
      await policy.refetch()
    } catch (failure) {
      tellFailure(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <section className={classes.banner} aria-label={strings.approvalLifted}>
      {strings.approvalLiftedUntil({ time: <Time key="until" value={until} form="local" /> })}{' '}
      <Button size="compact-xs" variant="default" loading={busy} onClick={() => void end()}>
        {strings.requireApproval}
      </Button>
    </section>
  )
}
