import type { Peripheral } from '@portcullis/contract'
import { DeviceText } from '../DeviceText.tsx'
import { PlainLink } from '../PlainLink.tsx'
import { SeverityTag } from '../SeverityTag.tsx'
import text from '../text.module.css'
import { Advisories } from './Advisories.tsx'
import classes from './Device.module.css'
import { strings } from './strings.ts'
import { decidingRule, verdictOf } from './verdict.ts'

const _confidenceWords = {
  firmware: 'matches the firmware revision',
  model: 'matches the model',
  family: 'matches the product family',
} as const

const _isAddress = (source: string) => /^https:\/\/[^\s]+$/.test(source)

export interface WhyProps {
  device: Peripheral
  /** The host is armed; null where that is not known. */
  armed: boolean | null
}

// What would let a device in, or keep it out, by who decided.
const wouldChange: Readonly<Record<string, string>> = {
  'attack-tool': strings.onlyAnAllowByAnAdministrator,
  default: strings.approvingItARuleOrA,
  hub: strings.hubsAlwaysPassWhatHangsOn,
}

const Decision = ({ device, armed }: WhyProps) => {
  const { severity, word } = verdictOf(device, armed)
  const rule = decidingRule(device)
  const change = rule === null ? wouldChange[device.rule] : undefined
  return (
    <section>
      <h3>
        <SeverityTag severity={severity} word={word} />
      </h3>
      <p>
        <DeviceText value={device.decisionReason} />.{' '}
        {rule === null ? null : (
          <PlainLink href={`/policy?open=${encodeURIComponent(rule)}`}>{strings.theRuleThatDecides}</PlainLink>
        )}
        {change === undefined ? null : <span className={text.muted}>{change}</span>}
      </p>
      <p className={text.muted}>
        {`${device.enforcedVersion === null ? strings.decided : strings.theHostDecided} by version ${device.policyVersion.toLocaleString('en')} of the policy. `}
        {device.caseNumber === ''
          ? null
          : strings.itsUserReadsTheCaseNumber({ code: <code>{device.caseNumber}</code> })}
      </p>
    </section>
  )
}

/** Why a device is marked as it is, and what the policy says of it: words first, the bytes behind. */
export const Why = ({ device, armed }: WhyProps) => (
  <div className={classes.why}>
    {device.attackTool === '' ? null : (
      <section>
        <h3>
          <SeverityTag
            severity={device.attackTool === 'confirmed' ? 'violet' : 'red'}
            word={strings.attacktoolAttackTool({ attackTool: device.attackTool })}
          />
        </h3>
        <ul>
          {device.evidence.map((line) => (
            <li key={line}>
              <DeviceText value={line} />
            </li>
          ))}
        </ul>
        <p className={text.muted}>
          {device.attackTool === 'confirmed'
            ? strings.confirmedMeansThatItsBehaviourGave
            : strings.suspectedMeansThatItsIdsAre}
        </p>
      </section>
    )}
    {device.driverMismatch === '' ? null : (
      <section>
        <h3>
          <SeverityTag severity="red" word={strings.driverMismatch} />
        </h3>
        <p>
          <DeviceText value={device.driverMismatch} />.{' '}
          <span className={text.muted}>{strings.theKernelBoundADriverThat}</span>
        </p>
      </section>
    )}
    {device.vulnerabilities.length === 0 ? null : (
      <section>
        <h3>
          <SeverityTag severity="amber" word="vulnerable" />
        </h3>
        <Advisories findings={device.vulnerabilities} />
      </section>
    )}
    <Decision device={device} armed={armed} />
  </div>
)
