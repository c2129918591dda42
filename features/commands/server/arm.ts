import { revertText } from '@portcullis/domain'
import type { CommandSpec } from './commands.service.ts'

/** Returns the order of a command that arms a host. Its title shows when the host becomes Free again. */
export const armOrder = (
  applyToPresent: boolean,
  revertMinutes: number,
): Pick<Extract<CommandSpec, { kind: 'configure' }>, 'kind' | 'title' | 'body'> => ({
  kind: 'configure',
  title: `Arm${revertText(revertMinutes)}`,
  body: { mode: 'Armed', applyToPresent, ...(revertMinutes === 0 ? {} : { revertMinutes }) },
})
