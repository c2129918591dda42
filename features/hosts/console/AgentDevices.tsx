import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Note, Quiet, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useState } from 'react'
import type { Peripheral } from '#features/contract.ts'
import { DeviceFindings, DeviceIds, DeviceName } from '#features/devices/console/shared/Device.tsx'
import { DeviceFacts } from '#features/devices/console/shared/DeviceFacts.tsx'
import { attackToolsFirst, deviceTree, type TreeNode } from '#features/devices/console/shared/device-tree.ts'
import { portOf } from '#features/devices/console/shared/port.ts'
import { verdictOf } from '#features/devices/console/shared/verdict.ts'
import { Why } from '#features/devices/console/shared/Why.tsx'
import { DecideButtons } from '#features/policy/console/shared/DecideButtons.tsx'
import classes from './AgentDevices.module.css'
import { strings } from './strings.ts'

/** Properties common to all lines of a host. */
interface HostProps {
  /** Tags of the host. */
  tags: readonly string[]
}

const Line = ({ device, depth, tags }: HostProps & { device: Peripheral; depth: number }) => {
  const [opened, setOpened] = useState(false)
  const verdict = verdictOf(device)
  return (
    <>
      <div className={classes.line} style={{ paddingLeft: 8 + depth * 20 }} data-gone={!device.present || undefined}>
        <button type="button" className={classes.open} aria-expanded={opened} onClick={() => setOpened(!opened)}>
          <Icon name={opened ? 'down' : 'right'} size={12} />
          <DeviceName device={device} />
        </button>
        <button
          type="button"
          className={classes.verdict}
          onClick={() => setOpened(!opened)}
          aria-label={strings.explain({ verdict: verdict.word })}
        >
          {verdict.severity === 'neutral' ? (
            verdict.word
          ) : (
            <SeverityTag severity={verdict.severity} word={verdict.word} />
          )}
        </button>
        <span className={classes.ids}>
          <DeviceIds device={device} />
        </span>
        <Quiet tiny num style={{ textAlign: 'right' }}>
          {device.present ? portOf(device) : <Time value={device.lastSeen} />}
        </Quiet>
        <span className={classes.findings}>
          <DeviceFindings device={device} />
        </span>
      </div>
      {opened ? (
        <div className={classes.more} style={{ marginLeft: 16 + depth * 20 }}>
          <Why device={device} />
          <DecideButtons device={device} tags={tags} />
          <DeviceFacts device={device} />
        </div>
      ) : null}
    </>
  )
}

const Branch = ({ nodes, depth, ...host }: HostProps & { nodes: readonly TreeNode<Peripheral>[]; depth: number }) => (
  <Stack as="ul" gap={0}>
    {nodes.map(({ device, children }) => (
      <li key={device.deviceID}>
        <Line device={device} depth={depth} {...host} />
        {children.length > 0 ? <Branch nodes={children} depth={depth + 1} {...host} /> : null}
      </li>
    ))}
  </Stack>
)

/** Lists the devices of a host: attack tools, then a tree by port, then past devices. A line expands to its reason. */
export const AgentDevices = ({ devices, ...host }: HostProps & { devices: readonly Peripheral[] }) => {
  const gone = attackToolsFirst(devices.filter((device) => !device.present))
  const tree = deviceTree(devices)
  return (
    <div className={classes.devices}>
      {tree.length === 0 ? <Note>{strings.noDevices}</Note> : <Branch nodes={tree} depth={0} {...host} />}
      {gone.length === 0 ? null : (
        <>
          <h3>{strings.previousDevices}</h3>
          <Stack as="ul" gap={0}>
            {gone.map((device) => (
              <li key={device.deviceID}>
                <Line device={device} depth={0} {...host} />
              </li>
            ))}
          </Stack>
        </>
      )}
    </div>
  )
}
