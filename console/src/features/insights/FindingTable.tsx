import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { agentAddress } from '../../lib/addresses.ts'
import base from '../../ui/BaseTable.module.css'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { Icon, kindIcon } from '../../ui/icons.tsx'
import { PlainLink } from '../../ui/PlainLink.tsx'
import { Time } from '../../ui/Time.tsx'
import text from '../../ui/text.module.css'
import { shareText } from './insight.ts'
import classes from './insights.module.css'
import { strings } from './strings.ts'

/** A line of an insight: a kind of device, what was found, how many hosts have it. */
export interface FindingLine {
  key: string
  device: { vid: string; pid: string; guiVid: string; guiPid: string; devIcon: number; devIconDescription: string }
  /** Tells devices of the same ids apart; absent or empty where it does not. */
  serialNumber?: string
  finding: ReactNode
  hosts: number
  /** The devices behind it, in the list. */
  href: string
  /** The hosts behind the finding; absent if the list of devices shows them. */
  hostsHref?: string
  devices: number
  /** Part of the active hosts, 0 to 1; absent where it says nothing. */
  share?: number
  firstSeen: string
  lastSeen: string
  /** The evidence, behind one click. */
  more: ReactNode
}

// The browser draws this many lines at once without getting slow; the rest comes when asked for.
const step = 100

const Head = ({ hasShare }: { hasShare: boolean }) => (
  <thead>
    <tr>
      <th scope="col">{strings.device}</th>
      <th scope="col">{strings.finding}</th>
      <th scope="col" data-align="right">
        {strings.hosts}
      </th>
      {hasShare ? (
        <th scope="col" data-align="right">
          {strings.share}
        </th>
      ) : null}
      <th scope="col" data-align="right">
        {strings.devices}
      </th>
      <th scope="col" data-align="right">
        {strings.firstSeen}
      </th>
      <th scope="col" data-align="right">
        {strings.lastSeen}
      </th>
    </tr>
  </thead>
)

/** The name of the model, its vendor and its ids. */
const Name = ({ line }: { line: FindingLine }) => (
  <span className={classes.name}>
    <DeviceText value={line.device.guiPid} absent={strings.notNamed} />
    <span className={text.muted}>
      <DeviceText value={line.device.guiVid} absent="" />{' '}
      <code>
        {line.device.vid}:{line.device.pid}
      </code>
      {line.serialNumber ? (
        <> {strings.serialNumberDevicetext({ deviceText: <DeviceText value={line.serialNumber} /> })}</>
      ) : null}
    </span>
  </span>
)

interface LineProps {
  line: FindingLine
  hasShare: boolean
  isOpen: boolean
  toggle: () => void
}

const Line = ({ line, hasShare, isOpen, toggle }: LineProps) => (
  <>
    <tr>
      <td>
        <button type="button" className={classes.open} aria-expanded={isOpen} onClick={toggle}>
          <Icon name={isOpen ? 'down' : 'right'} size={12} />
          <Icon name={kindIcon(line.device.devIcon)} title={line.device.devIconDescription} />
          <Name line={line} />
        </button>
      </td>
      <td>{line.finding}</td>
      <td data-align="right">
        <PlainLink href={line.hostsHref ?? line.href}>{line.hosts.toLocaleString('en')}</PlainLink>
      </td>
      {hasShare ? <td data-align="right">{line.share === undefined ? '–' : shareText(line.share)}</td> : null}
      <td data-align="right">
        <PlainLink href={line.href}>{line.devices.toLocaleString('en')}</PlainLink>
      </td>
      <td data-align="right">
        <Time value={line.firstSeen} />
      </td>
      <td data-align="right">
        <Time value={line.lastSeen} />
      </td>
    </tr>
    {isOpen ? (
      <tr className={classes.moreRow}>
        <td colSpan={hasShare ? 7 : 6}>
          <div className={classes.more}>{line.more}</div>
        </td>
      </tr>
    ) : null}
  </>
)

/** The lines of an insight. Each opens its evidence and leads to the devices. */
export const FindingTable = ({
  label,
  lines,
  empty,
}: {
  label: string
  lines: readonly FindingLine[] | undefined
  empty: ReactNode
}) => {
  const [opened, setOpened] = useState<string | null>(null)
  const [shown, setShown] = useState(step)
  const hasShare = lines?.some(({ share }) => share !== undefined) ?? false
  return (
    <div className={base.frame}>
      <table className={base.table} aria-label={label} aria-busy={lines === undefined}>
        <Head hasShare={hasShare} />
        <tbody>
          {lines === undefined
            ? [0, 1, 2, 3].map((row) => (
                <tr key={row}>
                  <td colSpan={6}>
                    <span className={base.skeleton} />
                  </td>
                </tr>
              ))
            : lines
                .slice(0, shown)
                .map((line) => (
                  <Line
                    key={line.key}
                    line={line}
                    hasShare={hasShare}
                    isOpen={opened === line.key}
                    toggle={() => setOpened(opened === line.key ? null : line.key)}
                  />
                ))}
        </tbody>
      </table>
      {lines?.length === 0 ? <div className={base.empty}>{empty}</div> : null}
      {lines !== undefined && lines.length > shown ? (
        <div className={classes.foot}>
          <Button size="xs" variant="default" onClick={() => setShown(shown + step * 4)}>
            {strings.showMoreOfLines({ lines: lines.length })}
          </Button>
        </div>
      ) : null}
    </div>
  )
}

export interface HostsProps {
  agents: readonly { uuid: string; hostIdentifier: string }[]
  /** All there are; `agents` holds the first of them. */
  count: number
  href: string
}

/** The first hosts of a finding by name, and the way to all. */
export const Hosts = ({ agents, count, href }: HostsProps) => (
  <p className={classes.hosts}>
    {strings.onAgentsValueAllTheseDevices({
      agents: agents.map(({ uuid, hostIdentifier }, index) => (
        <span key={uuid}>
          {index > 0 ? ', ' : ''}
          <PlainLink href={agentAddress(uuid)}>
            <DeviceText value={hostIdentifier} />
          </PlainLink>
        </span>
      )),
      value: count > agents.length ? ` and ${(count - agents.length).toLocaleString('en')} more` : '',
      link: (text) => <PlainLink href={href}>{text}</PlainLink>,
    })}
  </p>
)
