import { ActionIcon, Button, NativeSelect, NumberInput, TagsInput, TextInput } from '@mantine/core'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Quiet, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { getHashtags } from '#features/contract.ts'
import type { RingDraft } from './rollout.ts'
import classes from './rollouts.module.css'
import { strings } from './strings.ts'

const mostRings = 20

export interface RingEditorProps {
  rings: readonly RingDraft[]
  change: (rings: readonly RingDraft[]) => void
}

interface WhichProps {
  ring: RingDraft
  number: number
  set: (part: Partial<RingDraft>) => void
}

/** Chooses the hosts of a ring: by tag or share. */
const Which = ({ ring, number, set }: WhichProps) => {
  const known = useRead(['tags'], getHashtags)
  if (ring.by === 'tags')
    return (
      <TagsInput
        size="xs"
        aria-label={strings.ringTags({ number })}
        placeholder={strings.tagsPlaceholder}
        data={(known.data ?? []).map(({ name }) => name)}
        value={[...ring.tags]}
        onChange={(tags) => set({ tags })}
        maxTags={50}
      />
    )
  if (ring.by === 'share')
    return (
      <NumberInput
        size="xs"
        aria-label={strings.ringShare({ number })}
        min={1}
        max={99}
        clampBehavior="strict"
        suffix=" %"
        value={ring.share}
        onChange={(share) => set({ share: Number(share) || 1 })}
      />
    )
  return null
}

interface RingProps {
  ring: RingDraft
  index: number
  isLast: boolean
  set: (part: Partial<RingDraft>) => void
  move: (by: number) => void
  remove: () => void
}

const Ring = ({ ring, index, isLast, set, move, remove }: RingProps) => (
  <li className={classes.ring}>
    <Quiet num style={{ textAlign: 'right' }}>
      {index + 1}
    </Quiet>
    <TextInput
      size="xs"
      aria-label={strings.ringName({ number: index + 1 })}
      value={ring.name}
      maxLength={64}
      onChange={(event) => set({ name: event.currentTarget.value })}
    />
    <NativeSelect
      size="xs"
      aria-label={strings.ringHosts({ number: index + 1 })}
      value={ring.by}
      data={[
        { value: 'tags', label: strings.hostsWithATag },
        { value: 'share', label: strings.byShare },
        { value: 'rest', label: strings.byRest },
      ]}
      onChange={(event) => set({ by: event.currentTarget.value as RingDraft['by'] })}
    />
    <Text>
      <Which ring={ring} number={index + 1} set={set} />
    </Text>
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={strings.moveUp({ number: index + 1 })}
      disabled={index === 0}
      onClick={() => move(-1)}
    >
      <Icon name="up" size={14} />
    </ActionIcon>
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={strings.moveDown({ number: index + 1 })}
      disabled={isLast}
      onClick={() => move(1)}
    >
      <Icon name="down" size={14} />
    </ActionIcon>
    <ActionIcon variant="subtle" color="gray" aria-label={strings.removeRing({ number: index + 1 })} onClick={remove}>
      <Icon name="close" size={14} />
    </ActionIcon>
  </li>
)

/** Edits the rings: by tag, by share, or all remaining hosts. */
export const RingEditor = ({ rings, change }: RingEditorProps) => {
  const set = (key: number, part: Partial<RingDraft>) =>
    change(rings.map((ring) => (ring.key === key ? { ...ring, ...part } : ring)))
  const move = (index: number, by: number) => {
    const next = [...rings]
    const [ring] = next.splice(index, 1)
    if (ring !== undefined) next.splice(index + by, 0, ring)
    change(next)
  }
  return (
    <>
      <Stack as="ol" gap={8}>
        {rings.map((ring, index) => (
          <Ring
            key={ring.key}
            ring={ring}
            index={index}
            isLast={index === rings.length - 1}
            set={(part) => set(ring.key, part)}
            move={(by) => move(index, by)}
            remove={() => change(rings.filter(({ key }) => key !== ring.key))}
          />
        ))}
      </Stack>
      <Button
        size="compact-sm"
        variant="subtle"
        style={{ alignSelf: 'flex-start' }}
        leftSection={<Icon name="plus" size={14} />}
        disabled={rings.length >= mostRings}
        onClick={() =>
          change([
            {
              key: Math.max(0, ...rings.map(({ key }) => key)) + 1,
              name: strings.canaries,
              by: 'tags',
              tags: [],
              share: 10,
            },
            ...rings,
          ])
        }
      >
        {strings.addRing}
      </Button>
    </>
  )
}
