import { modelHostsAddress } from '@portcullis/platform/console/lib/addresses.ts'
import base from '@portcullis/platform/console/ui/BaseTable.module.css'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Note, Quiet, Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import type {
  PeripheralModel,
  SpoofedIdentity,
  UncommonPeripheral,
  VulnerablePeripheral,
  WhitelistViolation,
} from '#features/contract.ts'
import { Advisories } from '../shared/Advisories.tsx'
import { findingOf } from '../shared/findings.ts'
import type { FindingLine } from './FindingTable.tsx'
import { Hosts } from './FindingTable.tsx'
import { devicesAddress } from './insight.ts'
import classes from './insights.module.css'
import { strings } from './strings.ts'

const tag = (severity: number) => {
  const finding = findingOf(severity)
  return finding === null ? null : <SeverityTag severity={finding.severity} word={finding.word} />
}

export const attackToolLine = (model: PeripheralModel): FindingLine => {
  const href = devicesAddress(model, { isKnownAttackTool: 'true' })
  return {
    key: `${model.vid}:${model.pid}`,
    device: model,
    finding: tag(model.severity),
    hosts: model.agentsCount,
    href,
    hostsHref: modelHostsAddress(model),
    devices: model.peripheralsCount,
    firstSeen: model.firstSeen,
    lastSeen: model.lastSeen,
    more: (
      <p>
        {model.severity >= 50 ? strings.confirmedHint : strings.suspectedHint} <a href={href}>{strings.showDevices}</a>
      </p>
    ),
  }
}

export const uncommonLine = (found: UncommonPeripheral): FindingLine => {
  const href = devicesAddress(found)
  return {
    key: `${found.vid}:${found.pid}:${found.interfaces}`,
    device: found,
    finding: found.isKnownAttackTool ? (
      <SeverityTag severity="red" word={strings.attackTool} />
    ) : (
      <SeverityTag severity="neutral" word={strings.uncommon} />
    ),
    hosts: found.agentsCount,
    href,
    devices: found.peripheralsCount,
    share: found.share,
    firstSeen: found.firstSeen,
    lastSeen: found.lastSeen,
    more: (
      <>
        <Hosts agents={found.agents} count={found.agentsCount} href={href} />
        <Note>{strings.interfaces({ interfaces: <code key="interfaces">{found.interfaces}</code> })}</Note>
      </>
    ),
  }
}

export const vulnerableLine = (found: VulnerablePeripheral): FindingLine => {
  const href = devicesAddress(found, { isVulnerablePeripheral: 'true' })
  const [first, ...others] = found.vulnerabilities
  return {
    key: `${found.vid}:${found.pid}`,
    device: found,
    finding: (
      <Row as="span" wrap>
        {tag(found.severity)}
        <Quiet>
          {others.length === 0
            ? (first?.id ?? '')
            : strings.moreAdvisories({ advisory: first?.id ?? '', count: others.length })}
        </Quiet>
      </Row>
    ),
    hosts: found.agentsCount,
    href,
    hostsHref: modelHostsAddress(found),
    devices: found.peripheralsCount,
    share: found.share,
    firstSeen: found.firstSeen,
    lastSeen: found.lastSeen,
    more: (
      <>
        <Advisories findings={found.vulnerabilities} />
        <Hosts agents={found.agents} count={found.agentsCount} href={href} />
      </>
    ),
  }
}

export const violationLine = (found: WhitelistViolation): FindingLine => {
  const href = devicesAddress(found, {
    isUnapprovedPeripheral: 'true',
    ...(found.serialNumber === '' ? {} : { serialNumber: found.serialNumber }),
  })
  return {
    key: `${found.vid}:${found.pid}:${found.serialNumber}`,
    device: found,
    serialNumber: found.serialNumber,
    finding: (
      <Row as="span" wrap>
        {found.isKnownAttackTool ? <SeverityTag severity="red" word={strings.attackTool} /> : null}
        <SeverityTag severity="amber" word={strings.notAllowed} />
        <Quiet>{found.enforced ? strings.onArmedHost : strings.onFreeHosts}</Quiet>
      </Row>
    ),
    hosts: found.agentsCount,
    href,
    devices: found.peripheralsCount,
    firstSeen: found.firstSeen,
    lastSeen: found.lastSeen,
    more: (
      <p>
        {found.serialNumber === ''
          ? strings.noSerialNumber
          : strings.serialNumberIs({ serial: <DeviceText key="serial" value={found.serialNumber} /> })}{' '}
        {strings.notAllowedHint} {found.enforced ? strings.armedHint : strings.freeHint}{' '}
        <a href={href}>{strings.decideLink}</a>{' '}
        <PlainLink href={modelHostsAddress(found)}>{strings.hostsWithThisModel}</PlainLink>
      </p>
    ),
  }
}

const Diff = ({ diff, basis }: Pick<SpoofedIdentity, 'diff' | 'basis'>) => (
  <table className={`${base.table} ${classes.diff}`}>
    <thead>
      <tr>
        <th scope="col">{strings.property}</th>
        <th scope="col">{strings.thisDevice}</th>
        <th scope="col">{basis === 'genuine' ? strings.genuine : strings.others}</th>
      </tr>
    </thead>
    <tbody>
      {diff.map(({ field, device, expected, differs }) => (
        <tr key={field} data-differs={differs || undefined}>
          <th scope="row">
            {field}
            {differs ? (
              <Text tone="amber" style={{ marginLeft: 8 }}>
                {strings.differs}
              </Text>
            ) : null}
          </th>
          <td>
            <DeviceText value={device} absent={strings.nothing} />
          </td>
          <td>
            <DeviceText value={expected} absent={strings.nothing} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

export const spoofedLine = (found: SpoofedIdentity): FindingLine => {
  const href = devicesAddress(found)
  return {
    key: `${found.fingerprint}:${found.basis}`,
    device: found,
    finding: (
      <SeverityTag
        severity={found.level === 'confirmed' ? 'violet' : 'red'}
        word={strings.spoofedTag({ level: found.level })}
      />
    ),
    hosts: found.agentsCount,
    href,
    devices: found.peripheralsCount,
    firstSeen: found.firstSeen,
    lastSeen: found.lastSeen,
    more: (
      <>
        <ul>
          {found.evidence.map((line) => (
            <li key={line}>
              <DeviceText value={line} />
            </li>
          ))}
        </ul>
        <Diff diff={found.diff} basis={found.basis} />
        {found.consensus === null ? null : (
          <Note>
            {strings.consensus({
              share: (found.consensus.share * 100).toFixed(1),
              devices: found.consensus.devices,
            })}
          </Note>
        )}
        <Hosts agents={found.agents} count={found.agentsCount} href={href} />
      </>
    ),
  }
}
