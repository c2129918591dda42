import { ActionIcon, Button, NativeSelect, NumberInput, TagsInput, TextInput } from '@mantine/core'
import { getHashtags } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'
import { Icon } from '../../ui/icons.tsx'
import type { RingDraft } from './rollout.ts'
import classes from './rollouts.module.css'

const mostRings = 20

export interface RingEditorProps {
  rings: readonly RingDraft[]
  change: (rings: readonly RingDraft[]) => void
}

/** The rings in their order: by tag, by share, or whoever is left. */
export const RingEditor = ({ rings, change }: RingEditorProps) => {
  const { api } = useServices()
  const known = useQuery({ queryKey: ['tags'], queryFn: ({ signal }) => api.call(getHashtags, { signal }) })
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
      <ol className={classes.rings}>
        {rings.map((ring, index) => (
          <li key={ring.key} className={classes.ring}>
            <span className={classes.number}>{index + 1}</span>
            <TextInput
              size="xs"
              aria-label={`Name of ring ${index + 1}`}
              value={ring.name}
              maxLength={64}
              onChange={(event) => set(ring.key, { name: event.currentTarget.value })}
            />
            <NativeSelect
              size="xs"
              aria-label={`Hosts of ring ${index + 1}`}
              value={ring.by}
              data={[
                { value: 'tags', label: 'hosts with a tag' },
                { value: 'share', label: 'a share of the others' },
                { value: 'rest', label: 'all others' },
              ]}
              onChange={(event) => set(ring.key, { by: event.currentTarget.value as RingDraft['by'] })}
            />
            <span className={classes.which}>
              {ring.by === 'tags' ? (
                <TagsInput
                  size="xs"
                  aria-label={`Tags of ring ${index + 1}`}
                  placeholder="Any of these tags"
                  data={(known.data ?? []).map(({ name }) => name)}
                  value={[...ring.tags]}
                  onChange={(tags) => set(ring.key, { tags })}
                  maxTags={50}
                />
              ) : ring.by === 'share' ? (
                <NumberInput
                  size="xs"
                  aria-label={`Share of ring ${index + 1} in percent`}
                  min={1}
                  max={99}
                  clampBehavior="strict"
                  suffix=" %"
                  value={ring.share}
                  onChange={(share) => set(ring.key, { share: Number(share) || 1 })}
                />
              ) : null}
            </span>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Ring ${index + 1} earlier`}
              disabled={index === 0}
              onClick={() => move(index, -1)}
            >
              <Icon name="up" size={14} />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Ring ${index + 1} later`}
              disabled={index === rings.length - 1}
              onClick={() => move(index, 1)}
            >
              <Icon name="down" size={14} />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove ring ${index + 1}`}
              onClick={() => change(rings.filter(({ key }) => key !== ring.key))}
            >
              <Icon name="close" size={14} />
            </ActionIcon>
          </li>
        ))}
      </ol>
      <Button
        size="compact-sm"
        variant="subtle"
        className={classes.add}
        leftSection={<Icon name="plus" size={14} />}
        disabled={rings.length >= mostRings}
        onClick={() =>
          change([
            { key: Math.max(0, ...rings.map(({ key }) => key)) + 1, name: 'Canaries', by: 'tags', tags: [], share: 10 },
            ...rings,
          ])
        }
      >
        Add a ring
      </Button>
    </>
  )
}
