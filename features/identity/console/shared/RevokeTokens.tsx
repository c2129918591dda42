import { Checkbox } from '@mantine/core'
import { strings } from '@portcullis/platform/console/ui/form/strings.ts'

export interface RevokeTokensProps {
  /** Number of API tokens of the account. Null: not known to this user. */
  count: number | null
  checked: boolean
  onChange(checked: boolean): void
}

/** Offers to revoke the API tokens of an account together with its old password. */
export const RevokeTokens = ({ count, checked, onChange }: RevokeTokensProps) =>
  count === 0 ? null : (
    <Checkbox
      label={count === null ? strings.revokeAllTokens : strings.revokeTokens({ count })}
      description={strings.revokeTokensText}
      checked={checked}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  )
