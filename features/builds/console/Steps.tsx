import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import type { Step } from './publish.ts'
import { strings } from './strings.ts'

export const Steps = ({ steps }: { steps: readonly Step[] }) => (
  <ol>
    {steps.map(({ what, command }) => (
      <li key={what}>
        {what}
        {command === undefined ? null : <CopyField value={command} what={strings.command} />}
      </li>
    ))}
  </ol>
)
