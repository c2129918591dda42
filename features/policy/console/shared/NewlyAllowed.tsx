import { ReasonField } from '@portcullis/platform/console/ui/form/ReasonField.tsx'
import { SeverityLine } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { type Opens, openedHosts, tagsOpenText } from './labels.ts'
import { strings } from './strings.ts'

/** Returns true if a change still needs a reason: it newly allows devices on more than one host. */
export const lacksReason = (hosts: number, reason: string): boolean => hosts > 1 && reason.trim() === ''

/** Returns the reason as a member of a body or query; empty if no reason was given. */
export const asReason = (reason: string): { reason?: string } => (reason.trim() === '' ? {} : { reason: reason.trim() })

export interface NewlyAllowedProps {
  /** Devices that the change newly allows; null while loading. */
  opens: Opens | null
  reason: string
  setReason: (reason: string) => void
}

/** Shows which devices a change of tags newly allows, and asks for a reason if more than one host is affected. */
export const NewlyAllowed = ({ opens, reason, setReason }: NewlyAllowedProps) => {
  const said = opens === null ? null : tagsOpenText(opens)
  if (opens === null || said === null) return null
  return (
    <>
      <SeverityLine severity={said.severity} role="alert" data-testid="newly-allowed">
        <strong>{said.text}</strong>
      </SeverityLine>
      {openedHosts(opens) > 1 ? (
        <ReasonField size="xs" required value={reason} placeholder={strings.whyDevices} onChange={setReason} />
      ) : null}
    </>
  )
}
