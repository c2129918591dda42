import type { Peripheral } from '@portcullis/contract'
import { DeviceText } from '../DeviceText.tsx'
import { SeverityTag } from '../SeverityTag.tsx'
import classes from './Device.module.css'

const confidenceWords = {
  firmware: 'matches the firmware revision',
  model: 'matches the model',
  family: 'matches the product family',
} as const

const isAddress = (source: string) => /^https:\/\/[^\s]+$/.test(source)

/** Why a device is marked as it is, and what the policy says of it: words first, the bytes behind. */
export const Why = ({ device }: { device: Peripheral }) => (
  <div className={classes.why}>
    {device.attackTool === '' ? null : (
      <section>
        <h3>
          <SeverityTag
            severity={device.attackTool === 'confirmed' ? 'violet' : 'red'}
            word={`${device.attackTool} attack tool`}
          />
        </h3>
        <ul>
          {device.evidence.map((line) => (
            <li key={line}>
              <DeviceText value={line} />
            </li>
          ))}
        </ul>
        <p className={classes.quiet}>
          {device.attackTool === 'confirmed'
            ? 'Confirmed means that its behaviour gave it away, not only its ids.'
            : 'Suspected means that its ids are on the list of attack tools; what it does would confirm it.'}
        </p>
      </section>
    )}
    {device.vulnerabilities.length === 0 ? null : (
      <section>
        <h3>
          <SeverityTag severity="amber" word="vulnerable" />
        </h3>
        <ul>
          {device.vulnerabilities.map((finding) => (
            <li key={`${finding.id}${finding.weakness}`}>
              <strong>{finding.id}</strong>
              {finding.cvss === null ? '' : ` (CVSS ${finding.cvss.toFixed(1)})`}: {finding.weakness}
              <br />
              <span className={classes.quiet}>
                {confidenceWords[finding.confidence]}
                {finding.firmwareCondition === '' ? '' : `; affected: ${finding.firmwareCondition}`}
                {' · '}
                {isAddress(finding.source) ? (
                  <a href={finding.source} target="_blank" rel="noreferrer noopener">
                    source
                  </a>
                ) : (
                  finding.source
                )}
              </span>
            </li>
          ))}
        </ul>
      </section>
    )}
    <section>
      <h3>{device.decision === 'block' ? 'Blocked' : 'Allowed'}</h3>
      <p>
        {device.decisionReason}
        {device.rule === '' ? '' : <span className={classes.quiet}> ({device.rule})</span>}
      </p>
    </section>
  </div>
)
