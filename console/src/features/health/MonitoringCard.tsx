import { CopyField } from '../../ui/CopyField.tsx'
import classes from './HealthPage.module.css'

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
    <section className={classes.card} aria-label="Monitoring">
      <h2>Monitoring</h2>
      <p>
        A load balancer asks <code>/readyz</code>: 200 while the server can serve, 503 within three seconds of losing
        its database. <code>/healthz</code> only says that the process is alive. Neither asks for a token.
      </p>
      <CopyField value={`curl -i ${origin}/readyz`} what="The command" />
      <p>
        Prometheus reads <code>/metrics</code>, on the same machine without a token, else with an API token. Alert on{' '}
        <code>portcullis_subsystem_status &gt;= 2</code>. A dashboard for Grafana is{' '}
        <code>ops/grafana/portcullis.json</code> of the server's folder.
      </p>
      <CopyField value={scrape} what="The configuration" shown={<span className={classes.lines}>{scrape}</span>} />
      <p>
        Traces go to a collector by OTLP when the server is started with <code>OTEL_EXPORTER_OTLP_ENDPOINT</code>. The
        guide <code>docs/guide/health.md</code> has all of it.
      </p>
    </section>
  )
}
