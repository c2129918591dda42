import type { AgentDetail } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { Icon } from '../../ui/icons.tsx'
import { PlainLink } from '../../ui/PlainLink.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import classes from './AgentDetail.module.css'
import { strings } from './strings.ts'

const levelWords = { grant: 'grant', host: 'for this host', tag: 'by a tag', global: 'for all hosts' } as const

/** What is in force on a host, and from where: mode, version, grade, and its rules in the order in which they decide. */
export const AgentPolicy = ({ agent }: { agent: AgentDetail }) => {
  const { policy, uuid, hostIdentifier } = agent
  const isBehind = policy.mode === 'Armed' && policy.heldVersion !== policy.version
  return (
    <div className={classes.facts}>
      <p>{policy.summary}</p>
      {policy.reason === '' ? null : (
        <p>
          <SeverityTag severity="amber" word={strings.wentBackToFreeByItself} /> {policy.reason}
        </p>
      )}
      <p className={classes.quiet}>
        {policy.heldVersion === 0
          ? strings.itHoldsNoPolicyYet
          : strings.itHoldsVersionHeldversionOfThe({
              heldVersion: policy.heldVersion,
              value: isBehind ? strings.versionVersionIsOnItsWay({ version: policy.version }) : '',
            })}
      </p>
      <h3>{strings.rulesThatSpeakToThisHost}</h3>
      {policy.rules.length === 0 ? (
        <p className={classes.quiet}>
          {strings.noneValue({
            value:
              policy.mode === 'Armed' ? strings.whateverIsAttachedAnewIsBlocked : strings.armedItWouldBlockWhateverIs,
          })}
        </p>
      ) : (
        <ol className={classes.rules}>
          {policy.rules.map((rule) => (
            <li key={rule.id} data-effect={rule.effect}>
              <Icon name={rule.effect === 'deny' ? 'close' : 'check'} size={14} />
              <PlainLink href={`/policy?open=${encodeURIComponent(rule.id)}`}>
                <DeviceText value={rule.sentence} />
              </PlainLink>
              <span className={classes.quiet}>{rule.effect === 'deny' ? 'deny' : levelWords[rule.level]}</span>
            </li>
          ))}
        </ol>
      )}
      <p>
        <Link to="/policy" search={{ open: 'new', onHost: uuid }}>
          {strings.writeARuleForDevicetext({ deviceText: <DeviceText value={hostIdentifier} /> })}
        </Link>
        {' · '}
        <Link to="/policy/simulator" search={{ hostUuid: uuid }}>
          {strings.whatArmingWouldHaveBlockedHere}
        </Link>
      </p>
    </div>
  )
}
