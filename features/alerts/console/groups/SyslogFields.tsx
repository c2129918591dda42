import { NativeSelect, Switch, TextInput } from '@mantine/core'
import { CertificatesField } from '@portcullis/platform/console/ui/form/CertificatesField.tsx'
import { Panel, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { type SyslogFormat, type SyslogProtocol, syslogFormats, syslogProtocols } from '#features/contract.ts'
import { ChannelTest } from './ChannelTest.tsx'
import type { Draft } from './draft.ts'
import type { SectionProps } from './section.ts'
import { strings } from './strings.ts'

const at = (member: string) => `channels.syslog.${member}`

const protocolLabels: Readonly<Record<SyslogProtocol, string>> = {
  udp: strings.udp,
  tcp: 'TCP',
  tls: 'TLS',
}
const formatLabels: Readonly<Record<SyslogFormat, string>> = {
  rfc5424: 'RFC 5424',
  cef: 'CEF (ArcSight)',
  ocsf: 'OCSF (JSON)',
}
const ports: Readonly<Record<SyslogProtocol, number>> = { udp: 514, tcp: 601, tls: 6514 }

export const SyslogFields = ({ entry, canWrite }: SectionProps) => {
  const { draft, enter, errorOf } = entry
  const { syslog } = draft
  const change = (part: Partial<Draft['syslog']>, ...members: string[]) =>
    enter({ syslog: { ...syslog, ...part } }, ...members.map(at))
  return (
    <Panel aria-label={strings.syslog}>
      <Switch
        name={at('isEnabled')}
        label={<strong>{strings.syslog}</strong>}
        description={strings.syslogHelp}
        error={errorOf(at('isEnabled'))}
        checked={syslog.isEnabled}
        onChange={(event) => change({ isEnabled: event.currentTarget.checked }, 'isEnabled', 'address')}
      />
      <Row wrap align="start" gap={12}>
        <TextInput
          name={at('address')}
          label={strings.address}
          error={errorOf(at('address'))}
          style={{ flex: '1 1 240px' }}
          maxLength={300}
          autoComplete="off"
          spellCheck={false}
          placeholder={`siem.example.org:${ports[syslog.protocol]}`}
          value={syslog.address}
          onChange={(event) => change({ address: event.currentTarget.value }, 'address')}
        />
        <NativeSelect
          name={at('protocol')}
          label={strings.protocol}
          data={syslogProtocols.map((value) => ({ value, label: protocolLabels[value] }))}
          value={syslog.protocol}
          onChange={(event) => change({ protocol: event.currentTarget.value as SyslogProtocol }, 'protocol', 'address')}
        />
        <NativeSelect
          name={at('format')}
          label={strings.format}
          data={syslogFormats.map((value) => ({ value, label: formatLabels[value] }))}
          value={syslog.format}
          onChange={(event) => change({ format: event.currentTarget.value as SyslogFormat }, 'format')}
        />
      </Row>
      {syslog.protocol === 'tls' ? (
        <CertificatesField
          name={at('ca')}
          label={strings.certificates}
          description={strings.certificatesHelp}
          error={errorOf(at('ca'))}
          max={65_536}
          value={syslog.ca}
          onChange={(ca) => change({ ca }, 'ca')}
        />
      ) : null}
      {canWrite ? <ChannelTest channel="syslog" entry={entry} /> : null}
    </Panel>
  )
}
