import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { listRuleGroups } from '#features/contract.ts'
import { strings } from './strings.ts'

/** A field for the rule group: an existing one, or the name of a new one. */
export const GroupField = ({
  size = 'xs',
  ...rest
}: Pick<AutocompleteProps, 'size' | 'value' | 'onChange' | 'error'>) => {
  const groups = useRead(['rule-groups'], listRuleGroups)
  const names = (groups.data?.data ?? []).map(({ name }) => name)
  const isGiven = (name: string) => name.toLowerCase() === rest.value?.trim().toLowerCase()
  const isNew = !names.some(isGiven)
  return (
    <Autocomplete
      {...rest}
      size={size}
      label={strings.optionalGroup}
      description={rest.value?.trim() === '' ? strings.groupHint : isNew ? strings.newGroup : undefined}
      maxLength={60}
      limit={50}
      // The suggestion of the full name would only cover the buttons.
      data={names.filter((name) => !isGiven(name))}
    />
  )
}
