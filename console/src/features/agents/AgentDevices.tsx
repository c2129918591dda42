import type { Peripheral } from '@portcullis/contract'
import { useState } from 'react'
import { DeviceFindings, DeviceIds, DeviceName } from '../../ui/device/Device.tsx'
import { DeviceFacts } from '../../ui/device/DeviceFacts.tsx'
import { deviceTree, type TreeNode } from '../../ui/device/device-tree.ts'
import { Why } from '../../ui/device/Why.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './AgentDevices.module.css'

const Line = ({ device, depth }: { device: Peripheral; depth: number }) => {
  const [opened, setOpened] = useState(false)
  return (
    <>
      <div className={classes.line} style={{ paddingLeft: 8 + depth * 20 }} data-gone={!device.present || undefined}>
        <button type="button" className={classes.open} aria-expanded={opened} onClick={() => setOpened(!opened)}>
          <Icon name={opened ? 'down' : 'right'} size={12} />
          <DeviceName device={device} />
        </button>
        <DeviceFindings device={device} />
        <span className={classes.ids}>
          <DeviceIds device={device} />
        </span>
        <span className={classes.port}>{device.present ? device.hierarchy : <Time value={device.lastSeen} />}</span>
      </div>
      {opened ? (
        <div className={classes.more} style={{ marginLeft: 16 + depth * 20 }}>
          <Why device={device} />
          <DeviceFacts device={device} />
        </div>
      ) : null}
    </>
  )
}

const Branch = ({ nodes, depth }: { nodes: readonly TreeNode<Peripheral>[]; depth: number }) => (
  <ul className={classes.branch}>
    {nodes.map(({ device, children }) => (
      <li key={device.deviceID}>
        <Line device={device} depth={depth} />
        {children.length > 0 ? <Branch nodes={children} depth={depth + 1} /> : null}
      </li>
    ))}
  </ul>
)

/** The devices of a host: present ones as a tree by port, those seen before below. A line opens its why. */
export const AgentDevices = ({ devices }: { devices: readonly Peripheral[] }) => {
  const gone = devices.filter((device) => !device.present)
  const tree = deviceTree(devices)
  return (
    <div className={classes.devices}>
      {tree.length === 0 ? (
        <p className={classes.quiet}>No USB device is attached.</p>
      ) : (
        <Branch nodes={tree} depth={0} />
      )}
      {gone.length === 0 ? null : (
        <>
          <h3>Seen before</h3>
          <ul className={classes.branch}>
            {gone.map((device) => (
              <li key={device.deviceID}>
                <Line device={device} depth={0} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
