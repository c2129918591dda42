import { NativeSelect } from '@mantine/core'
import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { listSource } from '@portcullis/platform/console/lib/list-source.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Note, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { DataTable } from '@portcullis/platform/console/ui/table/DataTable.tsx'
import { useView } from '@portcullis/platform/console/ui/useView.ts'
import { useMemo } from 'react'
import { listRolloutHosts, type Rollout, type RolloutHost } from '#features/contract.ts'
import { hostLabels, hostStateOrder } from './rollout.ts'
import { strings } from './strings.ts'

const hostsView: ViewSpec = {
  filters: ['ring', 'state'],
  // The server supports only this order: by ring and name.
  defaultSort: 'ring_asc',
  defaultColumns: ['host', 'ring', 'state', 'reason', 'predicted', 'actual', 'contact'],
}

const columnsOf = (rollout: Rollout): Column<RolloutHost>[] => [
  {
    id: 'host',
    hasLink: true,
    title: strings.hostName,
    width: 180,
    cell: (host) => (
      <PlainLink href={agentAddress(host.uuid)}>
        <DeviceText value={host.hostIdentifier} />
      </PlainLink>
    ),
  },
  {
    id: 'ring',
    title: strings.ring,
    width: 160,
    cell: (host) => <DeviceText value={rollout.rings[host.ring]?.name} />,
  },
  { id: 'state', title: strings.state, width: 120, cell: (host) => <span>{hostLabels[host.state].word}</span> },
  {
    id: 'reason',
    title: strings.reason,
    width: 280,
    grow: true,
    cell: (host) => <DeviceText value={host.reason} absent="" />,
  },
  ...(rollout.kind === 'arm'
    ? ([
        {
          id: 'predicted',
          title: strings.predictedBlocks,
          width: 130,
          align: 'right',
          cell: (host) => <span>{host.predictedBlocks}</span>,
        },
        {
          id: 'actual',
          title: strings.blocked,
          width: 84,
          align: 'right',
          cell: (host) => <span>{host.actualBlocks}</span>,
        },
      ] satisfies Column<RolloutHost>[])
    : []),
  {
    id: 'contact',
    title: strings.lastSeen,
    width: 104,
    align: 'right',
    cell: (host) => <Time value={host.lastContact} />,
  },
]

/** Lists the hosts of started rings, filtered by ring and state. */
export const RolloutHosts = ({ rollout }: { rollout: Rollout }) => {
  const { api } = useServices()
  const view = useView('/inside/rollouts/$id', hostsView)
  const { filters } = view.state
  const source = useMemo(
    () => listSource(api, listRolloutHosts, filters, (host) => host.uuid, { id: rollout.id }),
    [api, filters, rollout.id],
  )
  return (
    <Stack as="section" grow gap={8} style={{ minHeight: 320 }}>
      <Row gap={12} align="end" wrap>
        <h3>{strings.hosts}</h3>
        <NativeSelect
          size="xs"
          aria-label={strings.ring}
          value={filters.ring ?? ''}
          data={[
            { value: '', label: strings.allRings },
            ...rollout.rings.map(({ name }, index) => ({ value: String(index), label: `${index + 1}. ${name}` })),
          ]}
          onChange={(event) => view.set({ filters: { ring: event.currentTarget.value || null } })}
        />
        <NativeSelect
          size="xs"
          aria-label={strings.state}
          value={filters.state ?? ''}
          data={[
            { value: '', label: strings.allStates },
            ...hostStateOrder.map((state) => ({ value: state, label: hostLabels[state].word })),
          ]}
          onChange={(event) => view.set({ filters: { state: event.currentTarget.value || null } })}
        />
      </Row>
      <Stack grow gap={0}>
        <DataTable
          label={strings.hostsTable}
          columns={columnsOf(rollout)}
          source={source}
          view={view}
          topics={['agents']}
          hrefOf={(host) => agentAddress(host.uuid)}
          opensPage
          empty={<Note>{strings.hostsEmpty}</Note>}
        />
      </Stack>
    </Stack>
  )
}
