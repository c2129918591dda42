import type { Vulnerability } from '@portcullis/contract'
import text from '../text.module.css'
import { strings } from './strings.ts'

const confidenceWords = {
  firmware: 'matches the firmware revision',
  model: 'matches the model',
  family: 'matches the product family',
} as const

const isAddress = (source: string) => /^https:\/\/[^\s]+$/.test(source)

/** Published weaknesses with what the match rests on, and where that is written. */
export const Advisories = ({ findings }: { findings: readonly Vulnerability[] }) => (
  <ul>
    {findings.map((finding) => (
      <li key={`${finding.id}${finding.weakness}${finding.confidence}${finding.firmwareCondition}`}>
        <strong>{finding.id}</strong>
        {finding.cvss === null ? '' : ` (CVSS ${finding.cvss.toFixed(1)})`}: {finding.weakness}
        <br />
        <span className={text.muted}>
          {confidenceWords[finding.confidence]}
          {finding.firmwareCondition === ''
            ? ''
            : strings.affectedFirmwarecondition({ firmwareCondition: finding.firmwareCondition })}
          {' · '}
          {isAddress(finding.source) ? (
            <a href={finding.source} target="_blank" rel="noreferrer noopener">
              {strings.source}
            </a>
          ) : (
            finding.source
          )}
        </span>
      </li>
    ))}
  </ul>
)
