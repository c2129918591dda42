import { Button } from '@mantine/core'
import { Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import type { Channel } from '#features/contract.ts'
import { TestOutcome } from '#features/settings/console/shared/TestOutcome.tsx'
import { faultsOfFailure } from './draft.ts'
import { strings } from './strings.ts'
import type { GroupDraft } from './useGroupDraft.ts'

/** Sends a real message by a channel with the entered values, and shows the result of each step. */
export const ChannelTest = ({ channel, entry }: { channel: Channel; entry: GroupDraft }) => {
  const test = entry.test?.channel === channel ? entry.test : null
  return (
    <Stack gap={8} breaks aria-busy={test?.busy === true}>
      <Row wrap gap={12}>
        {test?.busy === true ? (
          <Button size="compact-sm" variant="default" onClick={entry.stop}>
            {strings.stopTest}
          </Button>
        ) : (
          <Button size="compact-sm" variant="default" onClick={() => void entry.runTest(channel)}>
            {strings.sendTest}
          </Button>
        )}
        <Quiet small>{strings.testHelp}</Quiet>
      </Row>
      <TestOutcome
        busy={test?.busy === true}
        result={test?.result ?? null}
        failure={test?.failure ?? null}
        atFields={Object.keys(faultsOfFailure(test?.failure)).length > 0 ? strings.notTested : null}
        gap={8}
      />
    </Stack>
  )
}
