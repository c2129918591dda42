import { Button, Group } from '@mantine/core'
import { getPolicyTest, previewBulk, runBulk } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { rereadPolicy } from '../../ui/policy/undo.ts'
import { devices, hosts } from '../../ui/policy/words.ts'
import { tell } from '../../ui/tell.ts'
import classes from './PolicyPage.module.css'

// What the server is asked to do, and what its preview is asked for: all hosts.
const everything = { filter: {}, action: 'approveAll' as const }

/** Before the first rule: what is attached today can become the whitelist, after a look at what that is. */
export const ApproveToday = ({ canWrite, write }: { canWrite: boolean; write: () => void }) => {
  const services = useServices()
  const { api } = services
  const [asked, setAsked] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const preview = useQuery({
    queryKey: ['policy-test', 'today'],
    queryFn: async ({ signal }) => {
      const [bulk, test] = await Promise.all([
        api.call(previewBulk, { body: everything, signal }),
        api.call(getPolicyTest, { query: { days: 1, PageSize: 1 }, signal }),
      ])
      return { bulk, test }
    },
    enabled: asked,
    retry: false,
  })
  const run = async () => {
    setBusy(true)
    setFailure(null)
    try {
      const { accepted } = await api.call(runBulk, { body: everything })
      rereadPolicy(services)
      tell(`What is attached to ${hosts(accepted)} is being approved.`)
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }
  return (
    <EmptyState icon="policy" title="No rule yet: an armed host would let nothing in but hubs">
      <div className={classes.start}>
        <p>
          The quick way to a whitelist is to approve what is plugged in today, each device for its own host. Attack
          tools are left out.
        </p>
        {!canWrite ? null : !asked ? (
          <Group gap="sm">
            <Button size="sm" onClick={() => setAsked(true)}>
              Approve what is plugged in today…
            </Button>
            <Button size="sm" variant="default" onClick={write}>
              Write a rule
            </Button>
          </Group>
        ) : preview.error !== null ? (
          <ErrorState failure={preview.error} retry={() => void preview.refetch()} inline />
        ) : preview.data === undefined ? (
          <p>Counting what is attached …</p>
        ) : (
          <>
            <p>
              <strong>
                {devices(preview.data.test.blocked.peripherals)} on {hosts(preview.data.test.blocked.agents)}
              </strong>{' '}
              that no rule covers were attached in the last day; those that are present on the{' '}
              {hosts(preview.data.bulk.agents)} become approved there. Nothing stops working by this.
            </p>
            {failure === null ? null : <ErrorState failure={failure} inline />}
            <Group gap="sm">
              <Button size="sm" variant="default" onClick={() => setAsked(false)}>
                Not now
              </Button>
              <Button size="sm" loading={busy} onClick={() => void run()}>
                Approve them
              </Button>
            </Group>
          </>
        )}
      </div>
    </EmptyState>
  )
}
