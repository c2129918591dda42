import { Switch, Textarea } from '@mantine/core'
import { Panel } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { groupLimits } from '#features/contract.ts'
import { ChannelTest } from './ChannelTest.tsx'
import { recipientsOf } from './draft.ts'
import { NoMailServer } from './NoMailServer.tsx'
import type { SectionProps } from './section.ts'
import { strings } from './strings.ts'
import { useHasMail } from './useGroups.ts'

export const MailFields = ({ entry, canWrite }: SectionProps) => {
  const { draft, enter, errorOf } = entry
  const hasMail = useHasMail()
  const count = recipientsOf(draft.email.recipients).length
  const name = 'channels.email.recipients'
  return (
    <Panel aria-label={strings.email}>
      <Switch
        name="channels.email.isEnabled"
        label={<strong>{strings.email}</strong>}
        error={errorOf('channels.email.isEnabled')}
        checked={draft.email.isEnabled}
        onChange={(event) =>
          enter({ email: { ...draft.email, isEnabled: event.currentTarget.checked } }, 'channels.email.isEnabled', name)
        }
      />
      {hasMail === false ? <NoMailServer /> : null}
      <Textarea
        name={name}
        label={strings.recipients}
        description={strings.recipientsHelp({ count, max: groupLimits.recipients })}
        error={errorOf(name)}
        rows={Math.min(10, Math.max(3, count + 1))}
        maxLength={20_000}
        resize="vertical"
        spellCheck={false}
        autoComplete="off"
        placeholder="soc@example.org"
        value={draft.email.recipients}
        onChange={(event) => enter({ email: { ...draft.email, recipients: event.currentTarget.value } }, name)}
      />
      {canWrite ? <ChannelTest channel="email" entry={entry} /> : null}
    </Panel>
  )
}
