import { Popover } from '@mantine/core'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { PressButton } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useState } from 'react'
import type { WorkerPollerDetails } from '#features/contract.ts'
import { strings } from './strings.ts'

const head = [
  strings.process,
  strings.address,
  strings.version,
  right(strings.polling),
  right(strings.cpu),
  right(strings.lastSeen),
] as const

/** Shows the number of worker processes, and a list of them on demand. */
export const Pollers = ({ pollers }: { pollers: WorkerPollerDetails['pollers'] }) => {
  const [opened, setOpened] = useState(false)
  const alive = pollers.filter(({ isAlive }) => isAlive).length
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <PressButton isLink aria-expanded={opened} onClick={() => setOpened((was) => !was)}>
          {strings.processesAlive({ alive, count: pollers.length })}
        </PressButton>
      </Popover.Target>
      <Popover.Dropdown maw="min(960px, 94vw)" tabIndex={-1} data-autofocus>
        <SmallTable
          label={strings.processes}
          head={head}
          rows={pollers.map(({ id, name, ipAddress, version, isAlive, running, capacity, cpu, lastSeen }) => ({
            key: id,
            quiet: !isAlive,
            cells: [
              <DeviceText key="name" value={name} />,
              <DeviceText key="address" value={ipAddress} />,
              <DeviceText key="version" value={version} />,
              isAlive ? (
                strings.runningOf({ running, capacity })
              ) : (
                <SeverityTag key="silent" severity="neutral" word={strings.disconnected} />
              ),
              isAlive ? `${Math.round(cpu)} %` : '–',
              <Time key="seen" value={lastSeen} />,
            ],
          }))}
          empty={strings.noProcesses}
        />
      </Popover.Dropdown>
    </Popover>
  )
}
