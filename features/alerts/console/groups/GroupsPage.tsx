import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Note, Panel, Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { listNotificationGroups, type NotificationGroup } from '#features/contract.ts'
import { type Chip, chipsOf, termsOf } from './chips.ts'
import { NoMailServer } from './NoMailServer.tsx'
import classes from './notifications.module.css'
import { strings } from './strings.ts'
import { useGroups, useHasMail } from './useGroups.ts'

const chipText = (state: Chip['state'], channel: ReactNode): ReactNode => {
  if (state === 'off') return strings.channelOff({ channel })
  return state === 'idle' ? strings.channelNoMail({ channel }) : channel
}

const Group = ({ group, hasMail }: { group: NotificationGroup; hasMail: boolean | null }) => {
  const chips = chipsOf(group, hasMail)
  return (
    <Panel as="li" gap={6} dashed={!group.isEnabled}>
      <Row wrap align="baseline" gap="2px 12px">
        <h2>
          <Link to="/settings/notifications/$group" params={{ group: String(group.id) }}>
            {group.groupName}
          </Link>
        </h2>
        {group.isEnabled ? null : <span className={classes.chip}>{strings.paused}</span>}
        <Quiet small>{group.description}</Quiet>
      </Row>
      <Row align="start" wrap gap={6}>
        {chips.length === 0 ? <Quiet small>{strings.noRecipients}</Quiet> : null}
        {chips.map(({ channel, label, state, why }) => (
          <span key={channel} className={classes.chip} data-state={state} title={why}>
            {state === 'on' ? <Icon name="check" size={12} title={strings.on} /> : null}
            {state === 'idle' ? <SeverityShape severity="amber" /> : null}
            {chipText(state, <DeviceText value={label} />)}
          </span>
        ))}
      </Row>
      <Note>
        <DeviceText value={termsOf(group).join('; ')} />
      </Note>
    </Panel>
  )
}

/** The notification groups. */
export const GroupsPage = () => {
  useTitle(strings.notificationGroups)
  const { session } = useServices()
  const groups = useGroups()
  const hasMail = useHasMail()
  return (
    <SettingsPage
      title={strings.notificationGroups}
      intro={strings.intro({ link: (text) => <Link to="/alerts">{text}</Link> })}
      actions={
        <>
          {session.may('config:read') ? <Link to="/settings/deliveries">{strings.deliveries}</Link> : null}
          <MoreMenu curl={() => curlOf(listNotificationGroups)} />
        </>
      }
    >
      {hasMail === false ? <NoMailServer /> : null}
      {groups.data === undefined ? (
        groups.error === null ? (
          <DetailSkeleton />
        ) : (
          <ErrorState query={groups} />
        )
      ) : (
        <Stack as="ul" gap={10}>
          {groups.data.map((group) => (
            <Group key={group.id} group={group} hasMail={hasMail} />
          ))}
        </Stack>
      )}
    </SettingsPage>
  )
}
