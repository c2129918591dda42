import { Button } from '@mantine/core'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Note, Panel, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import {
  agentsClassificationSummary,
  backupStatus,
  getAllUsers,
  getConfigItemsByPrefix,
  getMfa,
  getPolicy,
  listNotificationGroups,
  listPackages,
} from '#features/contract.ts'
import { type SetUpStep, setUpSteps } from './setup-steps.ts'
import { strings } from './strings.ts'

/** Reads what the steps need. The keys are those of the pages on which a person does the steps. */
export const useSetUpSteps = (isAsked: boolean): SetUpStep[] => {
  const { session } = useServices()
  const isRead = isAsked && session.may('config:read')
  return setUpSteps({
    hosts: useRead(['overview', 'summary'], agentsClassificationSummary, { enabled: isRead }).data?.total,
    mfa: useRead(['mfa'], getMfa, { enabled: isRead }).data,
    accounts: useRead(['accounts'], getAllUsers, { enabled: isRead && session.may('accounts:read') }).data,
    backups: useRead(['backups'], backupStatus, { enabled: isRead }).data,
    mailHost: useRead(['config', 'SMTP_'], getConfigItemsByPrefix, { params: { prefixes: 'SMTP_' }, enabled: isRead })
      .data?.SMTP_HOST,
    groups: useRead(['notification-groups'], listNotificationGroups, { enabled: isRead }).data,
    packages: useRead(['packages'], listPackages, { enabled: isRead && session.may('packages:manage') }).data,
    policy: useRead(['policy'], getPolicy, { enabled: isRead }).data,
  })
}

export const Steps = ({ steps }: { steps: readonly SetUpStep[] }) => (
  <Stack as="ol" gap={8} pad={0} style={{ listStyle: 'none', margin: 0 }}>
    {steps.map(({ to, title, text, isDone }) => (
      <Row as="li" key={to} gap={8} align="baseline">
        <Icon name={isDone ? 'check' : 'right'} size={14} title={isDone ? strings.done : strings.open} />
        <Stack gap={0}>
          <Link to={to}>{title}</Link>
          {isDone ? null : <Note>{text}</Note>}
        </Stack>
      </Row>
    ))}
  </Stack>
)

const hiddenKey = (userName: string): string => `portcullis-setup-hidden-${userName.toLowerCase()}`

/** The open steps of the set-up on the overview, until all are done or the person hides them. */
export const SetUpCard = () => {
  const state = useSession()
  const key = hiddenKey(state.phase === 'in' ? state.profile.account.userName : '')
  const [isHidden, setHidden] = useState(() => {
    try {
      return window.localStorage.getItem(key) !== null
    } catch {
      return false
    }
  })
  const steps = useSetUpSteps(!isHidden)
  const open = steps.filter(({ isDone }) => !isDone)
  if (isHidden || open.length === 0) return null
  return (
    <Panel aria-label={strings.setUp}>
      <Row justify="space-between" wrap gap="4px 12px">
        <h2>{strings.setUp}</h2>
        <Row gap={12} small>
          <Text quiet>{strings.stepsDone({ done: steps.length - open.length, count: steps.length })}</Text>
          <Link to="/settings/set-up">{strings.allSteps}</Link>
          <Button
            variant="subtle"
            size="compact-xs"
            onClick={() => {
              setHidden(true)
              try {
                window.localStorage.setItem(key, '1')
              } catch {
                // Without storage, it is hidden until the page is loaded again.
              }
            }}
          >
            {strings.hide}
          </Button>
        </Row>
      </Row>
      <Steps steps={open} />
    </Panel>
  )
}
