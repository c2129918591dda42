import { Modal } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { ReasonField } from '@portcullis/platform/console/ui/form/ReasonField.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityLine } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { useState } from 'react'
import { decideDevices } from '#features/contract.ts'
import { type BulkDevice, type BulkEffect, bulkDecision, bulkLimit, meantDevices, modelsOf } from './bulk-decide.ts'
import { hostsOf } from './decide.ts'
import { GroupField } from './GroupField.tsx'
import { devices as devicesText } from './labels.ts'
import { PreviewPanel } from './PreviewPanel.tsx'
import { strings } from './strings.ts'
import { tellPolicyChange } from './undo.ts'
import { usePreview } from './usePreview.ts'

const namesShown = 8

export interface BulkQuestion {
  effect: BulkEffect
  devices: readonly BulkDevice[]
  /** Number of selected devices that `devices` does not include. */
  unlisted?: number
  done?: () => void
}

export const BulkDecideForm = ({
  effect,
  devices,
  unlisted = 0,
  done,
  close,
}: BulkQuestion & { close: () => void }) => {
  const services = useServices()
  const { api } = services
  const [reason, setReason] = useState('')
  const [group, setGroup] = useState('')
  const { busy, failure, isStored, run } = useChange()
  const meant = meantDevices(effect, devices)
  const leftOut = new Set(devices.map(({ uuid, deviceID }) => `${uuid}|${deviceID}`)).size - meant.length
  const hosts = hostsOf(meant).length
  const models = modelsOf(meant)
  const isTooMany = meant.length > bulkLimit
  const needsReason = effect === 'allow' ? hosts > 1 : false
  const draft = meant.length === 0 || isTooMany ? null : { decide: bulkDecision(effect, meant) }
  // Nobody confirms an effect that is not shown yet.
  const { isStale } = usePreview(draft)
  const isReady = draft !== null && !isStale && (!needsReason || reason.trim() !== '')

  const decide = () =>
    run(async () => {
      const { version, isChanged } = await api.call(decideDevices, {
        body: {
          ...bulkDecision(effect, meant),
          reason: reason.trim(),
          group: group.trim() || null,
        },
      })
      done?.()
      close()
      const said = strings.bulkDone({ effect, devices: meant.length, hosts })
      tellPolicyChange(services, said, isChanged ? version : null)
    })

  return (
    <Stack as="form" breaks onSubmit={submits(() => isReady && !isStored && decide())}>
      <p>
        {strings.bulkScope({
          devices: <strong key="devices">{devicesText(meant.length)}</strong>,
          hosts,
        })}
      </p>
      <Text as="ul" small breaks>
        {models.slice(0, namesShown).map(({ key, name, count }) => (
          <li key={key}>
            {count.toLocaleString('en')} × <DeviceText value={name} /> <code>{key}</code>
          </li>
        ))}
        {models.length > namesShown ? <li>{strings.moreModels({ count: models.length - namesShown })}</li> : null}
      </Text>
      {leftOut === 0 ? null : (
        <SeverityLine severity="red" role="note">
          <span>{strings.attackToolsLeftOut({ count: leftOut })}</span>
        </SeverityLine>
      )}
      {unlisted === 0 ? null : <p role="note">{strings.unlisted({ count: unlisted })}</p>}
      {isTooMany ? <p role="alert">{strings.tooMany({ limit: bulkLimit })}</p> : null}
      <ReasonField
        size="xs"
        value={reason}
        required={needsReason}
        isFirst
        placeholder={needsReason ? strings.whyDevices : undefined}
        onChange={setReason}
      />
      <GroupField value={group} onChange={setGroup} />
      <PreviewPanel draft={draft} waiting={strings.noDevices} />
      <ErrorState failure={failure} inline />
      <DialogActions
        action={strings.bulkAction({ effect, devices: meant.length })}
        busy={busy}
        isReady={isReady}
        isStored={isStored}
        close={close}
        isDangerous={effect === 'deny'}
        startsAt="form"
      />
    </Stack>
  )
}

/** Approves or denies the selected devices after a preview of the changes. */
export const BulkDecideDialog = ({ question, close }: { question: BulkQuestion | null; close: () => void }) => (
  <Modal
    opened={question !== null}
    onClose={close}
    title={question?.effect === 'deny' ? strings.denyDevices : strings.approveDevices}
  >
    {question === null ? null : <BulkDecideForm {...question} close={close} />}
  </Modal>
)
