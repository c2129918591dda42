import type { PeripheralModel } from '@portcullis/contract'
import { modelHostsAddress } from '@portcullis/platform/console/lib/addresses.ts'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { DeviceIds } from '@portcullis/platform/console/ui/device/Device.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { findingOf } from '@portcullis/platform/console/ui/findings.ts'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { findingFilters, identityFilters, kindFilters } from './device-filters.ts'
import { strings } from './strings.ts'

/** Filters of the model list, by their API names. */
export const modelFilters = [...kindFilters, ...findingFilters, ...identityFilters] as const satisfies readonly Filter[]

export const modelsView: ViewSpec = {
  filters: modelFilters.map(({ name }) => name),
  defaultSort: 'severity_desc',
  defaultColumns: ['product', 'vendor', 'ids', 'kind', 'findings', 'hosts', 'devices', 'first', 'last'],
}

/** Returns the address of the device list for a model. */
export const modelAddress = (model: Pick<PeripheralModel, 'vid' | 'pid'>): string =>
  `/peripherals?vid=${model.vid}&pid=${model.pid}`

const Findings = ({ model }: { model: PeripheralModel }) => {
  const finding = findingOf(model.severity)
  return finding === null ? <span>–</span> : <SeverityTag severity={finding.severity} word={finding.word} />
}

export const modelColumns: readonly Column<PeripheralModel>[] = [
  {
    id: 'product',
    hasLink: true,
    title: strings.product,
    width: 240,
    grow: true,
    sortKey: 'guiPid',
    cell: (model) => (
      <PlainLink href={modelAddress(model)}>
        <DeviceText value={model.guiPid} absent={`${model.vid}:${model.pid}`} />
      </PlainLink>
    ),
  },
  {
    id: 'vendor',
    title: strings.vendor,
    width: 190,
    grow: true,
    sortKey: 'guiVid',
    cell: (model) => <DeviceText value={model.guiVid} />,
  },
  {
    id: 'ids',
    title: strings.ids,
    width: 96,
    sortKey: 'vid',
    exportKeys: ['vid', 'pid'],
    cell: (model) => <DeviceIds device={model} />,
  },
  {
    id: 'kind',
    title: strings.kind,
    width: 140,
    sortKey: 'devIcon',
    exportKeys: ['devIconDescription'],
    cell: (model) => (
      <>
        <Icon name={kindIcon(model.devIcon)} />
        <span>{model.devIconDescription}</span>
      </>
    ),
  },
  {
    id: 'findings',
    title: strings.findings,
    width: 216,
    sortKey: 'severity',
    exportKeys: ['isKnownAttackTool', 'isVulnerablePeripheral'],
    naturalSort: 'desc',
    cell: (model) => <Findings model={model} />,
  },
  {
    id: 'hosts',
    hasLink: true,
    title: strings.hosts,
    width: 84,
    align: 'right',
    sortKey: 'agentsCount',
    naturalSort: 'desc',
    cell: (model) => <PlainLink href={modelHostsAddress(model)}>{model.agentsCount.toLocaleString('en')}</PlainLink>,
  },
  {
    id: 'devices',
    title: strings.devices,
    width: 84,
    align: 'right',
    sortKey: 'peripheralsCount',
    naturalSort: 'desc',
    cell: (model) => <span>{model.peripheralsCount.toLocaleString('en')}</span>,
  },
  {
    id: 'first',
    title: strings.firstSeen,
    width: 108,
    align: 'right',
    sortKey: 'firstSeen',
    naturalSort: 'desc',
    cell: (model) => <Time value={model.firstSeen} />,
  },
  {
    id: 'last',
    title: strings.lastSeen,
    width: 108,
    align: 'right',
    sortKey: 'lastSeen',
    naturalSort: 'desc',
    cell: (model) => <Time value={model.lastSeen} />,
  },
]
