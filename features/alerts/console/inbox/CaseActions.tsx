import { Button, Menu } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { localTime } from '@portcullis/platform/console/lib/time.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Quiet } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useNow } from '@portcullis/platform/console/ui/useNow.ts'
import { useState } from 'react'
import { getAllUsers } from '#features/contract.ts'
import type { Case } from './case.ts'
import { snoozeTimes } from './snooze-times.ts'
import { strings } from './strings.ts'
import type { CaseActionsState } from './useCases.tsx'

const muteDays = [7, 30, 90] as const

interface MenuProps {
  cases: readonly Case[]
  actions: CaseActionsState
  /** Called after the alerts left the list. */
  done?: () => void
}

/** Lists the enabled accounts, read when the menu opens. */
const Accounts = ({ me, choose }: { me: string; choose: (owner: string) => void }) => {
  const { data } = useRead(['accounts'], getAllUsers)
  return (data ?? [])
    .filter(({ userName, isEnabled }) => isEnabled && userName !== me)
    .map(({ userName }) => (
      <Menu.Item key={userName} onClick={() => choose(userName)}>
        <DeviceText value={userName} />
      </Menu.Item>
    ))
}

/** Sets the owner of alerts. */
export const AssignMenu = ({ cases, actions }: MenuProps) => {
  const { session } = useServices()
  const [isOpen, setIsOpen] = useState(false)
  const hasOwner = cases.some(({ owner }) => owner !== '')
  return (
    <Menu opened={isOpen} onChange={setIsOpen} position="bottom-end">
      <Menu.Target>
        <Button size="compact-sm" variant="default">
          {strings.assign}
        </Button>
      </Menu.Target>
      <Menu.Dropdown style={{ maxHeight: 320, overflowY: 'auto' }}>
        {actions.me === '' ? null : (
          <Menu.Item onClick={() => actions.assign(cases, actions.me)}>{strings.assignToMe}</Menu.Item>
        )}
        {hasOwner ? <Menu.Item onClick={() => actions.assign(cases, null)}>{strings.assignNobody}</Menu.Item> : null}
        {isOpen && session.may('accounts:read') ? (
          <Accounts me={actions.me} choose={(owner) => actions.assign(cases, owner)} />
        ) : null}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Hides alerts until one of a few times. */
export const SnoozeMenu = ({ cases, actions, done, canMute = false }: MenuProps & { canMute?: boolean }) => {
  const now = useNow()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="compact-sm" variant="default">
          {strings.snooze}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {cases.some(({ state }) => state === 'snoozed') ? (
          <Menu.Item onClick={() => actions.snooze(cases, null, done)}>{strings.endSnooze}</Menu.Item>
        ) : null}
        {snoozeTimes(new Date(now)).map(({ label, at }) => (
          <Menu.Item
            key={label}
            rightSection={
              <Quiet tiny style={{ marginLeft: 12 }}>
                {localTime(at.getTime())}
              </Quiet>
            }
            onClick={() => actions.snooze(cases, at, done)}
          >
            {label}
          </Menu.Item>
        ))}
        {canMute
          ? muteDays.map((days) => (
              <Menu.Item key={days} onClick={() => cases[0] !== undefined && actions.mute(cases[0], days)}>
                {strings.muteModel({ days })}
              </Menu.Item>
            ))
          : null}
      </Menu.Dropdown>
    </Menu>
  )
}

/** The actions that handle one alert for everybody. */
export const CaseActions = ({
  one,
  canMute,
  actions,
}: {
  one: Case
  /** Whether the alert is about a model whose alerts can be muted. */
  canMute: boolean
  actions: CaseActionsState
}) => {
  const cases = [one]
  if (one.state === 'closed')
    return (
      <Button size="compact-sm" variant="default" onClick={() => actions.reopen(cases)}>
        {strings.reopen}
      </Button>
    )
  return (
    <>
      <AssignMenu cases={cases} actions={actions} />
      <SnoozeMenu cases={cases} actions={actions} canMute={canMute} />
      <Button size="compact-sm" onClick={() => actions.close(cases)}>
        {strings.askClose}
      </Button>
    </>
  )
}
