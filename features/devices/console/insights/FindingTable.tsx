import { Button } from '@mantine/core'
import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import base from '@portcullis/platform/console/ui/BaseTable.module.css'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { PressButton, Quiet, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { isOpening } from '@portcullis/platform/console/ui/table/opening.ts'
import { type ReactNode, useState } from 'react'
import { shareText } from './insight.ts'
import classes from './insights.module.css'
import { strings } from './strings.ts'

/** A line of an insight: a device model, the finding and the number of hosts. */
export interface FindingLine {
  key: string
  device: { vid: string; pid: string; guiVid: string; guiPid: string; devIcon: number; devIconDescription: string }
  /** Serial number, if it identifies the device. */
  serialNumber?: string
  finding: ReactNode
  hosts: number
  /** URL of its devices. */
  href: string
  /** URL of its hosts; absent if the device list shows them. */
  hostsHref?: string
  devices: number
  /** Share of the active hosts, 0 to 1; absent if meaningless. */
  share?: number
  firstSeen: string
  lastSeen: string
  /** The evidence, shown on expansion. */
  more: ReactNode
}

// The number of lines that the browser renders quickly.
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

/** The name of the model with its vendor and VID:PID. */
const Name = ({ line }: { line: FindingLine }) => (
  <Stack as="span" gap={0}>
    <DeviceText value={line.device.guiPid} absent={strings.unknownName} />
    <Quiet>
      <DeviceText value={line.device.guiVid} absent="" />{' '}
      <code>
        {line.device.vid}:{line.device.pid}
      </code>
      {line.serialNumber ? (
        <> {strings.serialNumber({ serial: <DeviceText key="serial" value={line.serialNumber} /> })}</>
      ) : null}
    </Quiet>
  </Stack>
)

interface LineProps {
  line: FindingLine
  hasShare: boolean
  isOpen: boolean
  toggle: () => void
}

const Line = ({ line, hasShare, isOpen, toggle }: LineProps) => (
  <>
    {/* The button in the first cell does the same by keyboard. */}
    <tr
      data-opens
      onClick={(event) => {
        if (isOpening(event)) toggle()
      }}
    >
      <td>
        <PressButton style={{ display: 'flex', alignItems: 'center', gap: 8 }} aria-expanded={isOpen} onClick={toggle}>
          <Icon name={isOpen ? 'down' : 'right'} size={12} />
          <Icon name={kindIcon(line.device.devIcon)} title={line.device.devIconDescription} />
          <Name line={line} />
        </PressButton>
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
          <Stack gap={8} pad="4px 0 8px 20px">
            {line.more}
          </Stack>
        </td>
      </tr>
    ) : null}
  </>
)

/** Lists the lines of an insight. Each expands to its evidence and links to its devices. */
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
      {lines?.length === 0 ? (
        <Text as="div" pad={24} quiet style={{ textAlign: 'center' }}>
          {empty}
        </Text>
      ) : null}
      {lines !== undefined && lines.length > shown ? (
        <Text as="div" pad={10} quiet style={{ textAlign: 'center' }}>
          <Button size="xs" variant="default" onClick={() => setShown(shown + step * 4)}>
            {strings.showMore({ count: lines.length })}
          </Button>
        </Text>
      ) : null}
    </div>
  )
}

export interface HostsProps {
  agents: readonly { uuid: string; hostIdentifier: string }[]
  /** The total; `agents` contains the first of them. */
  count: number
  href: string
}

/** Lists the first hosts of a finding and links to all devices. */
export const Hosts = ({ agents, count, href }: HostsProps) => {
  const hosts = agents.map(({ uuid, hostIdentifier }, index) => (
    <span key={uuid}>
      {index > 0 ? ', ' : ''}
      <PlainLink href={agentAddress(uuid)}>
        <DeviceText value={hostIdentifier} />
      </PlainLink>
    </span>
  ))
  const link = (text: ReactNode) => <PlainLink href={href}>{text}</PlainLink>
  const more = count - agents.length
  return (
    <Text as="p" style={{ lineHeight: '22px' }}>
      {more > 0 ? strings.onHostsAndMore({ hosts, more, link }) : strings.onHosts({ hosts, link })}
    </Text>
  )
}
