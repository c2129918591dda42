import { Popover } from '@mantine/core'
import type { WorkerPollerDetails } from '@portcullis/contract'
import { useState } from 'react'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './agentless.module.css'

const head = [
  'Process',
  'Address',
  'Version',
  { title: 'Polls', align: 'right' },
  { title: 'Of a core', align: 'right' },
  { title: 'Heard of', align: 'right' },
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
          {alive.toLocaleString('en')} of {pollers.length.toLocaleString('en')}{' '}
          {pollers.length === 1 ? 'process' : 'processes'} alive
        </button>
      </Popover.Target>
      <Popover.Dropdown className={classes.pollerTable} tabIndex={-1} data-autofocus>
        <SmallTable
          label="Processes of the worker"
          head={head}
          rows={pollers.map(({ id, name, ipAddress, version, isAlive, running, capacity, cpu, lastSeen }) => ({
            key: id,
            quiet: !isAlive,
            cells: [
              <DeviceText key="name" value={name} />,
              <DeviceText key="address" value={ipAddress} />,
              <DeviceText key="version" value={version} />,
              isAlive ? (
                `${running.toLocaleString('en')} of ${capacity.toLocaleString('en')}`
              ) : (
                <SeverityTag key="silent" severity="neutral" word="Silent" />
              ),
              isAlive ? `${Math.round(cpu)} %` : '–',
              <Time key="seen" value={lastSeen} />,
            ],
          }))}
          empty="No process."
        />
      </Popover.Dropdown>
    </Popover>
  )
}
