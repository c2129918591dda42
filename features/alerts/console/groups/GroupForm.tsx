import { Switch } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { EditConflict } from '@portcullis/platform/console/ui/form/EditConflict.tsx'
import { LeaveGuard } from '@portcullis/platform/console/ui/form/LeaveGuard.tsx'
import { SaveBar } from '@portcullis/platform/console/ui/form/SaveBar.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { Note, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { Link } from '@tanstack/react-router'
import { useId, useRef } from 'react'
import { type NotificationGroup, updateNotificationGroup } from '#features/contract.ts'
import { sendsEvents } from './draft.ts'
import { FreshSecret } from './FreshSecret.tsx'
import { MailFields } from './MailFields.tsx'
import { SyslogFields } from './SyslogFields.tsx'
import { strings } from './strings.ts'
import { WhenFields } from './TimingFields.tsx'
import { WhatFields } from './TriggerFields.tsx'
import { useGroupDraft } from './useGroupDraft.ts'
import { WebhookFields } from './WebhookFields.tsx'

const leaveTexts = {
  title: strings.leaveTitle,
  words: strings.leaveText,
}

/** The form of a group: triggers, timing and channels. */
export const GroupForm = ({ group }: { group: NotificationGroup }) => {
  const { session } = useServices()
  const canWrite = session.may('config:write')
  const formId = useId()
  const form = useRef<HTMLFormElement>(null)
  const entry = useGroupDraft(group, form)
  const { draft, change, failure, isDirty, isAtField } = entry
  const isOfEvents = sendsEvents(group)
  const shared = { group, entry, canWrite }
  return (
    <Stack gap={16}>
      <LeaveGuard isDirty={isDirty || entry.fresh !== null} {...(isDirty ? {} : leaveTexts)} />
      <form id={formId} ref={form} noValidate onSubmit={submits(entry.submit)}>
        <Stack disabled={!canWrite} as="fieldset" gap={16} max={720} style={{ border: 0 }}>
          <Switch
            name="isEnabled"
            label={strings.enabled}
            description={strings.enabledHelp}
            checked={draft.isEnabled}
            onChange={(event) => entry.enter({ isEnabled: event.currentTarget.checked })}
          />
          <Note>{strings.channelsHelp({ link: (text) => <Link to="/alerts">{text}</Link> })}</Note>
          <WhatFields {...shared} />
          {isOfEvents ? null : <WhenFields {...shared} />}
          {isOfEvents ? null : <MailFields {...shared} />}
          <WebhookFields {...shared} />
          <SyslogFields {...shared} />
        </Stack>
      </form>
      {entry.conflict === null ? null : <EditConflict {...entry.conflict} />}
      {failure === null || isAtField || entry.conflict !== null ? null : (
        <ErrorState failure={failure} resend={entry.submit} inline />
      )}
      {canWrite ? (
        <SaveBar
          before={entry.fresh === null ? null : <FreshSecret secret={entry.fresh} done={entry.acknowledge} />}
          status={
            entry.status !== ''
              ? entry.status
              : failure !== null && isAtField
                ? strings.notSaved
                : isDirty
                  ? strings.unsaved
                  : ''
          }
          menu={
            <MoreMenu
              label={strings.moreActions}
              curl={() => {
                const { secret, ...webhook } = change.channels?.webhook ?? {}
                // A secret never goes to the clipboard with a command.
                const shown = secret === undefined ? webhook : { ...webhook, secret: secret === '' ? '' : '$SECRET' }
                return curlOf(updateNotificationGroup, {
                  body: {
                    id: group.id,
                    ...change,
                    ...(change.channels === undefined ? {} : { channels: { ...change.channels, webhook: shown } }),
                  },
                })
              }}
            />
          }
          formId={formId}
          busy={entry.busy}
          isDirty={isDirty}
          discard={entry.discard}
        />
      ) : (
        <Note>{strings.readOnly}</Note>
      )}
    </Stack>
  )
}
