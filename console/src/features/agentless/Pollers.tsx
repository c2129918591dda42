import { Popover } from '@mantine/core'
import type { WorkerPollerDetails } from '@portcullis/contract'
import { useState } from 'react'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './agentless.module.css'
import { strings } from './strings.ts'

const head = [
  strings.process,
  strings.address,
  strings.version,
  { title: strings.polls, align: 'right' },
  { title: strings.ofACore, align: 'right' },
  { title: strings.heardOf, align: 'right' },
] as const

/** How many processes the worker consists of, and behind that how each is. */
export const Pollers = ({ pollers }: { pollers: WorkerPollerDetails['pollers'] }) => {
  const [opened, setOpened] = useState(false)
  const alive = pollers.filter(({ isAlive }) => isAlive).length
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <button
          type="button"
          className={classes.pollers}
          aria-expanded={opened}
          onClick={() => setOpened((was) => !was)}
        >
          {strings.aliveOfPollersOtherProcessesAlive({ alive, pollers: pollers.length })}
        </button>
      </Popover.Target>
      <Popover.Dropdown className={classes.pollerTable} tabIndex={-1} data-autofocus>
        <SmallTable
          label={strings.processesOfTheWorker}
          head={head}
          rows={pollers.map(({ id, name, ipAddress, version, isAlive, running, capacity, cpu, lastSeen }) => ({
            key: id,
            quiet: !isAlive,
            cells: [
              <DeviceText key="name" value={name} />,
              <DeviceText key="address" value={ipAddress} />,
              <DeviceText key="version" value={version} />,
              isAlive ? (
                strings.runningOfCapacity({ running, capacity })
              ) : (
                <SeverityTag key="silent" severity="neutral" word={strings.silent} />
              ),
              isAlive ? `${Math.round(cpu)} %` : '–',
              <Time key="seen" value={lastSeen} />,
            ],
          }))}
          empty={strings.noProcess}
        />
      </Popover.Dropdown>
    </Popover>
  )
}
