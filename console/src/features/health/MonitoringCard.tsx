import { CopyField } from '../../ui/CopyField.tsx'
import classes from './HealthPage.module.css'
import { strings } from './strings.ts'

/** How load balancers, Prometheus and collectors of traces are connected. */
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
      <p>
        {strings.aLoadBalancerAsksReadyz200({
          code: (text) => <code>{text}</code>,
          code2: (text) => <code>{text}</code>,
        })}
      </p>
      <CopyField value={strings.curlIOriginReadyz({ origin })} what={strings.theCommand} />
      <p>
        {strings.prometheusReadsMetricsOnTheSame({
          code: (text) => <code>{text}</code>,
          code2: (text) => <code>{text}</code>,
          code3: (text) => <code>{text}</code>,
        })}
      </p>
      <CopyField
        value={scrape}
        what={strings.theConfiguration}
        shown={<span className={classes.lines}>{scrape}</span>}
      />
      <p>
        {strings.tracesGoToACollectorBy({ code: (text) => <code>{text}</code>, code2: (text) => <code>{text}</code> })}
      </p>
    </section>
  )
}
