import type { KnowledgeEffect as Effect } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { findingOf } from '../../ui/findings.ts'
import { Icon, kindIcon } from '../../ui/icons.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import classes from './KnowledgePage.module.css'

type Verdict = Effect['data'][number]['before']

const VerdictWords = ({ verdict }: { verdict: Verdict }) => {
  const finding = findingOf(verdict.severity)
  return (
    <span>
      {finding === null ? 'nothing to see' : <SeverityTag severity={finding.severity} word={finding.word} />}
      {verdict.findings === '' ? null : (
        <span className={classes.findings}>
          <DeviceText value={verdict.findings} />
        </span>
      )}
    </span>
  )
}

const number = (value: number) => value.toLocaleString('en')

/** Whose verdict a candidate would change: in a sentence, then the devices, the severest first. */
export const KnowledgeEffect = ({ effect }: { effect: Effect | undefined }) => (
  <>
    <p>
      {effect === undefined
        ? 'Asking what it would change…'
        : effect.designs === 0
          ? `It changes no verdict in this fleet${effect.renamed > 0 ? `; ${number(effect.renamed)} models get another name` : ''}.`
          : `It changes the verdict of ${number(effect.devices)} attached devices on ${number(effect.hosts)} hosts: ${number(effect.worse)} kinds of devices get worse, ${number(effect.better)} better; ${number(effect.renamed)} models get another name.`}
    </p>
    {effect !== undefined && effect.data.length === 0 ? null : (
      <SmallTable
        label="Changed verdicts"
        head={['Device', 'Now', 'Then', { title: 'Hosts', align: 'right' }, { title: 'Devices', align: 'right' }]}
        rows={effect?.data.map((row) => ({
          key: row.fingerprint,
          cells: [
            <span key="device" className={classes.device}>
              <Icon name={kindIcon(row.devIcon)} />
              <span>
                <DeviceText value={row.guiPid} absent="Not named" />{' '}
                <span className={classes.quiet}>
                  <DeviceText value={row.guiVid} absent="" />{' '}
                  <code>
                    {row.vid}:{row.pid}
                  </code>
                </span>
              </span>
            </span>,
            <VerdictWords key="before" verdict={row.before} />,
            <VerdictWords key="after" verdict={row.after} />,
            <Link key="hosts" to="/peripherals" search={{ vid: row.vid, pid: row.pid, present: 'true' }}>
              {number(row.agentsCount)}
            </Link>,
            number(row.peripheralsCount),
          ],
        }))}
        empty=""
      />
    )}
  </>
)
