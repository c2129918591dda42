import { Button, Checkbox, Group, Modal, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core'
import { type NacSystem, nacSystemNames, quarantineHosts, quarantineLimits } from '@portcullis/contract'
import { useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../DeviceText.tsx'
import { ErrorState } from '../ErrorState.tsx'
import { tell } from '../tell.ts'
import { rereadQuarantines, useNacSystems } from './useNac.ts'

export interface QuarantineQuestion {
  uuid: string
  hostIdentifier: string
  /** Addresses that are meant, where they are known. */
  macs?: readonly string[]
  /** What it is about when one that failed is tried again. */
  system?: NacSystem
  reason?: string
}

// When the configured time is none.
const usualHours = 24

const Body = ({ question, close }: { question: QuarantineQuestion; close: () => void }) => {
  const { api, queries } = useServices()
  const { uuid, hostIdentifier, macs } = question
  const inUse = useNacSystems()
  const [chosen, setChosen] = useState(question.system)
  const { system, policy, hours: usual } = inUse.find((one) => one.system === chosen) ?? inUse[0] ?? { hours: 0 }
  // Until somebody says otherwise, as it is configured for the chosen system.
  const [hours, setHours] = useState<number | '' | null>(null)
  const [endless, setEndless] = useState<boolean | null>(null)
  const isEndless = endless ?? usual === 0
  const [reason, setReason] = useState(question.reason ?? '')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const shownHours = hours ?? (usual === 0 ? usualHours : usual)
  const hasNone = macs !== undefined && macs.length === 0

  const run = async () => {
    if (system === undefined) return
    setBusy(true)
    setFailure(null)
    try {
      const { accepted, notFound } = await api.call(quarantineHosts, {
        body: { agentIds: [uuid], system, hours: isEndless ? 0 : Number(shownHours), reason: reason.trim() },
      })
      close()
      const name = nacSystemNames[system]
      if (notFound.length > 0) tell('This host is not here any more.')
      else if (accepted.length === 0) tell(`${name} quarantines this host already; that stays as it is.`)
      else tell(`${name} is being asked; the host shows how it goes.`)
      await rereadQuarantines(queries)
    } catch (reasonOfFailure) {
      setFailure(reasonOfFailure)
      setBusy(false)
    }
  }
  if (system === undefined) return <p>Neither Cisco ISE nor CounterACT is in use.</p>
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <Stack gap="sm">
        <div>
          <strong>
            <DeviceText value={hostIdentifier} />
          </strong>{' '}
          is taken off the network by {system === 'ise' ? 'the ANC policy' : 'what your policies make of the property'}{' '}
          <DeviceText value={policy ?? ''} />. It may not reach this server then, either.
        </div>
        {macs === undefined ? null : (
          <div role={hasNone ? 'alert' : undefined}>
            {hasNone
              ? 'It reports no network interface that is up, so there is no address to quarantine. Wait for its next report.'
              : `Meant: ${macs.slice(0, quarantineLimits.macs).join(', ').toUpperCase()}`}
          </div>
        )}
        {inUse.length > 1 ? (
          <NativeSelect
            label="System"
            value={system}
            data={inUse.map((one) => ({ value: one.system, label: nacSystemNames[one.system] }))}
            onChange={(event) => setChosen(event.currentTarget.value as NacSystem)}
          />
        ) : null}
        <TextInput
          label="Reason"
          description="For the story, the audit and, where it is set up, the system."
          value={reason}
          maxLength={500}
          required
          data-autofocus
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <NumberInput
          label="Ends after hours"
          value={isEndless ? '' : shownHours}
          min={1}
          max={quarantineLimits.hours}
          clampBehavior="strict"
          allowDecimal={false}
          disabled={isEndless}
          required={!isEndless}
          onChange={(value) => setHours(typeof value === 'number' ? value : '')}
        />
        <Checkbox
          label="Until a person takes it back"
          checked={isEndless}
          onChange={(event) => setEndless(event.currentTarget.checked)}
        />
        {failure === null ? null : <ErrorState failure={failure} inline />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button color="red" type="submit" loading={busy} disabled={hasNone || reason.trim() === ''}>
            Quarantine
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Asks for the quarantine of a host: by which system, how long, why. */
export const QuarantineDialog = ({ question, close }: { question: QuarantineQuestion | null; close: () => void }) => (
  <Modal opened={question !== null} onClose={close} title="Quarantine this host">
    {question === null ? null : <Body question={question} close={close} />}
  </Modal>
)
