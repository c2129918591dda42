import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import classes from './HealthPage.module.css'
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
    <section className={classes.card} aria-label={strings.monitoring}>
      <h2>{strings.monitoring}</h2>
      <p>{strings.loadBalancer({ code: (text) => <code>{text}</code> })}</p>
      <CopyField value={`curl -i ${origin}/readyz`} what={strings.command} />
      <p>{strings.prometheus({ code: (text) => <code>{text}</code> })}</p>
      <CopyField value={scrape} what={strings.configuration} shown={<span className={classes.lines}>{scrape}</span>} />
      <p>{strings.traces({ code: (text) => <code>{text}</code> })}</p>
    </section>
  )
}
