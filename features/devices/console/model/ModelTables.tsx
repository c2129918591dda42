import { translated } from '@portcullis/platform/console/lib/messages.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Note, Quiet, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { Link } from '@tanstack/react-router'
import { findingVerdictLabels, type getModelPassport, type ResponseOf } from '#features/contract.ts'
import { findingOf } from '../shared/findings.ts'
import { strings } from '../strings.ts'

export interface ModelProps {
  passport: ResponseOf<typeof getModelPassport>
}

const number = (value: number): string => value.toLocaleString('en')
const verdicts = { allow: strings.allowed, block: strings.notAllowedByPolicy }

/** Which rules decide about the attached devices of a model. */
export const ModelDecisions = ({ passport: { decisions } }: ModelProps) => (
  <Stack as="section" gap={6}>
    <h3>{strings.decisions}</h3>
    <SmallTable
      label={strings.decisions}
      head={[strings.reason, strings.decision, right(strings.hosts), right(strings.devices)]}
      rows={decisions.map(({ decision, reason, ruleID, hosts, devices }) => ({
        key: `${ruleID} ${reason}`,
        cells: [
          ruleID === null ? (
            <DeviceText key="reason" value={reason} />
          ) : (
            <Link key="reason" to="/policy" search={{ open: ruleID }}>
              <DeviceText value={reason} />
            </Link>
          ),
          verdicts[decision],
          number(hosts),
          number(devices),
        ],
      }))}
      empty={strings.noneAttached}
    />
  </Stack>
)

/** Findings about the model on all hosts, by verdict, each with its rows. */
export const ModelFindings = ({ passport: { findings, model } }: ModelProps) => {
  const { vid, pid } = model
  return (
    <Stack as="section" gap={6} small>
      <h3>{strings.findings}</h3>
      {findings.length === 0 ? (
        <Note>{strings.noModelFindings}</Note>
      ) : (
        <Facts
          rows={findings.map(({ verdict, count }) => [
            verdict === null ? strings.openFindings : translated(findingVerdictLabels[verdict]),
            <Link
              key="count"
              to="/findings"
              search={verdict === null ? { vid, pid, state: 'Open' } : { vid, pid, verdict }}
            >
              {strings.findingCount({ count })}
            </Link>,
          ])}
        />
      )}
    </Stack>
  )
}

/** How far the serial numbers of a model identify its devices. */
export const ModelSerials = ({ passport: { serials } }: ModelProps) => {
  const isWeak = serials.none + serials.placeholder + serials.shared > 0
  return (
    <Stack as="section" gap={6} small>
      <h3>{strings.serialNumbers}</h3>
      <Facts
        rows={[
          [strings.serialUnique, strings.deviceCount({ count: serials.unique })],
          [strings.serialShared, strings.deviceCount({ count: serials.shared })],
          [strings.serialPlaceholder, strings.deviceCount({ count: serials.placeholder })],
          [strings.serialNone, strings.deviceCount({ count: serials.none })],
        ]}
      />
      {isWeak || serials.unique > 0 ? <Note>{isWeak ? strings.serialsWeak : strings.serialsStrong}</Note> : null}
    </Stack>
  )
}

/** The variants of a model. */
export const ModelFingerprints = ({ passport: { fingerprints } }: ModelProps) => (
  <Stack as="section" gap={6}>
    <h3>{strings.variants}</h3>
    <SmallTable
      label={strings.variants}
      head={[
        strings.product,
        strings.revision,
        strings.interfaces,
        strings.finding,
        right(strings.hosts),
        right(strings.devices),
        strings.firstSeen,
      ]}
      rows={fingerprints.map((one) => {
        const finding = findingOf(one.severity)
        return {
          key: `${one.fingerprint} ${one.revision} ${one.firstSeen}`,
          cells: [
            <DeviceText key="product" value={one.product} absent="–" />,
            <code key="revision">{one.revision}</code>,
            <Quiet key="interfaces" breaks>
              <code>{one.interfaces}</code>
            </Quiet>,
            finding === null ? '–' : <SeverityTag key="finding" severity={finding.severity} word={finding.word} />,
            number(one.hosts),
            number(one.devices),
            <Time key="first" value={one.firstSeen} />,
          ],
        }
      })}
      empty={strings.noneAttached}
    />
  </Stack>
)
