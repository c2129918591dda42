import { Checkbox, Modal, NativeSelect, NumberInput } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { ReasonField } from '@portcullis/platform/console/ui/form/ReasonField.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { type NacSystem, nacSystemNames, quarantineHosts, quarantineLimits } from '#features/contract.ts'
import { strings } from './strings.ts'
import { rereadQuarantines, useNacSystems } from './useNac.ts'

export interface QuarantineQuestion {
  uuid: string
  hostIdentifier: string
  /** The addresses to quarantine, where they are known. */
  macs?: readonly string[]
  /** System and reason when a failed quarantine is retried. */
  system?: NacSystem
  reason?: string
}

// Used if the configured duration is unlimited.
const usualHours = 24

/** State and request of the dialog. */
const useQuarantine = (question: QuarantineQuestion, close: () => void) => {
  const { api, queries } = useServices()
  const inUse = useNacSystems()
  const [chosen, setChosen] = useState(question.system)
  const { system, policy, hours: usual } = inUse.find((one) => one.system === chosen) ?? inUse[0] ?? { hours: 0 }
  // The configured duration of the chosen system, until the user changes it.
  const [hours, setHours] = useState<number | '' | null>(null)
  const [endless, setEndless] = useState<boolean | null>(null)
  const isEndless = endless ?? usual === 0
  const shownHours = hours ?? (usual === 0 ? usualHours : usual)
  const [reason, setReason] = useState(question.reason ?? '')
  const { busy, failure, run } = useChange()
  const quarantine = (by: NacSystem) =>
    run(async () => {
      const { accepted, notFound } = await api.call(quarantineHosts, {
        body: {
          agentIds: [question.uuid],
          system: by,
          hours: isEndless ? 0 : Number(shownHours),
          reason: reason.trim(),
        },
      })
      close()
      const name = nacSystemNames[by]
      if (notFound.length > 0) tell(strings.hostGone)
      else if (accepted.length === 0) tell(strings.alreadyQuarantined({ system: name }))
      else tell(strings.requested({ system: name }))
      await rereadQuarantines(queries)
    })
  return {
    systems: inUse.map((one) => one.system),
    system,
    policy,
    setChosen,
    isEndless,
    setEndless,
    hours: isEndless ? '' : shownHours,
    setHours,
    reason,
    setReason,
    busy,
    failure,
    quarantine,
  }
}

/** Shows which host is quarantined, with what effect, and by which addresses. */
const Meant = ({
  question: { hostIdentifier, macs },
  system,
  policy,
}: {
  question: QuarantineQuestion
  system: NacSystem
  policy: string | undefined
}) => (
  <>
    <div>
      {(system === 'ise' ? strings.effectAnc : strings.effectProperty)({
        host: (
          <strong>
            <DeviceText value={hostIdentifier} />
          </strong>
        ),
        policy: <DeviceText value={policy ?? ''} />,
      })}
    </div>
    {macs === undefined ? null : (
      <div role={macs.length === 0 ? 'alert' : undefined}>
        {macs.length === 0
          ? strings.noAddress
          : strings.addresses({ addresses: macs.slice(0, quarantineLimits.macs).join(', ').toUpperCase() })}
      </div>
    )}
  </>
)

const Body = ({ question, close }: { question: QuarantineQuestion; close: () => void }) => {
  const form = useQuarantine(question, close)
  const { system, policy } = form
  if (system === undefined) return <p>{strings.noSystem}</p>
  return (
    <form onSubmit={submits(() => form.quarantine(system))}>
      <Stack gap={8}>
        <Meant question={question} system={system} policy={policy} />
        {form.systems.length > 1 ? (
          <NativeSelect
            label={strings.systemColumn}
            value={system}
            data={form.systems.map((one) => ({ value: one, label: nacSystemNames[one] }))}
            onChange={(event) => form.setChosen(event.currentTarget.value as NacSystem)}
          />
        ) : null}
        <ReasonField
          description={strings.reasonHelp}
          value={form.reason}
          maxLength={500}
          required
          isFirst
          onChange={form.setReason}
        />
        <NumberInput
          label={strings.hours}
          value={form.hours}
          min={1}
          max={quarantineLimits.hours}
          clampBehavior="strict"
          allowDecimal={false}
          disabled={form.isEndless}
          required={!form.isEndless}
          onChange={(value) => form.setHours(typeof value === 'number' ? value : '')}
        />
        <Checkbox
          label={strings.endless}
          checked={form.isEndless}
          onChange={(event) => form.setEndless(event.currentTarget.checked)}
        />
        <ErrorState failure={form.failure} inline />
        <DialogActions
          action={strings.title}
          isDangerous
          busy={form.busy}
          isReady={question.macs?.length !== 0 && form.reason.trim() !== ''}
          isStored={false}
          close={close}
          startsAt="form"
        />
      </Stack>
    </form>
  )
}

/** Asks for the system, duration and reason of a quarantine. */
export const QuarantineDialog = ({ question, close }: { question: QuarantineQuestion | null; close: () => void }) => (
  <Modal opened={question !== null} onClose={close} title={strings.title}>
    {question === null ? null : <Body question={question} close={close} />}
  </Modal>
)
