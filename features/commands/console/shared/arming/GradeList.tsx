import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { gradeLabels } from './grade.ts'
import { strings } from './strings.ts'

/** Shows how the hosts will enforce, with what their grade guarantees and does not. */
export const GradeList = ({ grades }: { grades: readonly { enforcement: string; agents: number }[] | undefined }) =>
  grades === undefined || grades.length === 0 ? null : (
    <Stack as="ul" gap={6} small aria-label={strings.grades}>
      {grades.map(({ enforcement, agents }) => {
        const { short, long } = gradeLabels(enforcement)
        return (
          <li key={enforcement}>
            <strong>{strings.gradeOf({ grade: short, agents })}</strong> {long}
          </li>
        )
      })}
    </Stack>
  )
