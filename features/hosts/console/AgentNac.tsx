import { Button } from '@mantine/core'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Note, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { type ReactNode, useState } from 'react'
import { type NacEndpoint, nacSystemNames, readNacEndpoint } from '#features/contract.ts'
import { strings } from './strings.ts'

type Row = readonly [name: string, value: ReactNode]

const text = (name: string, value: string, absent = '–'): Row => [
  name,
  value === '' ? absent : <DeviceText key={name} value={value} />,
]

const iseRows = (end: NacEndpoint['ise']['endpoints'][number]): Row[] => [
  text(strings.ancPolicy, end.ancPolicy, strings.nothing),
  ...(end.isKnown ? [text(strings.group, end.groupId)] : [text(strings.endpoint, '', strings.unknownEndpoint)]),
  ...(end.session === null
    ? [text(strings.liveSession, '', strings.noSession)]
    : [
        text(strings.user, end.session.userName),
        text(strings.address, end.session.address),
        text(strings.switchPort, [end.session.nasAddress, end.session.nasPort].filter(Boolean).join(', ')),
        text(strings.policyServiceNode, end.session.server),
      ]),
  ...Object.entries(end.attributes).map(([name, value]) => text(name, value)),
]

const cactRows = (end: NacEndpoint['cact']['endpoints'][number]): Row[] =>
  end.isKnown
    ? [text(strings.address, end.address), text(strings.property, end.property, strings.notSet)]
    : [text(strings.hostName, '', strings.unknownEndpoint)]

interface SystemProps {
  name: string
  known: Pick<NacEndpoint['ise'], 'status' | 'message'>
  ends: readonly { mac: string; rows: readonly Row[] }[]
}

/** Data from one system; nothing if it is not in use. */
const System = ({ name, known, ends }: SystemProps) => {
  if (known.status === 'off') return null
  return (
    <Stack as="section" gap={8} aria-label={name}>
      <h4>{name}</h4>
      {known.status === 'failed' ? (
        <p role="note">
          <DeviceText value={known.message} />
        </p>
      ) : ends.length === 0 ? (
        <Note>{strings.noActiveInterface}</Note>
      ) : (
        ends.map(({ mac, rows }) => <Facts key={mac} rows={[[strings.mac, <code key="mac">{mac}</code>], ...rows]} />)
      )}
    </Stack>
  )
}

/** Data from Cisco ISE and CounterACT about a host. Loaded on request, because each can take seconds. */
export const AgentNac = ({ agentId }: { agentId: string }) => {
  const [isAsked, setIsAsked] = useState(false)
  const known = useRead(['nac-endpoint', agentId], readNacEndpoint, {
    params: { agentId },
    enabled: isAsked,
    // Never shows old data.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const { data } = known
  const isOff = data !== undefined && data.ise.status === 'off' && data.cact.status === 'off'
  return (
    <Stack as="section" align="start" gap={10} top={20} aria-label={strings.networkAccessControl}>
      <h3>{strings.nacTitle}</h3>
      <Button
        size="compact-sm"
        variant="default"
        loading={known.isFetching}
        onClick={() => (isAsked ? void known.refetch() : setIsAsked(true))}
      >
        {isAsked ? strings.lookUpAgain : strings.lookUp}
      </Button>
      <ErrorState failure={known.error} inline />
      {isOff ? <Note>{strings.nacOff}</Note> : null}
      {data === undefined ? null : (
        <>
          <System
            name={nacSystemNames.ise}
            known={data.ise}
            ends={data.ise.endpoints.map((end) => ({ mac: end.mac, rows: iseRows(end) }))}
          />
          <System
            name={nacSystemNames.cact}
            known={data.cact}
            ends={data.cact.endpoints.map((end) => ({ mac: end.mac, rows: cactRows(end) }))}
          />
        </>
      )}
    </Stack>
  )
}
