import { Modal, TextInput } from '@mantine/core'
import { deleteHashtags, type Tag } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { AskFoot } from '../../ui/form/AskFoot.tsx'
import { useChange } from '../../ui/form/useChange.ts'
import { openedHosts } from '../../ui/policy/labels.ts'
import { asReason, lacksReason, NewlyAllowed } from '../../ui/policy/NewlyAllowed.tsx'
import { opensByTags } from '../../ui/policy/opens-by-tags.ts'
import { tell } from '../../ui/tell.ts'
import { strings } from './strings.ts'
import classes from './TagsPage.module.css'
import { type TagUses, useTagUses } from './useTagUses.ts'

// Above this many things a click is too easy: the number is typed.
const typedAbove = 1_000
const shown = 5

const counted = (count: number, one: string, many: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

const Names = ({ names, total }: { names: readonly string[]; total: number }) => (
  <ul>
    {names.slice(0, shown).map((name, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: two rules may read the same, and none moves
      <li key={index}>
        <DeviceText value={name} />
      </li>
    ))}
    {total > shown ? <li>{strings.andTotalMore({ total: total - shown })}</li> : null}
  </ul>
)

const Uses = ({ uses }: { uses: TagUses }) => {
  if (uses.rulesTotal === 0 && uses.rollouts.length === 0 && uses.exclusions.length === 0)
    return <p>{strings.noRuleNoRunningRolloutAnd}</p>
  return (
    <>
      {uses.rulesTotal === 0 ? null : (
        <div>
          <strong>
            {strings.rulestotalWouldApplyToNothingAny({ rulesTotal: counted(uses.rulesTotal, 'rule', 'rules') })}
          </strong>
          <Names names={uses.rules} total={uses.rulesTotal} />
        </div>
      )}
      {uses.rollouts.length === 0 ? null : (
        <div>
          <strong>
            {strings.rolloutsARingOfIt({ rollouts: counted(uses.rollouts.length, 'rollout has', 'rollouts have') })}
          </strong>
          <Names names={uses.rollouts} total={uses.rollouts.length} />
        </div>
      )}
      {uses.exclusions.length === 0 ? null : (
        <p>
          {strings.strongMayQuarantineItsHostsWithout({ strong: <strong>{uses.exclusions.join(' and ')}</strong> })}
        </p>
      )}
    </>
  )
}

const Body = ({ tag, close }: { tag: Tag; close: () => void }) => {
  const { api, queries } = useServices()
  const [typed, setTyped] = useState('')
  const { busy, failure, isStored, run } = useChange()
  const uses = useTagUses(tag)
  const carriers = tag.agentsCount + tag.peripheralsCount
  const mustType = carriers > typedAbove
  const [reason, setReason] = useState('')
  const opened = useQuery({
    queryKey: ['tags', 'newly-allowed', tag.name],
    queryFn: ({ signal }) => opensByTags(api, [{ effect: 'remove', hashtags: [tag.name], uuids: null }], signal),
    gcTime: 0,
    retry: false,
  })
  const remove = () =>
    run(async () => {
      await api.call(deleteHashtags, { body: { hashtags: [tag.name], ...asReason(reason) } })
      close()
      tell(strings.tagDeleted)
      void queries.invalidateQueries({ queryKey: ['tags'] })
    })
  return (
    <form
      className={classes.dialog}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isStored) void remove()
      }}
    >
      <p>
        <strong>
          <DeviceText value={tag.name} />
        </strong>{' '}
        {carriers === 0
          ? strings.isCarriedByNothing
          : strings.goesFromAgentscountAndPeripheralscountThis({
              agentsCount: counted(tag.agentsCount, 'host', 'hosts'),
              peripheralsCount: counted(tag.peripheralsCount, 'device', 'devices'),
            })}
      </p>
      {uses.error !== null ? (
        <ErrorState failure={uses.error} retry={() => void uses.refetch()} inline />
      ) : uses.data === undefined ? (
        <p aria-live="polite">{strings.lookingForWhatUsesIt}</p>
      ) : (
        <Uses uses={uses.data} />
      )}
      {opened.error === null ? null : <ErrorState failure={opened.error} retry={() => void opened.refetch()} inline />}
      {isStored ? null : <NewlyAllowed opens={opened.data ?? null} reason={reason} setReason={setReason} />}
      {mustType && !isStored ? (
        <TextInput
          label={strings.typeCarriersToGoOn({ carriers })}
          value={typed}
          inputMode="numeric"
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      ) : null}
      {failure === null ? null : <ErrorState failure={failure} inline />}
      <AskFoot
        action="Delete"
        isDangerous
        busy={busy}
        isReady={
          uses.data !== undefined &&
          opened.data !== undefined &&
          !lacksReason(openedHosts(opened.data), reason) &&
          (!mustType || typed === String(carriers))
        }
        isStored={isStored}
        close={close}
      />
    </form>
  )
}

/** Asks before a tag is deleted, saying what uses it. */
export const DeleteTag = ({ tag, close }: { tag: Tag | null; close: () => void }) => (
  <Modal opened={tag !== null} onClose={close} title={strings.deleteATag}>
    {tag === null ? null : <Body tag={tag} close={close} />}
  </Modal>
)
