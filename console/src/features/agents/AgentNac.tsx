import { Button } from '@mantine/core'
import { type NacEndpoint, nacSystemNames, readNacEndpoint } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import classes from './AgentDetail.module.css'
import { strings } from './strings.ts'

type Row = readonly [name: string, value: ReactNode]

const text = (name: string, value: string, absent = '–'): Row => [
  name,
  value === '' ? absent : <DeviceText key={name} value={value} />,
]

const iseRows = (end: NacEndpoint['ise']['endpoints'][number]): Row[] => [
  text('ANC policy', end.ancPolicy, 'none'),
  ...(end.isKnown ? [text(strings.group, end.groupId)] : [text(strings.endpoint, '', 'not known there')]),
  ...(end.session === null
    ? [text(strings.liveSession, '', strings.noneOrNotReadable)]
    : [
        text(strings.user, end.session.userName),
        text(strings.address, end.session.address),
        text(strings.switchText, [end.session.nasAddress, end.session.nasPort].filter(Boolean).join(', ')),
        text(strings.policyServiceNode, end.session.server),
      ]),
  ...Object.entries(end.attributes).map(([name, value]) => text(name, value)),
]

const cactRows = (end: NacEndpoint['cact']['endpoints'][number]): Row[] =>
  end.isKnown
    ? [text(strings.address, end.address), text(strings.property, end.property, 'not set')]
    : [text(strings.host, '', 'not known there')]

interface SystemProps {
  name: string
  known: Pick<NacEndpoint['ise'], 'status' | 'message'>
  ends: readonly { mac: string; rows: readonly Row[] }[]
}

/** What one system knows; nothing when it is not in use. */
const System = ({ name, known, ends }: SystemProps) => {
  if (known.status === 'off') return null
  return (
    <section aria-label={name}>
      <h4>{name}</h4>
      {known.status === 'failed' ? (
        <p role="note">
          <DeviceText value={known.message} />
        </p>
      ) : ends.length === 0 ? (
        <p className={classes.quiet}>{strings.theHostReportsNoInterfaceThat}</p>
      ) : (
        ends.map(({ mac, rows }) => <Facts key={mac} rows={[['MAC', <code key="mac">{mac}</code>], ...rows]} />)
      )}
    </section>
  )
}

/** What Cisco ISE and CounterACT know of a host. They are asked when a person wants to know: each may take seconds. */
export const AgentNac = ({ agentId }: { agentId: string }) => {
  const { api } = useServices()
  const [isAsked, setIsAsked] = useState(false)
  const known = useQuery({
    queryKey: ['nac-endpoint', agentId],
    queryFn: ({ signal }) => api.call(readNacEndpoint, { params: { agentId }, signal }),
    enabled: isAsked,
    // As it is now, or not at all.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const { data } = known
  const isOff = data !== undefined && data.ise.status === 'off' && data.cact.status === 'off'
  return (
    <section className={classes.nac} aria-label={strings.networkAccessControl}>
      <h3>{strings.whatCiscoIseAndCounteractKnow}</h3>
      <Button
        size="compact-sm"
        variant="default"
        loading={known.isFetching}
        onClick={() => (isAsked ? void known.refetch() : setIsAsked(true))}
      >
        {isAsked ? strings.askAgain : strings.askNow}
      </Button>
      {known.error === null ? null : <ErrorState failure={known.error} inline />}
      {isOff ? <p className={classes.quiet}>{strings.neitherOfThemIsInUse}</p> : null}
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
    </section>
  )
}
