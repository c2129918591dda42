import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { Panel, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { strings } from './strings.ts'

/** Explains how to connect load balancers, Prometheus and trace collectors. */
export const MonitoringCard = () => {
  const { origin, host, protocol } = window.location
  const scrape = [
    'scrape_configs:',
    '  - job_name: portcullis',
    ...(protocol === 'https:' ? ['    scheme: https'] : []),
    '    authorization: { credentials_file: /etc/prometheus/portcullis-token }',
    `    static_configs: [{ targets: ['${host}'] }]`,
  ].join('\n')
  return (
    <Panel aria-label={strings.monitoring}>
      <h2>{strings.monitoring}</h2>
      <p>{strings.loadBalancer({ code: (text) => <code>{text}</code> })}</p>
      <CopyField value={`curl -i ${origin}/readyz`} what={strings.command} />
      <p>{strings.prometheus({ code: (text) => <code>{text}</code> })}</p>
      <CopyField
        value={scrape}
        what={strings.configuration}
        shown={<Text style={{ whiteSpace: 'pre' }}>{scrape}</Text>}
      />
      <p>{strings.traces({ code: (text) => <code>{text}</code> })}</p>
    </Panel>
  )
}
