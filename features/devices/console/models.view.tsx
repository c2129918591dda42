import { modelAddress, modelHostsAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { modelList, type PeripheralModel } from '#features/contract.ts'
import { DeviceIds } from './shared/Device.tsx'
import { findingOf } from './shared/findings.ts'

const Findings = ({ model }: { model: PeripheralModel }) => {
  const finding = findingOf(model.severity)
  return finding === null ? <span>–</span> : <SeverityTag severity={finding.severity} word={finding.word} />
}

export const modelsTable = listTable<PeripheralModel>(modelList, {
  product: (model) => (
    <PlainLink href={modelAddress(model)}>
      <DeviceText value={model.guiPid} absent={`${model.vid}:${model.pid}`} />
    </PlainLink>
  ),
  ids: (model) => <DeviceIds device={model} />,
  kind: (model) => (
    <>
      <Icon name={kindIcon(model.devIcon)} />
      <span>{model.devIconDescription}</span>
    </>
  ),
  findings: (model) => <Findings model={model} />,
  hosts: (model) => <PlainLink href={modelHostsAddress(model)}>{model.agentsCount.toLocaleString('en')}</PlainLink>,
})
