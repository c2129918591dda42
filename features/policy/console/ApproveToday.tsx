import { Button, Modal } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { ReasonField } from '@portcullis/platform/console/ui/form/ReasonField.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { previewBulk, runBulk } from '#features/contract.ts'
import { basisText, worksAgainText } from './shared/labels.ts'
import { asReason } from './shared/NewlyAllowed.tsx'
import { tellPolicyJob } from './shared/undo.ts'
import { strings } from './strings.ts'

// The action and its preview cover all hosts.
const everything = { filter: {}, action: 'approveAll' as const }

/** Confirmation with the effects and a reason. */
const Question = ({ close }: { close: () => void }) => {
  const services = useServices()
  const { api } = services
  const [reason, setReason] = useState('')
  const { busy, failure, isStored, run } = useChange()
  const preview = useRead(['policy-test', 'today'], previewBulk, { body: everything, gcTime: 0, retry: false })
  const approve = () =>
    run(async () => {
      const { accepted, jobId } = await api.call(runBulk, {
        body: { ...everything, ...asReason(reason) },
      })
      close()
      const said = strings.approveTodayStarted({ hosts: accepted })
      if (jobId === null) tell(said)
      else tellPolicyJob(services, said, jobId)
    })
  if (preview.error !== null) return <ErrorState query={preview} inline />
  const data = preview.data
  const again = data === undefined ? null : worksAgainText(data.worksAgain)
  const needsReason = (data?.agents ?? 0) > 1
  return (
    <Stack as="form" onSubmit={submits(() => !isStored && approve())}>
      {data === undefined ? (
        <p>{strings.approveTodayLoading}</p>
      ) : (
        <>
          {data.prediction === null ? null : (
            <p>
              <strong>
                {strings.approveTodayEffect({
                  devices: data.prediction.newlyAllowed.peripherals,
                  hosts: data.prediction.newlyAllowed.agents,
                })}
              </strong>{' '}
              {basisText(data.prediction)}
            </p>
          )}
          <p>{strings.approveTodayHow({ hosts: data.agents })}</p>
        </>
      )}
      {again === null ? null : (
        <p data-testid="works-again">
          <SeverityShape severity={again.severity} /> <strong>{again.text}</strong>
        </p>
      )}
      {needsReason && !isStored ? (
        <ReasonField required value={reason} placeholder={strings.whyDevices} onChange={setReason} />
      ) : null}
      <ErrorState failure={failure} inline />
      <DialogActions
        action={strings.approveDevices}
        busy={busy}
        isReady={data !== undefined && (!needsReason || reason.trim() !== '')}
        isStored={isStored}
        close={close}
      />
    </Stack>
  )
}

/** Empty state of the rules: offers to approve the attached devices after a preview. */
export const ApproveToday = ({ canWrite, write }: { canWrite: boolean; write: () => void }) => {
  const [asked, setAsked] = useState(false)
  return (
    <EmptyState icon="policy" title={strings.emptyTitle}>
      <Stack gap={10} align="center" max={560}>
        <p>{strings.empty}</p>
        {canWrite ? (
          <Row wrap>
            <Button size="sm" onClick={() => setAsked(true)}>
              {strings.approveToday}
            </Button>
            <Button size="sm" variant="default" onClick={write}>
              {strings.addRule}
            </Button>
          </Row>
        ) : null}
      </Stack>
      <Modal opened={asked} onClose={() => setAsked(false)} title={strings.approveAttached}>
        {asked ? <Question close={() => setAsked(false)} /> : null}
      </Modal>
    </EmptyState>
  )
}
