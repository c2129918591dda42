import { Button } from '@mantine/core'
import {
  approveQuarantines,
  clearQuarantines,
  dismissQuarantines,
  nacSystemNames,
  type Quarantine,
} from '@portcullis/contract'
import { agentAddress } from '../../../lib/addresses.ts'
import { useServices } from '../../../lib/services.tsx'
import { confirm } from '../../../ui/confirm.ts'
import { DeviceText } from '../../../ui/DeviceText.tsx'
import { Facts } from '../../../ui/Facts.tsx'
import { Icon } from '../../../ui/icons.tsx'
import { PlainLink } from '../../../ui/PlainLink.tsx'
import { SeverityTag } from '../../../ui/SeverityTag.tsx'
import { StepList } from '../../../ui/steps/StepList.tsx'
import { Time } from '../../../ui/Time.tsx'
import { tell } from '../../../ui/tell.ts'
import classes from './quarantines.module.css'
import { decisionsOf, stateWords, stepWords } from './words.ts'

const decisions = {
  approve: {
    operation: approveQuarantines,
    title: 'Quarantine a host',
    action: 'Quarantine',
    button: 'Approve…',
    done: 'Approved; it is asked for now.',
    consequence: (system: string) => `${system} takes it off the network. It can be taken back at any time.`,
  },
  dismiss: {
    operation: dismissQuarantines,
    title: 'Dismiss a quarantine',
    action: 'Dismiss',
    button: 'Dismiss…',
    done: 'Dismissed.',
    consequence: () => 'it stays on the network. The device causes another one only when it is attached again.',
  },
  clear: {
    operation: clearQuarantines,
    title: 'Take a quarantine back',
    action: 'Take back',
    button: 'Take back…',
    done: 'It is being taken back.',
    consequence: (system: string) => `${system} lets it onto the network again.`,
  },
} as const

/** What it is about, and all that happened, oldest first. */
const Story = ({ quarantine }: { quarantine: Quarantine }) => (
  <div className={classes.story}>
    <Facts
      rows={[
        ['Why', <DeviceText key="why" value={quarantine.reason} />],
        [
          'Asked by',
          quarantine.isAutomatic ? 'the product, for an attack tool' : <DeviceText key="by" value={quarantine.by} />,
        ],
        [
          'Host',
          <PlainLink key="host" href={agentAddress(quarantine.uuid)}>
            its page
          </PlainLink>,
        ],
        ['Addresses', <DeviceText key="macs" value={quarantine.macs.join(', ')} />],
        ['By', <DeviceText key="policy" value={quarantine.policy} />],
        [
          'Ends',
          quarantine.expiresAt === null ? (
            'not by itself'
          ) : (
            <Time key="ends" value={quarantine.expiresAt} form="local" />
          ),
        ],
      ]}
    />
    <StepList
      steps={quarantine.timeline.map(({ at, step, ok, by, message }, index) => ({
        key: `${index}`,
        words: `${stepWords[step]}${by === 'system' ? '' : ` by ${by}`}`,
        state: ok ? 'done' : 'failed',
        seen: message,
        aside: <Time value={at} />,
      }))}
    />
  </div>
)

export interface QuarantineLineProps {
  quarantine: Quarantine
  isOpen: boolean
  toggle: () => void
  onDecided: () => void
}

/** One quarantine: the host, how it stands, what a person can decide, and its story. */
export const QuarantineLine = ({ quarantine, isOpen, toggle, onDecided }: QuarantineLineProps) => {
  const { api, session } = useServices()
  const { word, severity } = stateWords[quarantine.state]
  const decide = (kind: keyof typeof decisions) => {
    const { operation, title, action, done, consequence } = decisions[kind]
    confirm({
      title,
      names: [quarantine.hostIdentifier],
      kind: ['host', 'hosts'],
      consequence: consequence(nacSystemNames[quarantine.system]),
      action,
      run: async () => {
        const { accepted } = await api.call(operation, { body: { ids: [quarantine.id] } })
        tell(accepted.length === 0 ? 'Somebody has decided already.' : done)
        onDecided()
      },
    })
  }
  return (
    <li>
      <div className={classes.line}>
        <button type="button" className={classes.open} aria-expanded={isOpen} onClick={toggle}>
          <Icon name={isOpen ? 'down' : 'right'} size={12} />
          <span className={classes.clip}>
            <DeviceText value={quarantine.hostIdentifier} />
          </span>
        </button>
        <span>
          <SeverityTag severity={severity} word={word} />
        </span>
        <span className={classes.quiet}>
          <Time value={quarantine.createdAt} />
        </span>
        <span className={classes.actions}>
          {session.may('fleet:write')
            ? decisionsOf(quarantine.state).map((kind) => (
                <Button key={kind} size="compact-xs" variant="default" onClick={() => decide(kind)}>
                  {decisions[kind].button}
                </Button>
              ))
            : null}
        </span>
      </div>
      {quarantine.error === '' ? null : (
        <p className={classes.error} role="note">
          <DeviceText value={quarantine.error} />
        </p>
      )}
      {isOpen ? <Story quarantine={quarantine} /> : null}
    </li>
  )
}
