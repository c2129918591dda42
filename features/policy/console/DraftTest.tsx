import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { predictedDays as days, getPolicyTest, type PolicyDraft, testPolicyDraft } from '#features/contract.ts'
import { basisText, blockedText } from './shared/labels.ts'
import { strings } from './strings.ts'

/** Simulates the change over the last month and compares it with the current rules. */
export const DraftTest = ({ draft }: { draft: PolicyDraft | null }) => {
  const { api } = useServices()
  const [asked, setAsked] = useState<string | null>(null)
  const text = draft === null ? null : JSON.stringify(draft)
  const isAsked = asked !== null && asked === text
  const answer = useQuery({
    queryKey: ['policy-test', 'draft', asked],
    queryFn: async ({ signal }) => {
      const [now, then] = await Promise.all([
        api.call(getPolicyTest, { query: { days, PageSize: 1 }, signal }),
        api.call(testPolicyDraft, { body: { draft: JSON.parse(asked as string), days, pageSize: 1 }, signal }),
      ])
      return { now, then }
    },
    enabled: isAsked,
    retry: false,
  })
  if (text === null) return null
  const difference =
    answer.data === undefined ? 0 : answer.data.then.blocked.peripherals - answer.data.now.blocked.peripherals
  return (
    <Stack gap={6} small aria-live="polite">
      {!isAsked || answer.data === undefined ? (
        <Row wrap>
          <Button
            size="compact-xs"
            variant="default"
            loading={isAsked && answer.isFetching}
            onClick={() => setAsked(text)}
          >
            {strings.testDraft({ days })}
          </Button>
        </Row>
      ) : (
        <p>
          {blockedText(answer.data.then.blocked)}{' '}
          {difference === 0
            ? strings.sameAsNow
            : (difference > 0 ? strings.moreThanNow : strings.fewerThanNow)({ devices: Math.abs(difference) })}{' '}
          {basisText(answer.data.then.prediction)}
        </p>
      )}
      {isAsked && answer.error !== null ? <ErrorState failure={answer.error} inline /> : null}
    </Stack>
  )
}
