import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { Quiet, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Link } from '@tanstack/react-router'
import type { KnowledgeEffect as Effect } from '#features/contract.ts'
import { findingOf } from '#features/devices/console/shared/findings.ts'
import { strings } from './strings.ts'

type Verdict = Effect['data'][number]['before']

const VerdictCell = ({ verdict }: { verdict: Verdict }) => {
  const finding = findingOf(verdict.severity)
  return (
    <span>
      {finding === null ? strings.noFinding : <SeverityTag severity={finding.severity} word={finding.word} />}
      {verdict.findings === '' ? null : (
        <Quiet block>
          <DeviceText value={verdict.findings} />
        </Quiet>
      )}
    </span>
  )
}

const number = (value: number) => value.toLocaleString('en')

/** Describes which verdicts an update would change, and lists the devices, most severe first. */
export const KnowledgeEffect = ({ effect }: { effect: Effect | undefined }) => (
  <>
    <p>
      {effect === undefined
        ? strings.calculating
        : effect.designs === 0
          ? effect.renamed > 0
            ? strings.noEffectRenamed({ renamed: effect.renamed })
            : strings.noEffect
          : strings.effect({
              devices: effect.devices,
              hosts: effect.hosts,
              worse: effect.worse,
              better: effect.better,
              renamed: effect.renamed,
            })}
    </p>
    {effect !== undefined && effect.data.length === 0 ? null : (
      <SmallTable
        label={strings.changedVerdicts}
        head={[strings.device, strings.before, strings.after, right(strings.hosts), right(strings.devices)]}
        rows={effect?.data.map((row) => ({
          key: row.fingerprint,
          cells: [
            <Row key="device" as="span" align="start">
              <Icon name={kindIcon(row.devIcon)} />
              <span>
                <DeviceText value={row.guiPid} absent={strings.unnamed} />{' '}
                <Quiet>
                  <DeviceText value={row.guiVid} absent="" />{' '}
                  <code>
                    {row.vid}:{row.pid}
                  </code>
                </Quiet>
              </span>
            </Row>,
            <VerdictCell key="before" verdict={row.before} />,
            <VerdictCell key="after" verdict={row.after} />,
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
