import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { Quiet } from '@portcullis/platform/console/ui/layout/layout.tsx'
import type { Vulnerability } from '#features/contract.ts'
import { strings } from './strings.ts'

const confidenceLabels = messages({
  firmware: 'Matches the firmware revision',
  model: 'Matches the model',
  family: 'Matches the product family',
})

const isAddress = (source: string) => /^https:\/\/[^\s]+$/.test(source)

/** The id of an advisory, with a link to its record if it is a CVE. */
const Advisory = ({ finding: { id } }: { finding: Vulnerability }) =>
  /^CVE-\d{4}-\d{4,}$/.test(id) ? (
    <a href={`https://www.cve.org/CVERecord?id=${id}`} target="_blank" rel="noreferrer noopener">
      {id}
    </a>
  ) : (
    id
  )

/** Lists published vulnerabilities with the reason for the match and a link to the source. */
export const Advisories = ({ findings }: { findings: readonly Vulnerability[] }) => (
  <ul>
    {findings.map((finding) => (
      <li key={`${finding.id}${finding.weakness}${finding.confidence}${finding.firmwareCondition}`}>
        <strong>
          <Advisory finding={finding} />
        </strong>
        {finding.cvss === null ? '' : ` (CVSS ${finding.cvss.toFixed(1)})`}: {finding.weakness}
        <br />
        <Quiet>
          {confidenceLabels[finding.confidence]}
          {finding.firmwareCondition === '' ? '' : `; ${strings.affected({ firmware: finding.firmwareCondition })}`}
          {' · '}
          {isAddress(finding.source) ? (
            <a href={finding.source} target="_blank" rel="noreferrer noopener">
              {strings.source}
            </a>
          ) : (
            finding.source
          )}
        </Quiet>
      </li>
    ))}
  </ul>
)
